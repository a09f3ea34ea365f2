//! The failure that a door shows: kind, message, hint. Typed errors below become this.

use serde::{Deserialize, Serialize};

use crate::hint::{Hint, HintCode};

/// Who can fix it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The request: text, symbol, range, path.
    User,
    /// The configuration or the installation.
    Config,
    /// The model or the way to it.
    Model,
    /// The editor, or a language server behind it.
    Editor,
    /// A tool that could not do its work.
    Tool,
    /// A limit of the user's is reached.
    Limit,
    /// Somebody stopped it.
    Cancelled,
    /// Nobody: other work has to end first.
    Busy,
    /// Sextant itself.
    Internal,
}

impl FailureKind {
    /// True if the request or its call was wrong. Any other failure says nothing about them: a server that is gone, a
    /// limit, a stop.
    pub fn is_of_the_request(self) -> bool {
        matches!(self, Self::User | Self::Tool)
    }
}

/// An error as a user reads it. The hint names the way out and is never empty at a door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    pub hint: Hint,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }

    pub fn user(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self::new(FailureKind::User, message, hint)
    }

    pub fn cancelled() -> Self {
        Self::new(FailureKind::Cancelled, "stopped", Hint::from("what was finished is kept").and(HintCode::Undo))
    }

    /// The same failure for work that had changed nothing when it was stopped: there is nothing to take back.
    #[must_use]
    pub fn without_change(self) -> Self {
        match self.kind {
            FailureKind::Cancelled => {
                Self::new(FailureKind::Cancelled, "stopped, nothing was changed", "ask again when you like")
            }
            _ => self,
        }
    }

    /// Message and way out on one line, as a model reads it: without the names that only a door knows.
    pub fn one_line(&self) -> String {
        let hint = self.hint.text();
        if hint.is_empty() { self.message.clone() } else { format!("{} ({hint})", self.message) }
    }

    /// The words for people about a failed call of a tool: a hint on the call is for the model.
    pub fn for_people(&self) -> String {
        let hint = self.hint.for_person();
        let is_for_model = self.kind.is_of_the_request() && self.hint.person().is_none();
        if is_for_model || hint.is_empty() { self.message.clone() } else { format!("{} ({hint})", self.message) }
    }

    /// The same failure, its way out in the words of a door.
    #[must_use]
    pub fn worded(&self, words: impl Fn(HintCode) -> &'static str) -> Self {
        Self { hint: Hint::Text(self.hint.worded(words)), ..self.clone() }
    }
}

/// A failure of a tool, for a model that should get it right the next time.
pub fn tool_failure(message: impl std::fmt::Display, hint: impl Into<Hint>) -> Failure {
    Failure::new(FailureKind::Tool, message.to_string(), hint)
}
