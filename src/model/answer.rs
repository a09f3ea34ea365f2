//! Puts an answer together from pieces in any order: its text, its reasoning, its calls, and the data that the provider
//! wants back.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::chat::{ChatMessage, ChatReply, ToolUse};
use crate::tools::{self, ToolSpec};

/// A piece of an answer. A slot is a place in it; kept data goes back to the provider in the order of slots.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text {
        slot: u64,
        text: String,
    },
    /// The model's thinking aloud; not part of the answer.
    Reasoning(String),
    /// The reason why it will not answer.
    Refusal(String),
    /// Adds to a kept text.
    Grow {
        slot: u64,
        field: String,
        text: String,
    },
    /// Sets a kept value.
    Set {
        slot: u64,
        field: String,
        value: Value,
    },
    Call {
        /// `None` if the server does not name the call that it goes on with.
        slot: Option<u64>,
        /// The first slot that a call may have.
        from: u64,
        id: Option<String>,
        tool: Option<String>,
        /// More of the arguments; empty if the piece adds none.
        arguments: String,
        /// Kept beside the call.
        keep: Option<(&'static str, Value)>,
    },
    /// A whole call, in place of its parts so far.
    Arguments {
        slot: u64,
        id: Option<String>,
        tool: Option<String>,
        text: String,
    },
}

/// The parts of a call so far.
#[derive(Clone, Debug, Default, PartialEq)]
struct PartialCall {
    /// The provider's number for it.
    number: Option<u64>,
    slot: u64,
    id: Option<String>,
    tool: String,
    arguments: String,
}

/// The parts of an answer so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerParts {
    pub text: String,
    pub refusal: String,
    text_slot: Option<u64>,
    calls: Vec<PartialCall>,
    kept: BTreeMap<u64, Map<String, Value>>,
    bytes: usize,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    Whole,
    /// At the limit of tokens.
    Limit,
    /// In the middle, or without any notice.
    Broken,
}

impl AnswerParts {
    pub fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Text { slot, text } => {
                self.bytes += text.len();
                self.text.push_str(&text);
                self.text_slot.get_or_insert(slot);
            }
            Piece::Reasoning(text) => self.bytes += text.len(),
            Piece::Refusal(text) => {
                self.bytes += text.len();
                self.refusal.push_str(&text);
            }
            Piece::Grow { slot, field, text } => {
                self.bytes += text.len();
                let kept = self.kept.entry(slot).or_default().entry(field).or_insert_with(|| json!(""));
                match kept {
                    Value::String(before) => before.push_str(&text),
                    other => *other = text.into(),
                }
            }
            Piece::Set { slot, field, value } => {
                self.bytes += size(&value) + field.len();
                self.kept.entry(slot).or_default().insert(field, value);
            }
            Piece::Call { slot, from, id, tool, arguments, keep } => {
                self.bytes += arguments.len() + 16;
                let at = self.place(slot, from, id.as_deref(), tool.as_deref(), !arguments.is_empty());
                let call = &mut self.calls[at];
                call.id = call.id.take().or(id);
                if call.tool.is_empty() {
                    call.tool = tool.unwrap_or_default();
                }
                call.arguments.push_str(&arguments);
                if let Some((field, value)) = keep {
                    let slot = call.slot;
                    self.add(Piece::Set { slot, field: field.to_owned(), value });
                }
            }
            Piece::Arguments { slot, id, tool, text } => {
                self.bytes += text.len();
                let known = self.calls.iter().rposition(|call| call.number == Some(slot));
                let at = known.unwrap_or_else(|| self.place(Some(slot), slot, None, None, true));
                let call = &mut self.calls[at];
                call.id = id.or(call.id.take());
                call.tool = tool.unwrap_or_else(|| std::mem::take(&mut call.tool));
                call.arguments = text;
            }
        }
    }

    /// Bytes of all pieces so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.refusal.is_empty()
    }

    /// The call that a piece belongs to; the piece has `more` arguments or none. Servers number calls wrongly: another
    /// id, or a name after whole arguments, is another call.
    fn place(&mut self, slot: Option<u64>, from: u64, id: Option<&str>, tool: Option<&str>, more: bool) -> usize {
        let begins = |call: &PartialCall| {
            let other = matches!((&call.id, id), (Some(known), Some(id)) if known != id);
            // A name alone may only be repeated.
            let again = tool.is_none_or(|tool| tool == call.tool && !more);
            tool.is_some() && (other || (whole(&call.arguments) && !again))
        };
        let known = match slot {
            Some(slot) => self.calls.iter().rposition(|call| call.number == Some(slot)),
            None if id.is_some() => self.calls.iter().rposition(|call| call.id.as_deref() == id),
            None if tool.is_some() => None,
            None => self.calls.len().checked_sub(1),
        };
        if let Some(at) = known.filter(|at| !begins(&self.calls[*at])) {
            return at;
        }
        let next = self.calls.iter().map(|call| call.slot.saturating_add(1)).max().unwrap_or(from);
        let free = slot.filter(|slot| self.calls.iter().all(|call| call.slot != *slot));
        self.calls.push(PartialCall { number: slot, slot: free.unwrap_or(next), ..PartialCall::default() });
        self.calls.len() - 1
    }

    /// The message that the model adds to the conversation. Every call is there: one that cannot run has its problem.
    /// `None` if the end is missing and no call is whole.
    pub fn reply(self, tag: &str, tools: &[ToolSpec], ending: AnswerEnd, before: &[ChatMessage]) -> Option<ChatReply> {
        let all_whole = || !self.calls.is_empty() && self.calls.iter().all(|call| whole(&call.arguments));
        if ending == AnswerEnd::Broken && !all_whole() {
            return None;
        }
        let mut ids = UseIds::after(before);
        let mut uses = Vec::with_capacity(self.calls.len());
        let mut opaque: Vec<Value> = Vec::new();
        for (slot, kept) in &self.kept {
            opaque.push(json!({"from": tag, "slot": slot, "kept": kept}));
        }
        if let Some(slot) = self.text_slot.filter(|_| !self.kept.is_empty()) {
            opaque.push(json!({"from": tag, "slot": slot, "text": true}));
        }
        let last = self.calls.len();
        for (i, call) in self.calls.into_iter().enumerate() {
            let id = ids.take(call.id.as_deref());
            if !self.kept.is_empty() {
                opaque.push(json!({"from": tag, "slot": call.slot, "call": id}));
            }
            let cut = ending == AnswerEnd::Limit && i + 1 == last;
            uses.push(tool_use(id, call.tool.trim(), call.arguments, tools, cut));
        }
        Some(ChatReply { text: self.text, uses, opaque, cut: ending == AnswerEnd::Limit })
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(size).sum::<usize>() + 16,
        Value::Object(map) => map.iter().map(|(name, value)| name.len() + size(value)).sum::<usize>() + 16,
        _ => 16,
    }
}

