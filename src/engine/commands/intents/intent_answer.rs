//! Holds the answer to a direct request.

use crate::editor::event::Event;

/// The text of the answer to a direct request, and one line about what was done.
pub(crate) struct DirectAnswer {
    pub(crate) text: String,
    pub(crate) summary: String,
    /// What a front end shows beside it: a place to go to, or a list of places.
    pub(crate) shows: Option<Event>,
}

impl DirectAnswer {
    pub(crate) fn new(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { text: text.into(), summary: summary.into(), shows: None }
    }

    pub(crate) fn showing(self, event: Event) -> Self {
        Self { shows: Some(event), ..self }
    }
}
