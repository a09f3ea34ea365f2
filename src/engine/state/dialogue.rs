//! Holds a conversation over several requests: what was asked, found and answered, for the request that goes on with it.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::editor::event::Exchange;
use crate::state::shown_log::ShownLog;
use crate::state::steering::Steering;
use crate::state::transcript::Transcript;
use sextant_base::lock::lock;
use sextant_base::token_estimate::head_and_tail;

/// Tokens of the longest answer and of the longest result that a later prompt shows.
const ANSWER: usize = 400;
const RESULT: usize = 120;
/// Characters of a title.
const TITLE: usize = 200;

/// A conversation up to now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Dialogue {
    /// The name of its first task; empty before any.
    pub id: String,
    pub exchanges: Vec<Exchange>,
    /// Its messages, where the model takes part in a conversation. They are stored with the task.
    #[serde(skip)]
    pub transcript: Transcript,
}

impl Dialogue {
    /// Its messages and results, oldest first, for a model that does not have them as messages.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for exchange in &self.exchanges {
            lines.push(format!("The user asked: {}", exchange.request.trim()));
            for result in &exchange.results {
                let how = if result.ok { "ok" } else { "failed" };
                lines.push(format!("{} {how}: {}", result.tool, head_and_tail(&result.text, RESULT)));
            }
            if !exchange.answer.trim().is_empty() {
                lines.push(format!("You answered: {}", head_and_tail(exchange.answer.trim(), ANSWER)));
            }
        }
        lines
    }

    /// Adds an exchange, as the last one.
    pub(crate) fn add(&mut self, exchange: Exchange) {
        self.exchanges.push(exchange);
    }

    /// Its first request in one line.
    pub(crate) fn title(&self) -> String {
        let first = self.exchanges.first().map(|exchange| exchange.request.as_str()).unwrap_or_default();
        first.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect()
    }

    /// True if all of these words, in lower case, are in its requests and answers.
    pub(crate) fn holds(&self, words: &[String]) -> bool {
        let text: String = self.exchanges.iter().map(|one| format!("{}\n{}\n", one.request, one.answer)).collect();
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// The conversation of a session: what the next request may go on with, and what the running task has yet to hear.
#[derive(Debug, Default)]
pub(crate) struct TalkStore {
    last: Mutex<Dialogue>,
    pub(crate) steering: Steering,
    /// The lines that the running task shows.
    pub(crate) shown: Arc<ShownLog>,
}

impl TalkStore {
    /// The conversation that a request goes on with, or a new one.
    pub(crate) fn begin(&self, follows: bool, task: &str) -> Dialogue {
        let known = if follows { lock(&self.last).clone() } else { Dialogue::default() };
        let id = if known.id.is_empty() { task.to_owned() } else { known.id };
        Dialogue { id, ..known }
    }

    pub(crate) fn keep(&self, dialogue: Dialogue) {
        *lock(&self.last) = dialogue;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_model::step::LastResult;

    #[test]
    fn a_conversation_is_told_in_order_with_what_was_found() {
        let result = LastResult { tool: "search".into(), ok: true, text: "a.py:1".into() };
        let mut dialogue = Dialogue::default();
        dialogue.add(Exchange {
            request: "where is it".into(),
            answer: "in a.py".into(),
            results: vec![result],
            ..Exchange::default()
        });
        dialogue.add(Exchange { request: "and then".into(), ..Exchange::default() });
        assert_eq!(
            dialogue.lines(),
            ["The user asked: where is it", "search ok: a.py:1", "You answered: in a.py", "The user asked: and then"]
        );
        assert_eq!(dialogue.title(), "where is it");
        assert!(dialogue.holds(&["a.py".into(), "then".into()]) && !dialogue.holds(&["b.py".into()]));
    }
}
