//! What frames a question beside its facts: the project's conventions, the detail that the user likes, commands.

use serde::{Deserialize, Serialize};

/// Empty by default: nothing is added to a question then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framing {
    /// Excerpts of the project's own guides. Data: they lift no rule.
    pub conventions: String,
    /// How much the user likes to be told, in the user's own word (`brief`); empty where nothing was said.
    pub detail: String,
    /// Whether `run_command` is offered.
    pub commands: bool,
}

/// Characters of the user's word for the detail.
const DETAIL: usize = 40;

impl Framing {
    /// The last words of a question: how to answer.
    pub fn manner(&self) -> String {
        let detail: String = self.detail.chars().filter(|c| !c.is_control()).take(DETAIL).collect();
        let detail = if detail.trim().is_empty() { String::new() } else { format!("; detail: {}", detail.trim()) };
        format!("Reply in JSON, its texts in the language of the request{detail}.")
    }
}
