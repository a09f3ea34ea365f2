//! One streamed call: its result, and the kind of trouble that ended it. Everything that a server sends has a limit:
//! time, bytes, the length of an event, the body of an error.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use reqwest::{Client, Response};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use crate::answer::AnswerParts;
use crate::call_progress::CallProgress;
use crate::dialect::{self, Stop, WireRequest};
use crate::endpoint::Endpoint;
use crate::retry;
use crate::sse::Events;
use crate::step::OnText;
use crate::stream_filter::Hearing;
use sextant_base::plural::counted;

/// Characters of a server's own words that an error repeats.
const DETAIL_CHARS: usize = 300;
/// Bytes of the body of an error that are read.
const ERROR_BYTES: usize = 64 * 1024;

/// The limits of one answer.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Time without a byte.
    pub stall: Duration,
    /// The end of the whole call.
    pub deadline: Instant,
    /// Bytes of the answer's text.
    pub text: usize,
    /// Bytes of one event.
    pub event: usize,
    /// Bytes of the whole body.
    pub body: usize,
}

impl CallLimits {
    /// The need of an answer of so many tokens: a token has some four bytes of text, and stands in an event of some 300
    /// bytes. Four times that, and a reserve for data beside the answer.
    pub fn new(max_tokens: u32, stall: Duration, deadline: Instant) -> Self {
        let tokens = usize::try_from(max_tokens).unwrap_or(usize::MAX);
        let text = tokens.saturating_mul(16).saturating_add(64 * 1024);
        let event = text.saturating_mul(2).saturating_add(1 << 20);
        let body = tokens.saturating_mul(2048).saturating_add(1 << 20).max(event);
        Self { stall, deadline, text, event, body }
    }
}

/// The result of one call, whole or not.
#[derive(Debug, Default)]
pub struct CallOutcome {
    pub parts: AnswerParts,
    /// As the provider counted them.
    pub counted: CountedTokens,
    pub end: End,
    /// True if words have been passed on.
    pub spoke: bool,
}

/// The provider's counts, as far as it sent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedTokens {
    pub prompt: Option<u64>,
    pub completion: Option<u64>,
    pub cached: Option<u64>,
}

#[derive(Debug, Default)]
pub enum End {
    /// The provider marked the answer as complete.
    Whole,
    /// The provider stopped at the limit of tokens.
    Limit,
    /// The model or a filter will not answer, in the provider's words.
    Declined(String),
    /// The provider could not read the model's output.
    Malformed(String),
    /// The stream ended without a mark.
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
    /// No connection, or only ones without an answer.
    Unreachable(String),
    /// The stream broke.
    Broken(String),
    /// The data is not the protocol.
    Garbage(String),
    Stalled,
    /// More than an answer may be, or later.
    TooMuch(String),
    /// The request could not even be built.
    Setup(String),
}

/// Sends one question and reads the answer's stream to its end. Dropping the future closes the connection.
pub async fn run(
    web: &Client,
    endpoint: &Endpoint,
    question: &WireRequest<'_>,
    limits: CallLimits,
    hearing: Hearing,
    words: OnText<'_>,
) -> CallOutcome {
    let mut answer = AnswerReader::new(endpoint, limits, hearing, words);
    let end = timeout_at(limits.deadline, exchange(web, endpoint, question, &mut answer)).await;
    let late = || End::Trouble(Trouble::TooMuch("it took longer than `total_seconds` allows".to_owned()));
    answer.outcome.end = end.unwrap_or_else(|_| late());
    answer.outcome
}

async fn exchange(web: &Client, endpoint: &Endpoint, question: &WireRequest<'_>, answer: &mut AnswerReader<'_>) -> End {
    let stall = answer.limits.stall;
    let headers = match dialect::headers(endpoint) {
        Ok(headers) => headers,
        Err(why) => return End::Trouble(Trouble::Setup(why)),
    };
    let body = dialect::body(endpoint, question).to_string();
    let sent = timeout(stall, web.post(dialect::url(endpoint)).headers(headers).body(body).send()).await;
    let mut response = match sent {
        Err(_) => return End::Trouble(Trouble::Stalled),
        Ok(Err(error)) => return End::Trouble(trouble(&error)),
        Ok(Ok(response)) => response,
    };
    if !response.status().is_success() {
        return End::Trouble(refused(response, stall).await);
    }
    let mut events = Events::new(answer.limits.event);
    let mut left = answer.limits.body;
    loop {
        let bytes = match timeout(stall, response.chunk()).await {
            Err(_) => return End::Trouble(Trouble::Stalled),
            Ok(Err(error)) if answer.stopped.is_none() => return End::Trouble(Trouble::Broken(innermost(&error))),
            Ok(Err(_) | Ok(None)) => break,
            Ok(Ok(Some(bytes))) => bytes,
        };
        let fits = events.push(&bytes, |data| answer.take(data)).is_ok() && bytes.len() <= left;
        if let Some(end) = answer.end.take() {
            return end;
        }
        if !fits {
            return too_long(answer.limits.body.min(answer.limits.event));
        }
        left -= bytes.len();
    }
    events.finish(|data| answer.take(data));
    answer.end.take().or_else(|| answer.ended()).unwrap_or(End::Open)
}

