//! Decides on the result of a call: take it, ask again, or give up.

use std::time::Duration;

use crate::answer::AnswerEnd;
use crate::call::{CallOutcome, End, Trouble};
use crate::chat::{ChatMessage, ChatReply};
use crate::chat_request::Asking;
use crate::remote::RemoteModel;
use crate::reply::ReplyReading;
use crate::retry;
use crate::step::ModelError;
use sextant_base::plural::counted;

/// Bytes of an unusable answer that are kept and shown to the model again.
const KEPT_BYTES: usize = 2000;

/// The progress of one question.
#[derive(Default)]
pub(super) struct AskProgress {
    pub(super) with_schema: bool,
    pub(super) sent_schema: bool,
    pub(super) native: bool,
    pub(super) sent_tools: bool,
    pub(super) max_tokens: u32,
    /// Calls without a result.
    pub(super) attempts: u32,
    pub(super) cut_before: bool,
    pub(super) asked_again: bool,
    pub(super) follow_up: Vec<ChatMessage>,
}

impl AskProgress {
    pub(super) fn new(with_schema: bool, native: bool) -> Self {
        Self { with_schema, native, ..Self::default() }
    }
}

pub(super) enum CallVerdict<T> {
    Reply(T),
    Fail(ModelError),
    /// Ask again after this wait, for this reason.
    Again(Duration, String),
}

/// True if a refusal is of the tools: servers report that with every status there is. If the server itself is at fault,
/// it may have stumbled over one call. Then only a missing feature counts.
fn refuses_tools(status: u16, detail: &str) -> bool {
    let detail = detail.to_lowercase();
    let tools = detail.contains("tool") || detail.contains("function call");
    let never = ["support", "jinja", "implemented", "enabled"].iter().any(|word| detail.contains(word));
    tools && (matches!(status, 400 | 422) || (matches!(status, 404 | 500 | 501) && never))
}

impl RemoteModel {
    /// Decides on the result of a call.
    pub(super) fn judge<A: Asking>(
        &self,
        asking: &A,
        outcome: CallOutcome,
        progress: &mut AskProgress,
    ) -> CallVerdict<A::Reply> {
        let endpoint = self.endpoint.shown.clone();
        let CallOutcome { parts, end, .. } = outcome;
        let (text, refusal, native) = (parts.text.clone(), parts.refusal.clone(), progress.native);
        let read = |ending| asking.read(parts, native, ending);
        match end {
            End::Trouble(Trouble::Refused { status, wait, detail }) => self.refused(status, wait, &detail, progress),
            End::Trouble(Trouble::Unreachable(detail)) => {
                progress.attempts += 1;
                match self.retry.wait(progress.attempts, None, retry::jitter()) {
                    Some(wait) => CallVerdict::Again(wait, self.hide(&detail)),
                    None => CallVerdict::Fail(ModelError::Unreachable { endpoint, detail: self.hide(&detail) }),
                }
            }
            End::Trouble(Trouble::Setup(detail)) => {
                CallVerdict::Fail(ModelError::Unreachable { endpoint, detail: self.hide(&detail) })
            }
            End::Trouble(Trouble::Stalled) => {
                CallVerdict::Fail(ModelError::Stalled { endpoint, seconds: self.patience.stall.as_secs() })
            }
            // An endless answer is not requested again.
            End::Trouble(Trouble::TooMuch(detail)) => match read(AnswerEnd::Broken).value {
                Some(reply) => CallVerdict::Reply(reply),
                None => CallVerdict::Fail(ModelError::Cut { endpoint, detail: self.hide(&detail) }),
            },
            // A stream may break after the last brace; a whole object is whole.
            End::Trouble(Trouble::Broken(detail)) => match read(AnswerEnd::Broken).value {
                Some(reply) => CallVerdict::Reply(reply),
                None => self.cut(&detail, progress),
            },
            End::Open => match read(AnswerEnd::Broken).value {
                Some(reply) => CallVerdict::Reply(reply),
                None => {
                    let place = if text.is_empty() { "before the answer began" } else { "in the middle" };
                    self.cut(&format!("the stream ended {place}"), progress)
                }
            },
            End::Trouble(Trouble::Garbage(detail)) => self.unusable(asking, vec![self.hide(&detail)], &text, progress),
            End::Declined(why) => CallVerdict::Fail(self.declined(&[&refusal, &text, &why])),
            End::Malformed(why) => self.unusable(asking, vec![self.hide(&why)], &text, progress),
            End::Whole | End::Limit => {
                if !refusal.trim().is_empty() {
                    return CallVerdict::Fail(self.declined(&[&refusal]));
                }
                let limit = matches!(end, End::Limit);
                let reading = read(if limit { AnswerEnd::Limit } else { AnswerEnd::Whole });
                self.ended(asking, reading, limit, &text, progress)
            }
        }
    }

