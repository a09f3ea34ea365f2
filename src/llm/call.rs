//! One streamed call: what came of it, and what kind of trouble ended it.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StopReason};
use genai::webc::StreamTimeout;
use genai::{Client, ServiceTarget};
use serde_json::Value;

use crate::llm::retry;
use crate::llm::step::Words;
use crate::llm::words::WordStream;

/// Characters of a server's own words that an error repeats.
const DETAIL_CHARS: usize = 300;

/// What one call brought, whole or not.
#[derive(Debug, Default)]
pub struct Outcome {
    pub text: String,
    /// Prompt and completion tokens, as the provider counted them.
    pub counted: Option<(u64, u64)>,
    pub end: End,
    /// Whether words have been passed on.
    pub spoke: bool,
}

#[derive(Debug, Default)]
pub enum End {
    /// The provider said that the answer is complete.
    Whole,
    /// The provider stopped at the limit of tokens.
    Limit,
    /// The stream ended without saying so.
    #[default]
    Open,
    Trouble(Trouble),
}

#[derive(Debug)]
pub enum Trouble {
    /// An HTTP status, or an error that a provider put into its stream before the answer began.
    Refused {
        status: u16,
        wait: Option<Duration>,
        detail: String,
    },
    /// No connection, or none that brought an answer.
    Unreachable(String),
    /// The stream broke.
    Broken(String),
    /// What came is not the protocol.
    Garbage(String),
    Stalled,
    /// The request could not even be built.
    Setup(String),
}

/// Sends one request and reads its stream to the end. Dropping the future closes the connection.
pub async fn run(
    client: &Client,
    target: ServiceTarget,
    request: ChatRequest,
    options: &ChatOptions,
    wanted: &'static [&'static str],
    words: Words<'_>,
) -> Outcome {
    let mut outcome = Outcome::default();
    // Ok even when the server refuses: the refusal is the first item of the stream.
    let mut stream = match client.exec_chat_stream(target, request, Some(options)).await {
        Ok(response) => response.stream,
        Err(error) => {
            outcome.end = End::Trouble(Trouble::Setup(detail(&error.to_string())));
            return outcome;
        }
    };
    let mut reader = WordStream::new(wanted);
    while let Some(event) = stream.next().await {
        match event {
            Ok(ChatStreamEvent::Chunk(chunk)) => {
                let new = reader.push(&chunk.content);
                if !new.is_empty() {
                    outcome.spoke = true;
                    words(&new);
                }
                outcome.text.push_str(&chunk.content);
            }
            Ok(ChatStreamEvent::End(end)) => {
                outcome.counted = end.captured_usage.and_then(|usage| {
                    let count = |n: i32| u64::try_from(n).unwrap_or(0);
                    Some((count(usage.prompt_tokens?), count(usage.completion_tokens?)))
                });
                outcome.end = match end.captured_stop_reason {
                    Some(StopReason::MaxTokens(_)) => End::Limit,
                    _ => End::Whole,
                };
                break;
            }
            Ok(_) => {}
            Err(error) => {
                outcome.end = End::Trouble(trouble(&error, outcome.text.is_empty()));
                break;
            }
        }
    }
    outcome
}

/// `fresh` says that nothing of the answer has come yet.
fn trouble(error: &genai::Error, fresh: bool) -> Trouble {
    if let Some(status) = error.status() {
        let header = |name: &str| error.headers().and_then(|all| all.get(name)).and_then(|value| value.to_str().ok());
        let wait = retry::retry_after(header("retry-after-ms"), header("retry-after"), SystemTime::now());
        return Trouble::Refused { status: status.as_u16(), wait, detail: body_of(error) };
    }
    match error {
        genai::Error::WebStream { error: inner, cause, .. } => {
            if let Some(inner) = inner.downcast_ref::<genai::Error>() {
                return trouble(inner, fresh);
            }
            if inner.downcast_ref::<StreamTimeout>().is_some() {
                return Trouble::Stalled;
            }
            match inner.downcast_ref::<reqwest::Error>() {
                Some(web) if web.is_builder() => Trouble::Setup(innermost(web)),
                Some(web) if web.is_connect() || web.is_request() => Trouble::Unreachable(innermost(web)),
                Some(web) => Trouble::Broken(innermost(web)),
                None => Trouble::Garbage(detail(cause)),
            }
        }
        genai::Error::ChatResponse { body, .. } => match (status_in(body), fresh) {
            (Some(status), true) => Trouble::Refused { status, wait: None, detail: said(body) },
            _ => Trouble::Broken(format!("the server reports: {}", said(body))),
        },
        genai::Error::StreamParse { serde_error, .. } => {
            Trouble::Garbage(format!("the stream holds something other than JSON ({serde_error})"))
        }
        other => Trouble::Broken(detail(&other.to_string())),
    }
}

fn body_of(error: &genai::Error) -> String {
    let body = match error {
        genai::Error::HttpError { body, .. } => body,
        genai::Error::WebModelCall { webc_error: genai::webc::Error::ResponseFailedStatus { body, .. }, .. } => body,
        _ => return detail(&error.to_string()),
    };
    match serde_json::from_str::<Value>(body) {
        Ok(value) => said(&value),
        Err(_) => detail(body),
    }
}

/// The message of an error object, in the shapes that providers give it.
fn said(body: &Value) -> String {
    let inner = body.get("error").unwrap_or(body);
    let code = ["code", "type", "status"].iter().find_map(|name| inner.get(*name)?.as_str());
    match (inner.get("message").and_then(Value::as_str).or(inner.as_str()), code) {
        (Some(message), Some(code)) => detail(&format!("{message} ({code})")),
        (Some(message), None) => detail(message),
        (None, _) => detail(&body.to_string()),
    }
}

/// The HTTP status that an error inside a stream stands for.
fn status_in(body: &Value) -> Option<u16> {
    let body = body.get("error").unwrap_or(body);
    if let Some(code) = body.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()) {
        return (400..600).contains(&code).then_some(code);
    }
    match body.get("type").and_then(Value::as_str)? {
        "overloaded_error" => Some(529),
        "rate_limit_error" => Some(429),
        "authentication_error" => Some(401),
        "api_error" | "server_error" => Some(500),
        _ => None,
    }
}

/// The last cause of a chain, which says what happened; the first only says that something did.
fn innermost(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = cause.to_string();
        next = cause.source();
    }
    detail(&text)
}

fn detail(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let flat = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= DETAIL_CHARS { flat } else { flat.chars().take(DETAIL_CHARS).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_provider_s_own_words_are_found_and_kept_short() {
        assert_eq!(said(&json!({"error": {"message": "no", "code": "bad_key"}})), "no (bad_key)");
        assert_eq!(said(&json!({"error": "model not found"})), "model not found");
        assert_eq!(
            said(&json!({"type": "overloaded_error", "message": "Overloaded"})),
            "Overloaded (overloaded_error)"
        );
        assert_eq!(said(&json!([1])), "[1]");
        assert_eq!(detail("a\n\u{1b}[31m b"), "a [31m b");
        assert_eq!(detail(&"x".repeat(999)).chars().count(), DETAIL_CHARS + 1);
    }

    #[test]
    fn errors_inside_a_stream_stand_for_a_status() {
        assert_eq!(status_in(&json!({"code": 429})), Some(429));
        assert_eq!(status_in(&json!({"code": 7})), None);
        assert_eq!(status_in(&json!({"type": "error", "error": {"type": "overloaded_error"}})), Some(529));
        assert_eq!(status_in(&json!({"message": "?"})), None);
    }
}
