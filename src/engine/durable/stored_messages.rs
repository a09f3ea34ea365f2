//! The stored messages of a task that can be resumed or asked on: apart from its state, bounded, and needed by no undo.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::dialogue::Dialogue;
use crate::state::task::Conversation;
use crate::state::transcript::Transcript;
use sextant_base::token_estimate::{BYTES_PER_TOKEN, head_and_tail};
use sextant_model::step::LastResult;

/// Bytes of the longest conversation that is stored.
const LARGEST: usize = 1 << 20;
/// Tokens of one result.
const RESULT: usize = 4000;

/// The messages to and from the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoredConversation {
    pub results: Vec<LastResult>,
    pub transcript: Transcript,
    pub dialogue: Dialogue,
}

impl StoredConversation {
    /// The part of a task's messages that is stored: the newest whole, and the earlier ones summed up.
    pub(crate) fn of(conversation: &Conversation) -> Self {
        let short = |result: &LastResult| LastResult { text: head_and_tail(&result.text, RESULT), ..result.clone() };
        let results: Vec<LastResult> = conversation.results.iter().map(short).collect();
        let dialogue = Dialogue { transcript: Transcript::default(), ..conversation.dialogue.clone() };
        let mut stored = Self { results, transcript: conversation.transcript.clone(), dialogue };
        if serde_json::to_string(&stored).map_or(usize::MAX, |text| text.len()) > LARGEST {
            // The lines that were shown are the first to go: the messages hold what matters.
            stored.dialogue.exchanges.iter_mut().for_each(|one| one.shown.clear());
        }
        let mut budget = (LARGEST as f64 / BYTES_PER_TOKEN) as usize;
        while serde_json::to_string(&stored).map_or(usize::MAX, |text| text.len()) > LARGEST {
            budget /= 2;
            if budget < RESULT {
                return Self::default();
            }
            stored.transcript.shorten(budget, || LEFT_OUT.to_owned());
            stored.results.drain(..stored.results.len() / 2);
            stored.dialogue.exchanges.drain(..stored.dialogue.exchanges.len() / 2);
        }
        stored
    }

    pub(crate) fn read(value: Value) -> Self {
        serde_json::from_value(value).unwrap_or_default()
    }

    pub(crate) fn into_task(self, conversation: &mut Conversation) {
        (conversation.results, conversation.transcript) = (self.results, self.transcript);
        conversation.dialogue = self.dialogue;
    }
}

/// Stands in for messages that were too long to be stored.
const LEFT_OUT: &str = "(Earlier messages are left out here. Read again what you need.)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::work_mode::Mode;
    use crate::state::task::Task;
    use crate::state::task_scope::Scope;
    use sextant_model::chat::{ChatReply, ToolUse};

    #[test]
    fn a_conversation_of_any_length_is_kept_bounded_and_whole() {
        let mut task = Task::new("x", Mode::Simple, None, Scope::Workspace);
        task.conversation.transcript.tell("the request".into());
        for id in 0..3 {
            let parameters = serde_json::json!({"content": "\u{1}".repeat(3 << 20)});
            let uses = vec![ToolUse { id: id.to_string(), tool: "write_file".into(), parameters, problem: None }];
            task.conversation.transcript.answer(ChatReply { uses, ..ChatReply::default() });
        }
        task.conversation.results.push(LastResult { tool: "t".into(), ok: true, text: "x\n".repeat(2 << 20) });
        let stored = StoredConversation::of(&task.conversation);
        let text = serde_json::to_string(&stored).unwrap();
        assert!(text.len() <= LARGEST, "{}", text.len());
        assert!(stored.transcript.tells("the request"));
        assert_eq!(StoredConversation::read(serde_json::from_str(&text).unwrap()), stored);
    }
}