    /// An answer that came to its end, or to the limit.
    fn ended<A: Asking>(
        &self,
        asking: &A,
        reading: ReplyReading<A::Reply>,
        limit: bool,
        text: &str,
        progress: &mut AskProgress,
    ) -> CallVerdict<A::Reply> {
        let ReplyReading { value, mut problems } = reading;
        if let Some(reply) = value {
            if !problems.is_empty() {
                tracing::debug!(model = %self.name, ?problems, "the reply was repaired");
            }
            return CallVerdict::Reply(reply);
        }
        if limit {
            problems.push(format!("it was cut off at {} (`max_tokens`)", counted(progress.max_tokens, "token")));
        }
        self.unusable(asking, problems, text, progress)
    }

    /// The words of the model before the stop are part of the reason.
    fn declined(&self, words: &[&str]) -> ModelError {
        let words: Vec<&str> = words.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let detail = self.hide(kept(&words.join("; ")));
        ModelError::Declined { endpoint: self.endpoint.shown.clone(), detail }
    }

    fn refused<T>(
        &self,
        status: u16,
        wait: Option<Duration>,
        detail: &str,
        progress: &mut AskProgress,
    ) -> CallVerdict<T> {
        let endpoint = self.endpoint.shown.clone();
        if matches!(status, 401 | 403) {
            return CallVerdict::Fail(ModelError::Unauthorized { endpoint, status });
        }
        // Some servers know no `response_format`, or not all of JSON Schema; the prompt describes the object too.
        let detail = self.hide(detail);
        if self.limit.lower(status, &detail, progress.max_tokens) {
            return CallVerdict::Again(Duration::ZERO, detail);
        }
        if progress.sent_tools && refuses_tools(status, &detail) {
            progress.native = false;
            tracing::warn!(model = %self.name, detail, "the server takes no tools; the prompt lists them");
            return CallVerdict::Again(Duration::ZERO, detail);
        }
        if matches!(status, 400 | 422) && progress.sent_schema {
            progress.with_schema = false;
            return CallVerdict::Again(Duration::ZERO, detail);
        }
        // OpenAI answers 429 to an account without credit as well; waiting does not fill it.
        if !retry::may_pass(status) || detail.contains("insufficient_quota") {
            return CallVerdict::Fail(ModelError::Rejected { endpoint, status, detail });
        }
        progress.attempts += 1;
        let attempts = progress.attempts;
        match self.retry.wait(attempts, wait, retry::jitter()) {
            Some(wait) => CallVerdict::Again(wait, detail),
            None if retry::is_capacity(status) => CallVerdict::Fail(ModelError::Busy { endpoint, status, attempts }),
            None => {
                let detail = format!("{detail} ({})", counted(attempts, "attempt"));
                CallVerdict::Fail(ModelError::Rejected { endpoint, status, detail })
            }
        }
    }

    fn cut<T>(&self, detail: &str, progress: &mut AskProgress) -> CallVerdict<T> {
        if std::mem::replace(&mut progress.cut_before, true) {
            return CallVerdict::Fail(ModelError::Cut {
                endpoint: self.endpoint.shown.clone(),
                detail: self.hide(detail),
            });
        }
        CallVerdict::Again(self.retry.base, self.hide(detail))
    }

    fn unusable<A: Asking>(
        &self,
        asking: &A,
        problems: Vec<String>,
        text: &str,
        progress: &mut AskProgress,
    ) -> CallVerdict<A::Reply> {
        let text = self.hide(kept(text));
        if progress.asked_again {
            return CallVerdict::Fail(ModelError::Unusable { problems, text });
        }
        progress.asked_again = true;
        progress.follow_up.clear();
        if !text.trim().is_empty() {
            progress.follow_up.push(ChatMessage::Model(ChatReply { text, ..ChatReply::default() }));
        }
        progress.follow_up.push(ChatMessage::User(asking.again(&problems, progress.native)));
        CallVerdict::Again(Duration::ZERO, problems.join("; "))
    }
}

/// The beginning of an answer, cut at a character.
fn kept(text: &str) -> &str {
    let end = text.char_indices().map(|(i, c)| i + c.len_utf8()).take_while(|end| *end <= KEPT_BYTES).last();
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_up_to_a_whole_character() {
        let text = "é".repeat(3000);
        assert!(kept(&text).len() <= KEPT_BYTES && kept(&text).ends_with('é'));
        assert_eq!(kept("short"), "short");
    }

    #[test]
    fn a_refusal_of_tools_is_distinguished_from_others() {
        for text in [
            "model:2b does not support tools",
            "tools param requires --jinja flag",
            "No endpoints found that support tool use",
        ] {
            assert!(refuses_tools(400, text) && !refuses_tools(429, text), "{text}");
        }
        assert!(refuses_tools(500, "tools param requires --jinja flag"));
        assert!(!refuses_tools(400, "the context is too long"));
        assert!(!refuses_tools(500, "failed to parse tool call at 0"), "the next one may be whole");
    }
}
