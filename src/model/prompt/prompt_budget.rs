//! The budget of each part of a question, by the style of the work with the model and by its context. The mode alone
//! limits the memory.

use crate::abilities::{Abilities, Style};

/// In tokens; the default is that of a question with all the facts in 8,192.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptBudget {
    /// The list of files.
    pub files: usize,
    /// The project's own guides.
    pub guides: usize,
    /// All sources together; a model reads more with its tools.
    pub sources: usize,
    /// One result of a tool.
    pub result: usize,
    /// A conversation that grows beyond this is made shorter.
    pub conversation: usize,
    /// A question about one step that grows beyond this goes without the guides.
    pub question: usize,
}

/// The context that the default is for.
const USUAL_CONTEXT: usize = 8192;

impl Default for PromptBudget {
    fn default() -> Self {
        Self { files: 60, guides: 150, sources: 6000, result: 300, conversation: 5500, question: 1500 }
    }
}

impl PromptBudget {
    /// For a model with these abilities.
    pub fn of(abilities: Abilities) -> Self {
        match abilities.style {
            Style::Conversation => Self::of_conversation(abilities.context),
            Style::Step => Self::of_step(abilities.context),
            Style::Compact => Self::default(),
        }
    }

    /// For the conversation before a request, where the model does not have it as messages.
    pub fn earlier(&self) -> usize {
        self.question / 2
    }

    /// For questions that each hold all the facts, to a model that reads so many tokens at once.
    fn of_step(context: usize) -> Self {
        let usual = Self::default();
        let part = |usual: usize, most: usize| (usual * context / USUAL_CONTEXT).clamp(usual / 8, most);
        Self {
            files: part(usual.files, 250),
            guides: part(usual.guides, 2000),
            sources: part(usual.sources, 48_000),
            result: part(usual.result, 4000),
            conversation: part(usual.conversation, 100_000),
            question: part(usual.question, 24_000),
        }
    }

    /// For a conversation with a model that reads so many tokens at once. The first message is sent again with every
    /// call of the task, so it stays small even in a large context: a model can read more by itself.
    fn of_conversation(context: usize) -> Self {
        Self {
            files: (context / 100).clamp(60, 250),
            guides: (context / 25).clamp(150, 2000),
            sources: (context / 16).clamp(600, 2500),
            result: (context / 16).clamp(700, 6000),
            // The rest is for the answer, and for an estimate that is too low.
            conversation: context * 2 / 3,
            question: context / 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_one_step_is_as_large_as_its_window_allows() {
        let of = |context| PromptBudget::of(Abilities { style: Style::Step, context });
        assert_eq!(of(8192), PromptBudget::default(), "what is not known stays as it is");
        let (small, large) = (of(4096), of(32_768));
        for (small, usual, large) in [
            (small.files, 60, large.files),
            (small.guides, 150, large.guides),
            (small.sources, 6000, large.sources),
            (small.result, 300, large.result),
            (small.question, 1500, large.question),
        ] {
            assert!(small < usual && usual < large, "{small} {usual} {large}");
        }
        assert!(of(1024).question < 1024 && of(1_000_000).sources <= 48_000);
        let compact = PromptBudget::of(Abilities { style: Style::Compact, context: 32_768 });
        assert_eq!(compact, PromptBudget::default());
    }

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
