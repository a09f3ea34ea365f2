//! The messages between a task and its model. Messages are only added, so that a provider can cache its input.

mod shorter;

use serde::{Deserialize, Serialize};

use sextant_model::chat::{ChatMessage, ChatReply, ToolResult};
use sextant_text::symbols::symbol_path::SymbolPath;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Transcript {
    /// The fence that the rules name.
    pub fence: String,
    /// The answering model: opaque data that a provider wants back as it was belongs to no other model.
    pub model: String,
    pub messages: Vec<ChatMessage>,
    /// Bytes of the first message without the replacement for omitted messages; `None` before any omission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<usize>,
}

impl Transcript {
    pub(crate) fn is_open(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Adds a message to the model. Two messages of ours in a row become one: not every provider takes two.
    pub(crate) fn tell(&mut self, text: String) {
        match self.messages.last_mut() {
            Some(ChatMessage::User(before)) => *before = format!("{before}\n\n{text}"),
            _ => self.messages.push(ChatMessage::User(text)),
        }
    }

    pub(crate) fn answer(&mut self, reply: ChatReply) {
        self.messages.push(ChatMessage::Model(reply));
    }

    pub(crate) fn results(&mut self, results: Vec<ToolResult>) {
        self.messages.push(ChatMessage::Results(results));
    }

    /// Makes it complete for this model: a call that another process was stopped in has no result, and the opaque data
    /// of another model means nothing here.
    pub(crate) fn take_up(&mut self, model: &str) {
        if self.model != model {
            for message in &mut self.messages {
                if let ChatMessage::Model(reply) = message {
                    reply.opaque.clear();
                }
            }
            model.clone_into(&mut self.model);
        }
        if let Some(ChatMessage::Model(reply)) = self.messages.last()
            && !reply.uses.is_empty()
        {
            let text = "stopped before it came back: look at what is there before you repeat it";
            let unknown = reply.uses.iter().map(|used| ToolResult {
                id: used.id.clone(),
                tool: used.tool.clone(),
                ok: false,
                text: text.to_owned(),
            });
            let unknown = unknown.collect();
            self.results(unknown);
        }
    }

    /// True if the model has read this text of a source last: it stands in a message to the model or in a result, word
    /// for word, and no edit of that source came behind it. An edit that was taken back since would count as standing.
    pub(crate) fn holds(&self, source: &SymbolPath, text: &str) -> bool {
        let text = text.trim();
        let read = self.messages.iter().rposition(|message| match message {
            ChatMessage::User(message) => message.contains(text),
            ChatMessage::Results(results) => results.iter().any(|result| result.text.contains(text)),
            ChatMessage::Model(_) => false,
        });
        text.contains('\n') && read.is_some_and(|at| !self.edited(at, source))
    }

    /// True if a result behind this message reports an edit of a source.
    fn edited(&self, at: usize, source: &SymbolPath) -> bool {
        let results = self.messages.iter().skip(at).flat_map(|message| match message {
            ChatMessage::Results(results) => results.as_slice(),
            ChatMessage::User(_) | ChatMessage::Model(_) => &[],
        });
        results.filter(|result| result.ok).any(|result| result.text.lines().any(|line| edits(line, source)))
    }

    /// The messages to the model, in order.
    pub(crate) fn user_messages(&self) -> Vec<&str> {
        let messages = self.messages.iter();
        messages
            .filter_map(|message| match message {
                ChatMessage::User(message) => Some(message.as_str()),
                ChatMessage::Model(_) | ChatMessage::Results(_) => None,
            })
            .collect()
    }

    /// True if a message to the model contains these words.
    pub(crate) fn tells(&self, words: &str) -> bool {
        self.user_messages().iter().any(|message| message.contains(words))
    }

    /// Estimated tokens of all messages.
    pub(crate) fn tokens(&self) -> usize {
        self.messages.iter().map(ChatMessage::tokens).sum()
    }
}

/// True if a line of a result reports an edit of a source. It has the file, and the symbols that changed in brackets:
/// `edited a.py (f, g)`. A list that is not whole may have left the source out.
fn edits(line: &str, source: &SymbolPath) -> bool {
    let Some(rest) = line.strip_prefix("edited ").and_then(|rest| rest.strip_prefix(source.file.as_str())) else {
        return false;
    };
    let names = rest.trim().trim_start_matches('(').trim_end_matches(')');
    let is_within = |one: &str, other: &str| one == other || one.starts_with(&format!("{other}::"));
    let touches =
        |name: &str| is_within(name, &source.names) || is_within(&source.names, name) || name.ends_with(" more");
    source.names.is_empty() || names.split(", ").any(touches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sextant_model::chat::ToolUse;

    fn used(id: &str) -> ChatReply {
        ChatReply {
            uses: vec![ToolUse { id: id.into(), tool: "search".into(), ..ToolUse::default() }],
            ..ChatReply::default()
        }
    }

    fn result(id: &str, text: &str) -> ToolResult {
        ToolResult { id: id.into(), tool: "search".into(), ok: true, text: text.into() }
    }

    /// Every use has its result in the next message, and no two messages of one side follow each other.
    fn is_whole(transcript: &Transcript) -> bool {
        let ids = |message: Option<&ChatMessage>| match message {
            Some(ChatMessage::Results(results)) => results.iter().map(|result| result.id.clone()).collect(),
            _ => Vec::new(),
        };
        let messages = &transcript.messages;
        messages.iter().enumerate().all(|(at, message)| match message {
            ChatMessage::Model(reply) => {
                let wanted: Vec<String> = reply.uses.iter().map(|used| used.id.clone()).collect();
                ids(messages.get(at + 1)) == wanted
            }
            ChatMessage::User(_) => !matches!(messages.get(at + 1), Some(ChatMessage::User(_))),
            ChatMessage::Results(_) => matches!(messages.get(at.wrapping_sub(1)), Some(ChatMessage::Model(_))),
        })
    }

    #[test]
    fn a_call_that_a_stop_fell_into_is_answered_and_foreign_reasoning_is_left_behind() {
        let mut transcript = Transcript { model: "a".into(), ..Transcript::default() };
        transcript.tell("do it".into());
        transcript.answer(ChatReply { opaque: vec![serde_json::json!({"signature": "x"})], ..used("1") });
        transcript.take_up("b");
        assert!(is_whole(&transcript), "{transcript:?}");
        let ChatMessage::Model(reply) = &transcript.messages[1] else { panic!("an answer") };
        assert!(reply.opaque.is_empty());
        let before = transcript.clone();
        transcript.take_up("b");
        assert_eq!(transcript, before);
    }

    #[test]
    fn what_was_read_is_held_word_for_word() {
        let mut transcript = Transcript::default();
        transcript.tell("Source:\ndef f():\n    return 1\n".into());
        transcript.answer(used("1"));
        transcript.results(vec![result("1", "a.py::g, lines 4 to 5\ndef g():\n    return 2")]);
        let holds =
            |transcript: &Transcript, name: &str, text: &str| transcript.holds(&SymbolPath::new("a.py", name), text);
        let (f, g) = ("def f():\n    return 1\n", "def g():\n    return 2\n");
        assert!(holds(&transcript, "f", f) && holds(&transcript, "g", g));
        assert!(!holds(&transcript, "f", "def f():\n    return 2"));
        assert!(!holds(&transcript, "f", "def f():"), "a line alone is no source");
        transcript.answer(used("2"));
        transcript.results(vec![result("2", "edited a.py (g::inner, h)\ndiagnostics: 0 new, 0 fixed, 0 unchanged")]);
        assert!(holds(&transcript, "f", f), "another symbol was edited");
        assert!(!holds(&transcript, "g", g) && !holds(&transcript, "", f), "the text may be another one since");
        transcript.tell("Source:\ndef g():\n    return 2\n".into());
        assert!(holds(&transcript, "g", g), "it was read again");
    }

    #[test]
    fn what_stands_in_for_older_messages_is_there_once_however_often_they_are_left_out() {
        let mut transcript = Transcript::default();
        transcript.tell("the request".into());
        for number in 0..200 {
            transcript.answer(used(&number.to_string()));
            transcript.results(vec![result(&number.to_string(), &"x".repeat(900))]);
            transcript.shorten(2000, || format!("so far: {number}"));
            assert!(transcript.tokens() <= 2000 && is_whole(&transcript), "{number}");
        }
        let ChatMessage::User(first) = &transcript.messages[0] else { panic!("the request") };
        assert_eq!(first.matches("so far").count(), 1, "{first}");
    }

    #[test]
    fn one_answer_that_is_longer_than_the_budget_is_cut_and_keeps_its_calls() {
        let mut transcript = Transcript::default();
        transcript.tell("the request".into());
        let mut reply = used("1");
        reply.uses[0].parameters = serde_json::json!({"path": "a.py", "content": "x = 1\n".repeat(20_000)});
        transcript.answer(reply);
        transcript.results(vec![result("1", &"y".repeat(50_000))]);
        assert!(transcript.shorten(3000, String::new));
        assert!(transcript.tokens() <= 3000 && is_whole(&transcript), "{}", transcript.tokens());
        let ChatMessage::Model(reply) = &transcript.messages[1] else { panic!("an answer") };
        let given = &reply.uses[0].parameters;
        assert_eq!(given["path"], "a.py");
        assert!(given["content"].as_str().unwrap().contains("left out here"), "{given}");
    }

    #[test]
    fn thousands_of_calls_of_one_answer_keep_the_last_of_them() {
        let mut transcript = Transcript::default();
        transcript.tell("the request".into());
        let uses = (0..5000).map(|n| used(&n.to_string()).uses.remove(0)).collect();
        transcript.answer(ChatReply { uses, ..ChatReply::default() });
        transcript.results((0..5000).map(|n| result(&n.to_string(), "found")).collect());
        assert!(transcript.shorten(2000, String::new));
        assert!(transcript.tokens() <= 2000 && is_whole(&transcript), "{}", transcript.tokens());
        let ChatMessage::Model(reply) = &transcript.messages[1] else { panic!("an answer") };
        assert_eq!(reply.uses.last().map(|used| used.id.as_str()), Some("4999"));
    }

    proptest! {
        #[test]
        fn what_is_left_out_leaves_whole_turns(sizes in proptest::collection::vec(0..4000usize, 1..30), budget in 200..6000usize) {
            let mut transcript = Transcript::default();
            transcript.tell("the request".into());
            for (number, size) in sizes.iter().enumerate() {
                transcript.answer(used(&number.to_string()));
                transcript.results(vec![result(&number.to_string(), &"x".repeat(*size))]);
            }
            let last = transcript.messages.last().cloned();
            let (before, was) = (transcript.tokens(), transcript.messages.len());
            let shortened = transcript.shorten(budget, || "so far: nothing".to_owned());
            prop_assert!(is_whole(&transcript));
            prop_assert!(transcript.tokens() <= budget.max(before.min(budget)), "{} of {budget}", transcript.tokens());
            prop_assert!(matches!(&transcript.messages[0], ChatMessage::User(text) if text.starts_with("the request")));
            prop_assert_eq!(shortened, before > budget);
            if last.as_ref().is_some_and(|last| last.tokens() * 3 < budget) {
                prop_assert_eq!(transcript.messages.last().cloned(), last, "the newest messages stay whole");
            }
            if transcript.messages.len() < was {
                prop_assert!(matches!(&transcript.messages[0], ChatMessage::User(text) if text.ends_with("so far: nothing")));
            }
        }
    }
}
