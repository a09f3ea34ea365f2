//! What a direct request is answered.

/// What the answer to a direct request says, and in one line what was done.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) summary: String,
}

impl Said {
    pub(crate) fn new(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { text: text.into(), summary: summary.into() }
    }
}
