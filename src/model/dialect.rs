//! Writes a question for each provider, and reads each event of its answer.

use std::sync::LazyLock;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::answer::Piece;
use crate::chat::ChatMessage;
use crate::endpoint::{Endpoint, Provider, ProviderFacts};
use crate::model_options::Api;
use crate::tools::ToolSpec;

mod anthropic;
mod declared;
mod gemini;
mod openai;
mod responses;
mod turns;

/// Every provider with its dialect: a row each.
const PROVIDERS: &[(&ProviderFacts, &Dialect)] = &[
    (&openai::OPENAI, &openai::DIALECT),
    (&openai::COMPATIBLE, &openai::DIALECT),
    (&anthropic::ANTHROPIC, &anthropic::DIALECT),
    (&gemini::GEMINI, &gemini::DIALECT),
    (&openai::OLLAMA, &openai::DIALECT),
];

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| PROVIDERS.iter().map(|(facts, _)| facts.name).collect());

/// The names of all providers, as a configuration has them.
pub fn names() -> &'static [&'static str] {
    &NAMES
}

/// The providers that code has rules for.
impl Provider {
    pub const OPENAI: Self = Self(&openai::OPENAI);
    pub const COMPATIBLE: Self = Self(&openai::COMPATIBLE);
    pub const ANTHROPIC: Self = Self(&anthropic::ANTHROPIC);
    pub const GEMINI: Self = Self(&gemini::GEMINI);
    pub const OLLAMA: Self = Self(&openai::OLLAMA);
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = String::deserialize(deserializer)?;
        let mut known = PROVIDERS.iter().map(|(facts, _)| *facts);
        let named = |facts: &&ProviderFacts| facts.name == given || facts.aliases.contains(&given.as_str());
        known.find(named).map(Self).ok_or_else(|| de::Error::unknown_variant(&given, names()))
    }
}

/// The way in which questions are sent to a provider and its answers read.
struct Dialect {
    /// Behind the address of the API.
    path: fn(&Endpoint) -> String,
    /// The header with the key; `Authorization` where absent.
    key_header: Option<&'static str>,
    /// Further headers.
    headers: &'static [(&'static str, &'static str)],
    body: fn(&Endpoint, &WireRequest) -> Value,
    read: fn(&Value) -> StreamEvent,
}

/// The dialect of an address. OpenAI has two.
fn dialect(endpoint: &Endpoint) -> &'static Dialect {
    if endpoint.api == Api::Responses {
        return &responses::DIALECT;
    }
    let row = PROVIDERS.iter().find(|(facts, _)| facts.name == endpoint.provider.name());
    row.map_or(&openai::DIALECT, |(_, dialect)| dialect)
}

/// A question in a form without a provider.
#[derive(Clone, Copy, Debug)]
pub struct WireRequest<'a> {
    pub system: &'a str,
    pub messages: &'a [ChatMessage],
    /// The tools sent in the provider's own form; empty if the text describes them, or there are none.
    pub tools: &'a [ToolSpec],
    /// True if more messages will follow these, so that a cache at the provider pays.
    pub grows: bool,
    /// Tokens that the answer may have.
    pub max_tokens: u32,
    pub temperature: Option<f64>,
    /// Name and schema of the answer.
    pub schema: Option<(&'a str, &'a Value)>,
    pub reasoning: Reasoning<'a>,
}

/// The settings for the thinking before an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasoning<'a> {
    /// `none`, `low`, `medium`, `high`, or the provider's own word.
    pub effort: Option<&'a str>,
    /// True if the reader wants its text.
    pub shown: bool,
}

/// The reason why a provider stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Done,
    /// The limit of tokens.
    Limit,
    /// The model, or a filter beside it, will not answer; in the provider's words.
    Declined(String),
    /// The model wrote a call that the provider could not read.
    Malformed(String),
}

/// The content of an event of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamEvent {
    pub pieces: Vec<Piece>,
    pub stopped: Option<Stop>,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    /// The part of the prompt's tokens that the provider still had.
    pub cached_tokens: Option<u64>,
    /// Nothing more follows.
    pub last: bool,
    pub error: Option<Value>,
}

/// The address that a question is posted to.
pub fn url(endpoint: &Endpoint) -> String {
    let path = (dialect(endpoint).path)(endpoint);
    match endpoint.base_url.split_once('?') {
        Some((base, query)) if path.contains('?') => format!("{base}{path}&{query}"),
        Some((base, query)) => format!("{base}{path}?{query}"),
        None => format!("{}{path}", endpoint.base_url),
    }
}

/// The key in the provider's form; without a key no header at all. Returns an error for a key that cannot be a header.
pub fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(reqwest::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let Dialect { key_header, headers: further, .. } = dialect(endpoint);
    for (name, value) in *further {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let Some(key) = &endpoint.key else { return Ok(headers) };
    let (name, value) = match key_header {
        Some(name) => (HeaderName::from_static(name), key.reveal().to_owned()),
        None => (reqwest::header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| "the key cannot be sent in a header".to_owned())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

/// The question in the provider's form.
pub fn body(endpoint: &Endpoint, question: &WireRequest) -> Value {
    (dialect(endpoint).body)(endpoint, question)
}

/// Reads the data of one event. Returns an error if it is not JSON; unknown fields are ignored.
pub fn read(endpoint: &Endpoint, data: &[u8]) -> Result<StreamEvent, String> {
    if data == b"[DONE]" {
        return Ok(StreamEvent { last: true, ..StreamEvent::default() });
    }
    let event: Value = serde_json::from_slice(data).map_err(|error| error.to_string())?;
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        return Ok(StreamEvent { error: Some(error.clone()), ..StreamEvent::default() });
    }
    Ok((dialect(endpoint).read)(&event))
}

/// The identity that may get the kept parts of an answer back: the same model of the same provider.
pub fn tag(endpoint: &Endpoint) -> String {
    format!("{}:{}", endpoint.provider.name(), endpoint.model)
}

#[cfg(test)]
mod tests;
