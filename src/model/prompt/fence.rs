//! Chooses the brackets around data: such as no text of the question can close. The texts are never altered, since
//! edits quote them.

use serde::Serialize;

use crate::prompt::Facts;
use crate::prompt::prompt_budget::PromptBudget;

impl Facts {
    /// Chooses a fence that no text of the question can close; the texts are never altered, because edits quote them.
    pub(super) fn new(question: &impl Serialize) -> Self {
        Self::open("data", question)
    }

    /// For a conversation whose rules name a fence already; another one is named in the message itself.
    pub(super) fn inside(fence: &str, question: &impl Serialize) -> Self {
        let mut facts = Self::open(fence, question);
        if facts.fence != fence {
            facts.text = format!("In this message data stands between <{0}> and </{0}>.\n", facts.fence);
        }
        facts
    }

    fn open(first: &str, question: &impl Serialize) -> Self {
        let all = serde_json::to_string(question).unwrap_or_default();
        let closes = |name: &str| all.contains(&format!("</{name}"));
        let mut fence = first.to_owned();
        let mut number = 1;
        while closes(&fence) {
            number += 1;
            fence = format!("data{number}");
        }
        Self { fence, file: None, text: String::new(), budget: PromptBudget::default() }
    }
}
