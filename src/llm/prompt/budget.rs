//! How much of each part a question carries, by the way in which the model is worked with and the tokens that it reads
//! at once. What memory may take is the mode's alone.

use crate::llm::abilities::{Abilities, Style};

/// In tokens; the default is that of a question that holds all there is to know in 8,192.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptBudget {
    /// The list of files.
    pub files: usize,
    /// The project's own guides.
    pub guides: usize,
    /// All sources together; beyond it a model reads with its tools.
    pub sources: usize,
    /// One result of a tool.
    pub result: usize,
    /// A conversation that grows beyond this is made shorter.
    pub conversation: usize,
}

impl Default for PromptBudget {
    fn default() -> Self {
        Self { files: 60, guides: 150, sources: 6000, result: 300, conversation: 5500 }
    }
}

impl PromptBudget {
    /// For a model that can do this.
    pub fn of(abilities: Abilities) -> Self {
        match abilities.style {
            Style::Conversation => Self::of_conversation(abilities.context),
            Style::Step | Style::Compact => Self::default(),
        }
    }

    /// For a conversation with a model that reads so many tokens at once. What is sent first is sent with every call
    /// of the task, so that it stays small where there is much room, too: a model can read more by itself.
    fn of_conversation(context: usize) -> Self {
        Self {
            files: (context / 100).clamp(60, 250),
            guides: (context / 25).clamp(150, 2000),
            sources: (context / 16).clamp(600, 2500),
            result: (context / 16).clamp(700, 6000),
            // The rest is for the answer, and for an estimate that is too low.
            conversation: context * 2 / 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_grows_with_the_window_and_leaves_room_for_the_answer() {
        let small = PromptBudget::of_conversation(8192);
        let large = PromptBudget::of_conversation(200_000);
        for (small, large) in [
            (small.files, large.files),
            (small.guides, large.guides),
            (small.sources, large.sources),
            (small.result, large.result),
            (small.conversation, large.conversation),
        ] {
            assert!(small < large, "{small} {large}");
        }
        for budget in [small, large] {
            let opening = budget.files + budget.guides + budget.sources;
            assert!(opening + 2 * budget.result < budget.conversation, "{budget:?}");
        }
    }
}
