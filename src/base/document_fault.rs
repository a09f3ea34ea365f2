//! A fault in a line of a document that a user has edited: a plan, a diff.

use serde::{Deserialize, Serialize};

/// The fault in a line. The rest of the document is read all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentFault {
    /// One-based.
    pub line: usize,
    pub message: String,
}