fn too_long(limit: usize) -> End {
    let why = format!("it is longer than {}, which `max_tokens` cannot need", counted(limit, "byte"));
    End::Trouble(Trouble::TooMuch(why))
}

/// An answer as it is read.
struct AnswerReader<'w> {
    endpoint: &'w Endpoint,
    limits: CallLimits,
    hearing: Hearing,
    words: OnText<'w>,
    outcome: CallOutcome,
    /// The provider's reason for the stop.
    stopped: Option<Stop>,
    end: Option<End>,
}

impl<'w> AnswerReader<'w> {
    fn new(endpoint: &'w Endpoint, limits: CallLimits, hearing: Hearing, words: OnText<'w>) -> Self {
        Self { endpoint, limits, hearing, words, outcome: CallOutcome::default(), stopped: None, end: None }
    }

    /// Takes the data of an event; `false` if that was the end.
    fn take(&mut self, data: &[u8]) -> bool {
        if data.is_empty() {
            return true;
        }
        self.end = match dialect::read(self.endpoint, data) {
            Err(why) => {
                Some(End::Trouble(Trouble::Garbage(format!("the stream holds something other than JSON ({why})"))))
            }
            Ok(event) => self.hear(event),
        };
        self.end.is_none()
    }

    fn hear(&mut self, event: dialect::StreamEvent) -> Option<End> {
        if let Some(error) = &event.error {
            return Some(End::Trouble(match (status_in(error), self.outcome.parts.is_empty()) {
                (Some(status), true) => Trouble::Refused { status, wait: None, detail: in_words(error) },
                _ => Trouble::Broken(format!("the server reports: {}", in_words(error))),
            }));
        }
        let mut new = Vec::new();
        for piece in event.pieces {
            if let Some(thinks) = self.hearing.hear(&piece, &mut new) {
                let next = if thinks { CallProgress::Thinking } else { CallProgress::Answer };
                next.report();
            }
            self.outcome.parts.add(piece);
        }
        for words in &new {
            self.outcome.spoke = true;
            (self.words)(words.spoken());
        }
        self.stopped = event.stopped.or(self.stopped.take());
        // Counts grow while an answer does; the last event need not repeat those of the first.
        let counted = &mut self.outcome.counted;
        counted.prompt = counted.prompt.max(event.prompt_tokens);
        counted.completion = counted.completion.max(event.completion_tokens);
        counted.cached = counted.cached.max(event.cached_tokens);
        if self.outcome.parts.bytes() > self.limits.text {
            return Some(too_long(self.limits.text));
        }
        event.last.then(|| self.ended().unwrap_or(End::Whole))
    }

    /// The end as the provider reported it; `None` without a report.
    fn ended(&self) -> Option<End> {
        Some(match self.stopped.clone()? {
            Stop::Done => End::Whole,
            Stop::Limit => End::Limit,
            Stop::Declined(why) => End::Declined(detail(&why)),
            Stop::Malformed(why) => End::Malformed(detail(&why)),
        })
    }
}

fn trouble(error: &reqwest::Error) -> Trouble {
    if error.is_builder() {
        Trouble::Setup(innermost(error))
    } else if error.is_connect() || error.is_request() {
        Trouble::Unreachable(innermost(error))
    } else {
        Trouble::Broken(innermost(error))
    }
}

/// A refusal in the server's own words, as far as they are read.
async fn refused(mut response: Response, stall: Duration) -> Trouble {
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let wait = retry::retry_after(header("retry-after-ms"), header("retry-after"), SystemTime::now());
    let mut body = Vec::new();
    // All of it is read within one patience: the text is worth no more.
    let reading = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes[..bytes.len().min(ERROR_BYTES - body.len())]);
            if body.len() == ERROR_BYTES {
                break;
            }
        }
    };
    let _ = timeout(stall, reading).await;
    let detail = match serde_json::from_slice::<Value>(&body) {
        Ok(value) => in_words(&value),
        Err(_) => detail(&String::from_utf8_lossy(&body)),
    };
    Trouble::Refused { status, wait, detail }
}

/// The message of an error object, in the shapes that providers give it.
fn in_words(body: &Value) -> String {
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
    let stands_for = |word: &str| match word {
        "overloaded_error" => Some(529),
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => Some(429),
        "authentication_error" | "invalid_api_key" => Some(401),
        "api_error" | "server_error" => Some(500),
        "server_is_overloaded" | "slow_down" => Some(503),
        _ => None,
    };
    ["code", "type"].iter().find_map(|name| stands_for(body.get(*name)?.as_str()?))
}

/// The last cause of a chain, which names the event; the first only reports that there was one.
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
        assert_eq!(in_words(&json!({"error": {"message": "no", "code": "bad_key"}})), "no (bad_key)");
        assert_eq!(in_words(&json!({"error": "model not found"})), "model not found");
        assert_eq!(
            in_words(&json!({"type": "overloaded_error", "message": "Overloaded"})),
            "Overloaded (overloaded_error)"
        );
        assert_eq!(in_words(&json!([1])), "[1]");
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
