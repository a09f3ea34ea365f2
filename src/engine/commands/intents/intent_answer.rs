//! Holds the answer to a direct request.

/// The text of the answer to a direct request, and one line about what was done.
pub(crate) struct DirectAnswer {
    pub(crate) text: String,
    pub(crate) summary: String,
}

impl DirectAnswer {
    pub(crate) fn new(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { text: text.into(), summary: summary.into() }
    }
}
