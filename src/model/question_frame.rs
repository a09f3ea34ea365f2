//! The frame of a question beside its facts: the project's conventions, the detail that the user likes, commands.

use serde::{Deserialize, Serialize};

/// Empty by default: nothing is added to a question then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framing {
    /// Excerpts of the project's own guides. Data: they lift no rule.
    pub conventions: String,
    /// The wanted detail of answers, in the user's own word (`brief`); empty if the user has set none.
    pub detail: String,
    /// True if `run_command` is offered.
    pub commands: bool,
    /// The commands that need no permission of the user, each the beginning of one.
    pub allowed: Vec<String>,
}

/// Characters of the user's word for the detail.
const DETAIL: usize = 40;

impl Framing {
    /// The last words of a question: how to answer.
    pub fn manner(&self) -> String {
        let detail = self.detail().map(|detail| format!("; {detail}")).unwrap_or_default();
        format!("Reply in JSON, its texts in the language of the request{detail}.")
    }

    /// The wanted detail of answers; `None` if the user has set none.
    pub fn detail(&self) -> Option<String> {
        let detail: String = self.detail.chars().filter(|c| !c.is_control()).take(DETAIL).collect();
        (!detail.trim().is_empty()).then(|| format!("detail: {}", detail.trim()))
    }
}
