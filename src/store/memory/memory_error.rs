//! The errors of memory, in words that do not name the store behind it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Another process held the file for longer than [`crate::memory::store::BUSY`].
    #[error("the memory file is held by another process")]
    Busy,
    /// The file was set aside if it could be, and the next call works on a new one.
    #[error("the memory file is damaged: {0}")]
    Damaged(String),
    /// A sound database that this program did not write. Treated as [`MemoryError::Damaged`].
    #[error("the memory file holds data that this program does not write: {0}")]
    Foreign(String),
    /// A call took longer than it may; it changed nothing.
    #[error("the memory file takes too long to read")]
    Slow,
    #[error("no room is left for the memory file")]
    Full,
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("there is no {what} {id}")]
    NotFound { what: &'static str, id: i64 },
    /// The given value cannot be kept; nothing was written.
    #[error("{field}: {problem}")]
    Invalid { field: &'static str, problem: String },
    /// The thread that writes is gone; this process can only read.
    #[error("the memory no longer takes anything: its writer has ended")]
    Closed,
    #[error("memory: {0}")]
    Storage(String),
}

pub type Result<T> = std::result::Result<T, MemoryError>;

impl MemoryError {
    pub(in crate::memory) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(in crate::memory) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into() }
    }

    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<rusqlite::Error> for MemoryError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            Some(ErrorCode::OperationInterrupted) => Self::Slow,
            Some(ErrorCode::DiskFull) => Self::Full,
            _ => Self::Storage(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for MemoryError {
    fn from(error: serde_json::Error) -> Self {
        Self::Storage(error.to_string())
    }
}
