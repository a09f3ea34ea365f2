//! Holds the answer of a tool: the same fact as text for a model and as data for a program.

use crate::state::edit_answer::EditAnswer;

/// The answer of a tool: the same fact as text for a model and as data for a program.
#[derive(Clone, Debug)]
pub(crate) struct ToolAnswer {
    pub text: String,
    /// Present for tools that edit.
    pub edit: Option<EditAnswer>,
    /// Why no task should end on this answer before the model has read it.
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
