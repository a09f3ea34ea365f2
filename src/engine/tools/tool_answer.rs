//! What a tool answers: the same fact as text for a model and as data for a program.

use crate::state::edit_answer::EditAnswer;

/// What a tool answers: the same fact as text for a model and as data for a program.
#[derive(Clone, Debug)]
pub(crate) struct ToolAnswer {
    pub text: String,
    /// Of the tools that edit.
    pub edit: Option<EditAnswer>,
    /// Why nobody should end a task on it without having read it.
    pub open: Option<String>,
}

impl ToolAnswer {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), edit: None, open: None }
    }
}

impl From<EditAnswer> for ToolAnswer {
    fn from(answer: EditAnswer) -> Self {
        Self { text: answer.text(), open: answer.open(), edit: Some(answer) }
    }
}