fn whole(arguments: &str) -> bool {
    arguments.trim_start().starts_with('{') && serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

/// One call, its parameters validated.
pub(crate) fn tool_use(id: String, name: &str, arguments: String, tools: &[ToolSpec], cut: bool) -> ToolUse {
    // A call without parameters may come without arguments.
    let text = if arguments.trim().is_empty() && !cut { "{}" } else { &arguments };
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(given) => checked(id, name, given, tools),
        Err(error) => {
            let problem = if cut {
                format!(
                    "the call of {name} was cut off at the limit of tokens, and has not run: do it in smaller parts"
                )
            } else {
                format!("the parameters of {name} are not a whole JSON object: {error}")
            };
            ToolUse { id, tool: name.to_owned(), parameters: Value::String(arguments), problem: Some(problem) }
        }
    }
}

/// The same for parameters that are read already.
pub(crate) fn checked(id: String, name: &str, given: Map<String, Value>, tools: &[ToolSpec]) -> ToolUse {
    let fit = match tools::find(tools, name) {
        Some(tool) => tool.fit(&given),
        None => {
            let shown: String = name.chars().take(60).collect();
            Err(format!("there is no tool `{shown}`; the tools are {}", tools::names(tools)))
        }
    };
    let (parameters, problem) = match fit {
        Ok(parameters) => (parameters, None),
        Err(problem) => (given, Some(problem)),
    };
    ToolUse { id, tool: name.to_owned(), parameters: Value::Object(parameters), problem }
}

/// Names for the uses of a conversation, each unique in all of it: servers send none, or the same again.
#[derive(Debug)]
pub(crate) struct UseIds {
    used: std::collections::HashSet<String>,
    count: usize,
}

impl UseIds {
    pub(crate) fn after(messages: &[ChatMessage]) -> Self {
        let replies = messages.iter().filter_map(|message| match message {
            ChatMessage::Model(reply) => Some(reply),
            _ => None,
        });
        let used: std::collections::HashSet<String> =
            replies.flat_map(|reply| &reply.uses).map(|call| call.id.clone()).collect();
        Self { count: used.len(), used }
    }

    /// The provider's own name if it is new. Ours has nine letters and digits, as Mistral wants them.
    pub(crate) fn take(&mut self, given: Option<&str>) -> String {
        let mut id = given.unwrap_or_default().to_owned();
        while id.is_empty() || self.used.contains(&id) {
            self.count += 1;
            id = format!("call{:05}", self.count);
        }
        self.used.insert(id.clone());
        id
    }
}

/// True if a name of a use is one that we gave.
pub(crate) fn is_ours(id: &str) -> bool {
    id.strip_prefix("call").is_some_and(|rest| rest.len() >= 5 && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
