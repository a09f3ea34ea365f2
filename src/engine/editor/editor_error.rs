//! The errors of an editor, and their wording for a door.

use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditorError {
    #[error("{0} does not exist")]
    NotFound(String),
    #[error("{0} exists already")]
    Exists(String),
    /// The text differs from the one that the caller saw.
    #[error("{0} changed since it was read")]
    Stale(String),
    /// The file on disk is newer than the buffer, and the buffer has changes too.
    #[error("{0} was changed on disk while its buffer has unsaved changes")]
    Conflict(String),
    #[error("{path} cannot be edited: {reason}")]
    Locked { path: String, reason: String },
    /// Another session of the workspace has the file open, and this one does not have it, or has it with changes.
    #[error("{path} is open in another session of this workspace, {session} (process {process}){how}")]
    Elsewhere { path: String, how: &'static str, session: String, process: u32 },
    #[error("{0} is not valid UTF-8")]
    NotText(String),
    #[error("the editor does not support {0}")]
    Unsupported(String),
    #[error("the fix {0} is no longer on offer")]
    FixGone(String),
    #[error("the editor did not answer within {0} ms")]
    Timeout(u64),
    #[error("the editor is gone")]
    Closed,
    #[error("{0}")]
    Other(String),
}

impl From<EditorError> for Failure {
    fn from(error: EditorError) -> Self {
        let hint: Hint = match &error {
            EditorError::NotFound(_) => {
                Hint::from("list_symbols or search finds what is there").but_for_person("check the name, and ask again")
            }
            EditorError::Exists(_) => Hint::from("edit it instead of creating it")
                .but_for_person("ask for another name, or for an edit of it"),
            EditorError::Stale(_) => Hint::from("read it again and repeat the edit on the current text")
                .but_for_person("ask again, and the text as it is now is edited"),
            EditorError::Conflict(_) => Hint::from("resolve it in the editor first").and(HintCode::Buffer),
            EditorError::Locked { .. } => "make it writable first, then ask again".into(),
            EditorError::Elsewhere { session, .. } => format!(
                "ask there (in a shell with --session {session}), or write and close it there; nothing was changed"
            )
            .into(),
            EditorError::NotText(_) => Hint::from("convert it first").and(HintCode::Encoding),
            EditorError::Unsupported(_) => "do it in the editor by hand".into(),
            EditorError::FixGone(_) => Hint::from("ask for the fixes again").but_for_person("ask again"),
            EditorError::Timeout(_) => Hint::from("the editor may be waiting for a key of the user; try again later")
                .but_for_person("it may wait for a key: answer its prompt, and ask again"),
            EditorError::Closed => "start the editor again".into(),
            EditorError::Other(_) => Hint::from("the log has the details").and(HintCode::Log),
        };
        let kind = match &error {
            EditorError::NotFound(_) | EditorError::Exists(_) => FailureKind::User,
            _ => FailureKind::Editor,
        };
        Self::new(kind, error.to_string(), hint)
    }
}
