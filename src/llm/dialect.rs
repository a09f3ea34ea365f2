//! How a question is written for each provider, and what each event of its answer means.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::llm::endpoint::{Endpoint, Provider};

/// The version of Anthropic's API that the events are read by.
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// Models that OpenAI serves under a new name of the limit only.
const NEW_LIMIT: &[&str] = &["gpt-5", "gpt-6", "o1", "o3", "o4"];

/// One turn of the talk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatTurn {
    User(String),
    Model(String),
}

/// What is asked, in no provider's words.
#[derive(Clone, Debug)]
pub struct ChatRequest<'a> {
    pub system: &'a str,
    pub turns: &'a [ChatTurn],
    /// Tokens that the answer may have.
    pub max_tokens: u32,
    pub temperature: Option<f64>,
    /// Name and schema of the answer.
    pub schema: Option<(&'a str, &'a Value)>,
}

/// What an event of the answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamEvent {
    pub text: String,
    /// The provider says why it stopped; `true` where the limit of tokens was the reason.
    pub stopped: Option<bool>,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    /// Nothing more follows.
    pub last: bool,
    pub error: Option<Value>,
}

/// Where a question is posted.
pub fn url(endpoint: &Endpoint) -> String {
    let path = match endpoint.provider {
        Provider::Anthropic => "messages".to_owned(),
        Provider::Gemini => format!("models/{}:streamGenerateContent?alt=sse", endpoint.model),
        _ => "chat/completions".to_owned(),
    };
    match endpoint.base_url.split_once('?') {
        Some((base, query)) if path.contains('?') => format!("{base}{path}&{query}"),
        Some((base, query)) => format!("{base}{path}?{query}"),
        None => format!("{}{path}", endpoint.base_url),
    }
}

/// The key as the provider wants it; no header at all where there is none. Errors where it cannot be one.
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

/// The question as the provider reads it.
pub fn body(endpoint: &Endpoint, question: &ChatRequest) -> Value {
    match endpoint.provider {
        Provider::Anthropic => anthropic(endpoint, question),
        Provider::Gemini => gemini(question),
        _ => openai(endpoint, question),
    }
}

fn openai(endpoint: &Endpoint, question: &ChatRequest) -> Value {
    let mut messages = vec![json!({"role": "system", "content": question.system})];
    messages.extend(question.turns.iter().map(message));
    let mut body = json!({
        "model": endpoint.model, "messages": messages, "stream": true, "stream_options": {"include_usage": true},
    });
    let name = endpoint.model.rsplit('/').next().unwrap_or_default();
    let new = endpoint.provider == Provider::OpenAi || NEW_LIMIT.iter().any(|model| name.starts_with(model));
    body[if new { "max_completion_tokens" } else { "max_tokens" }] = question.max_tokens.into();
    if let Some(temperature) = question.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some((name, schema)) = question.schema {
        body["response_format"] =
            json!({"type": "json_schema", "json_schema": {"name": name, "strict": true, "schema": schema}});
    }
    body
}

fn message(turn: &ChatTurn) -> Value {
    match turn {
        ChatTurn::User(text) => json!({"role": "user", "content": text}),
        ChatTurn::Model(text) => json!({"role": "assistant", "content": text}),
    }
}

fn anthropic(endpoint: &Endpoint, question: &ChatRequest) -> Value {
    let mut body = json!({
        "model": endpoint.model, "system": question.system, "max_tokens": question.max_tokens, "stream": true,
        "messages": question.turns.iter().map(message).collect::<Vec<_>>(),
    });
    if let Some(temperature) = question.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some((_, schema)) = question.schema {
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body
}

fn gemini(question: &ChatRequest) -> Value {
    let content = |turn: &ChatTurn| match turn {
        ChatTurn::User(text) => json!({"role": "user", "parts": [{"text": text}]}),
        ChatTurn::Model(text) => json!({"role": "model", "parts": [{"text": text}]}),
    };
    let mut generation = json!({"maxOutputTokens": question.max_tokens});
    if let Some(temperature) = question.temperature {
        generation["temperature"] = temperature.into();
    }
    if let Some((_, schema)) = question.schema {
        generation["responseMimeType"] = "application/json".into();
        generation["responseJsonSchema"] = schema.clone();
    }
    json!({
        "systemInstruction": {"parts": [{"text": question.system}]},
        "contents": question.turns.iter().map(content).collect::<Vec<_>>(),
        "generationConfig": generation,
    })
}

/// Reads the data of one event. Errors where it is no JSON; what is not known says nothing.
pub fn read(provider: Provider, data: &[u8]) -> Result<StreamEvent, String> {
    if data == b"[DONE]" {
        return Ok(StreamEvent { last: true, ..StreamEvent::default() });
    }
    let event: Value = serde_json::from_slice(data).map_err(|error| error.to_string())?;
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        return Ok(StreamEvent { error: Some(error.clone()), ..StreamEvent::default() });
    }
    Ok(match provider {
        Provider::Anthropic => from_anthropic(&event),
        Provider::Gemini => from_gemini(&event),
        _ => from_openai(&event),
    })
}

