//! A failure on the wire: Sextant's code, the message, and as data the kind, the message and the hint.

use jsonrpsee::core::ClientError;
use jsonrpsee::types::{ErrorObject, ErrorObjectOwned};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_engine::api::EditorError;

/// The data of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureData {
    pub kind: FailureKind,
    pub message: String,
    /// The hint, as far as it is the same everywhere.
    pub hint: String,
    /// Hints for which each program has a command of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hint_codes: Vec<HintCode>,
    /// The hint for a person, where the other one is for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint_for_person: Option<String>,
}

/// The code of a kind, outside of the range that JSON-RPC reserves (-32768 to -32000).
pub(super) fn code(kind: FailureKind) -> i32 {
    match kind {
        FailureKind::User => 1,
        FailureKind::Config => 2,
        FailureKind::Model => 3,
        FailureKind::Editor => 4,
        FailureKind::Tool => 5,
        FailureKind::Limit => 6,
        FailureKind::Cancelled => 7,
        FailureKind::Internal => 8,
        FailureKind::Busy => 9,
    }
}

/// The error of a method.
#[derive(Clone, Debug)]
pub struct CallError(Failure);

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<CallError> for ErrorObjectOwned {
    fn from(CallError(failure): CallError) -> Self {
        let data = FailureData {
            kind: failure.kind,
            message: failure.message.clone(),
            hint: failure.hint.text().to_owned(),
            hint_codes: failure.hint.codes().to_vec(),
            hint_for_person: failure.hint.person().map(str::to_owned),
        };
        ErrorObject::owned(code(failure.kind), failure.message, Some(data))
    }
}

/// An error of the protocol itself, in the same form; `None` for an error that has it already.
pub(super) fn of_protocol(method: &str, code: i32, answer: &str) -> Option<ErrorObjectOwned> {
    let parsed: Value = serde_json::from_str(answer).ok()?;
    let error = parsed.get("error")?;
    if error["data"]["kind"].is_string() {
        return None;
    }
    let why = error["data"].as_str().or_else(|| error["message"].as_str()).unwrap_or_default();
    let message = match code {
        -32601 => format!("there is no method {method:?}"),
        -32602 => format!("the parameters of {method} cannot be read: {why}"),
        _ => why.to_owned(),
    };
    let data = FailureData {
        kind: FailureKind::User,
        message: message.clone(),
        hint: "doc/rpc.md has every method with its parameters".to_owned(),
        hint_codes: Vec::new(),
        hint_for_person: None,
    };
    Some(ErrorObject::owned(code, message, Some(data)))
}

/// Reads an error as a failure: the failure of the other side, if it has sent one.
pub(super) fn read(error: ClientError) -> Failure {
    let object = match error {
        ClientError::Call(object) => object,
        ClientError::RestartNeeded(_) | ClientError::Transport(_) => return gone(&error),
        ClientError::RequestTimeout => {
            let hint = "it may still be at work; `sextant status` shows it";
            return Failure::new(FailureKind::Editor, "the session did not answer in time", hint);
        }
        other => return Failure::new(FailureKind::Internal, other.to_string(), "the log has the details"),
    };
    let data = object.data().and_then(|data| serde_json::from_str::<FailureData>(data.get()).ok());
    let Some(data) = data else {
        let hint = "both sides may be of different versions; restart the editor";
        return Failure::new(FailureKind::Internal, object.message().to_owned(), hint);
    };
    let hint = if data.hint_codes.is_empty() && data.hint_for_person.is_none() {
        Hint::Text(data.hint)
    } else {
        Hint::Coded { text: data.hint, codes: data.hint_codes, person: data.hint_for_person }
    };
    Failure::new(data.kind, data.message, hint)
}

fn gone(error: &ClientError) -> Failure {
    tracing::info!(%error, "the connection to a session broke");
    let hint = Hint::from("`sextant sessions` lists those that are there").and(HintCode::Undo);
    Failure::new(FailureKind::Editor, GONE, hint)
}

const GONE: &str = "the session is gone";

/// True if the session, or its editor, ended before it answered: the requested work may have been done.
pub fn is_gone(failure: &Failure) -> bool {
    let gone = failure.message == GONE || failure.message == EditorError::Closed.to_string();
    failure.kind == FailureKind::Editor && gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_comes_back_as_it_was() {
        let hint = Hint::from("wait").and(HintCode::Stop);
        for hint in [hint, Hint::from("ask again"), HintCode::Undo.into()] {
            let failure = Failure::new(FailureKind::Busy, "somebody works", hint);
            let object = ErrorObjectOwned::from(CallError::from(failure.clone()));
            assert_eq!((object.code(), object.message()), (9, "somebody works"));
            assert_eq!(read(ClientError::Call(object)), failure);
        }
    }
}
