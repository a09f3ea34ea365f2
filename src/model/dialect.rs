//! Writes a question for each provider, and reads each event of its answer.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::answer::Piece;
use crate::chat::ChatMessage;
use crate::endpoint::{Endpoint, Provider};
use crate::model_options::Api;
use crate::tools::ToolSpec;

mod anthropic;
mod declared;
mod gemini;
mod openai;
mod responses;
mod turns;

/// The version of Anthropic's API that the events are read by.
const ANTHROPIC_VERSION: &str = "2023-06-01";

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
    let path = match endpoint.provider {
        Provider::Anthropic => "messages".to_owned(),
        Provider::Gemini => format!("models/{}:streamGenerateContent?alt=sse", endpoint.model),
        _ if endpoint.api == Api::Responses => "responses".to_owned(),
        _ => "chat/completions".to_owned(),
    };
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
    if endpoint.provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    let Some(key) = &endpoint.key else { return Ok(headers) };
    let (name, value) = match endpoint.provider {
        Provider::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
        Provider::Gemini => (HeaderName::from_static("x-goog-api-key"), key.reveal().to_owned()),
        _ => (reqwest::header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| "the key cannot be sent in a header".to_owned())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

/// The question in the provider's form.
pub fn body(endpoint: &Endpoint, question: &WireRequest) -> Value {
    match endpoint.provider {
        Provider::Anthropic => anthropic::body(endpoint, question),
        Provider::Gemini => gemini::body(endpoint, question),
        _ if endpoint.api == Api::Responses => responses::body(endpoint, question),
        _ => openai::body(endpoint, question),
    }
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
    Ok(match endpoint.provider {
        Provider::Anthropic => anthropic::read(&event),
        Provider::Gemini => gemini::read(&event),
        _ if endpoint.api == Api::Responses => responses::read(&event),
        _ => openai::read(&event),
    })
}

/// The identity that may get the kept parts of an answer back: the same model of the same provider.
pub fn tag(endpoint: &Endpoint) -> String {
    format!("{}:{}", endpoint.provider.name(), endpoint.model)
}

#[cfg(test)]
mod tests;