fn from_openai(event: &Value) -> StreamEvent {
    let choice = &event["choices"][0];
    let text = match &choice["delta"]["content"] {
        Value::String(text) => text.clone(),
        // Some servers give an answer as parts.
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    StreamEvent {
        text,
        stopped: choice["finish_reason"].as_str().map(|why| why == "length"),
        prompt_tokens: event["usage"]["prompt_tokens"].as_u64(),
        completion_tokens: event["usage"]["completion_tokens"].as_u64(),
        ..StreamEvent::default()
    }
}

fn from_anthropic(event: &Value) -> StreamEvent {
    match event["type"].as_str() {
        Some("message_start") => {
            let usage = &event["message"]["usage"];
            let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
            let known = usage["input_tokens"].as_u64();
            let sum = parts.iter().filter_map(|name| usage[*name].as_u64()).fold(0, u64::saturating_add);
            StreamEvent { prompt_tokens: known.map(|_| sum), ..StreamEvent::default() }
        }
        Some("content_block_delta") => StreamEvent {
            text: event["delta"]["text"].as_str().unwrap_or_default().to_owned(),
            ..StreamEvent::default()
        },
        Some("message_delta") => StreamEvent {
            stopped: event["delta"]["stop_reason"].as_str().map(|why| why == "max_tokens"),
            completion_tokens: event["usage"]["output_tokens"].as_u64(),
            ..StreamEvent::default()
        },
        Some("message_stop") => StreamEvent { last: true, ..StreamEvent::default() },
        _ => StreamEvent::default(),
    }
}

fn from_gemini(event: &Value) -> StreamEvent {
    let candidate = &event["candidates"][0];
    let parts = candidate["content"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A thought is no part of the answer.
    let spoken = parts.iter().filter(|part| part["thought"] != json!(true));
    let usage = &event["usageMetadata"];
    let thoughts = usage["thoughtsTokenCount"].as_u64().unwrap_or(0);
    StreamEvent {
        text: spoken.filter_map(|part| part["text"].as_str()).collect(),
        stopped: candidate["finishReason"].as_str().map(|why| why == "MAX_TOKENS"),
        prompt_tokens: usage["promptTokenCount"].as_u64(),
        completion_tokens: usage["candidatesTokenCount"].as_u64().map(|count| count.saturating_add(thoughts)),
        ..StreamEvent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::endpoint::{RemoteConfig, resolve};

    fn endpoint(provider: Provider, model: &str, base: &str) -> Endpoint {
        let mut config = RemoteConfig::new(provider, model);
        (config.base_url, config.api_key) = (Some(base.to_owned()), Some("k".to_owned()));
        resolve(&config, &|_| None).unwrap()
    }

    #[test]
    fn a_query_of_the_address_is_kept_and_the_limit_has_the_name_that_the_model_knows() {
        let at = |provider, base| url(&endpoint(provider, "m", base));
        assert_eq!(at(Provider::OpenAiCompatible, "http://h/v1?a=b"), "http://h/v1/chat/completions?a=b");
        assert_eq!(at(Provider::Gemini, "http://h/v1?a=b"), "http://h/v1/models/m:streamGenerateContent?alt=sse&a=b");
        let question = ChatRequest { system: "s", turns: &[], max_tokens: 7, temperature: None, schema: None };
        let asked = |provider, model| body(&endpoint(provider, model, "http://h/v1"), &question);
        assert_eq!(asked(Provider::OpenAiCompatible, "qwen")["max_tokens"], 7);
        assert_eq!(asked(Provider::OpenAiCompatible, "openai/gpt-5-mini")["max_completion_tokens"], 7);
        assert_eq!(asked(Provider::OpenAi, "gpt-4o")["max_completion_tokens"], 7);
    }

    #[test]
    fn what_is_not_known_says_nothing_and_what_is_no_json_is_an_error() {
        for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
            for data in [r#"{"choices": 7}"#, "[]", "7", "null", r#"{"type": "ping"}"#, r#"{"usage": {"x": -1}}"#] {
                assert_eq!(read(provider, data.as_bytes()), Ok(StreamEvent::default()), "{data}");
            }
            assert!(read(provider, b"<html>").is_err() && read(provider, &[0xff]).is_err());
            assert!(read(provider, br#"{"error": {"code": 429}}"#).unwrap().error.is_some());
        }
    }
}
