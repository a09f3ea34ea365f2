//! What a model can do: how it is talked to, and how much it reads at once.

use serde::{Deserialize, Serialize};

/// How a task is worked on with a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Tools, several calls an answer, the whole history: for models that can.
    Conversation,
    /// One JSON object a step, facts anew each time: for models in between.
    #[default]
    Step,
    /// The text of the symbol in scope, its new text back: for small models.
    Compact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Abilities {
    pub style: Style,
    /// Tokens that question and answer may have together.
    pub context: usize,
}

/// Nothing is known of it.
impl Default for Abilities {
    fn default() -> Self {
        Self { style: Style::default(), context: 8192 }
    }
}
