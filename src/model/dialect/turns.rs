//! A conversation in a form that every provider takes: each use of a tool has its result, and no message is empty.

use std::borrow::Cow;

use serde_json::Value;

use crate::chat::{ChatMessage, ChatReply, ToolResult, ToolUse};

/// The result that a model reads for a call without a kept result.
const NOT_RUN: &str = "This call was not run.";
/// Opens a conversation that begins with the model's own words.
const GO_ON: &str = "Go on.";

/// One side's turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn<'a> {
    User(&'a str),
    Model(&'a ChatReply),
    /// One for each use in the model's turn before, in its order.
    Results(Vec<Cow<'a, ToolResult>>),
}

/// The messages in a form that can be sent: a call without its result gets the note that it was not run. A result
/// without its call is left out, as is an empty message. The same beginning always becomes the same beginning.
pub(super) fn turns(messages: &[ChatMessage]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn> = Vec::with_capacity(messages.len());
    let mut open: &[ToolUse] = &[];
    for message in messages {
        if !open.is_empty() {
            let given = if let ChatMessage::Results(given) = message { given.as_slice() } else { &[] };
            turns.push(Turn::Results(answered(std::mem::take(&mut open), given)));
        }
        match message {
            ChatMessage::User(text) if text.trim().is_empty() => {}
            ChatMessage::User(text) => turns.push(Turn::User(text)),
            ChatMessage::Model(reply) if says_nothing(reply) => {}
            ChatMessage::Model(reply) => {
                if turns.is_empty() {
                    turns.push(Turn::User(GO_ON));
                }
                turns.push(Turn::Model(reply));
                open = &reply.uses;
            }
            ChatMessage::Results(_) => {}
        }
    }
    if !open.is_empty() {
        turns.push(Turn::Results(answered(open, &[])));
    }
    turns
}

fn says_nothing(reply: &ChatReply) -> bool {
    reply.uses.is_empty() && reply.text.trim().is_empty()
}

fn answered<'a>(uses: &[ToolUse], given: &'a [ToolResult]) -> Vec<Cow<'a, ToolResult>> {
    let of = |call: &ToolUse| given.iter().find(|result| result.id == call.id).map(Cow::Borrowed);
    let none = |call: &ToolUse| {
        let (id, tool, text) = (call.id.clone(), call.tool.clone(), NOT_RUN.to_owned());
        Cow::Owned(ToolResult { id, tool, ok: false, text })
    };
    uses.iter().map(|call| of(call).unwrap_or_else(|| none(call))).collect()
}

/// The text of a result, for providers that have no mark of their own for a failure.
pub(super) fn marked(result: &ToolResult) -> String {
    if result.ok { result.text.clone() } else { format!("failed: {}", result.text) }
}

/// The input of a tool, as an object; the result reports an input that could not be read as one.
pub(super) fn given(call: &ToolUse) -> Value {
    if call.parameters.is_object() { call.parameters.clone() } else { Value::Object(serde_json::Map::new()) }
}

/// A part of the model's reply, at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReplyPart<'a> {
    /// Data that the provider wants back.
    Kept(&'a Value),
    Text(&'a str),
    Use(&'a ToolUse),
}

/// A reply in its original order, as far as `tag` has noted one; otherwise text first, then the uses.
pub(super) fn parts<'a>(reply: &'a ChatReply, tag: &str) -> Vec<(u64, ReplyPart<'a>)> {
    let own: Vec<&Value> = reply.opaque.iter().filter(|kept| kept["from"] == tag).collect();
    let slot = |found: Option<&&Value>, or: u64| found.and_then(|kept| kept["slot"].as_u64()).unwrap_or(or);
    let mut parts: Vec<(u64, ReplyPart)> = Vec::new();
    for kept in &own {
        if let Some(value) = kept.get("kept") {
            parts.push((kept["slot"].as_u64().unwrap_or(0), ReplyPart::Kept(value)));
        }
    }
    if !reply.text.trim().is_empty() {
        let at = slot(own.iter().find(|kept| kept.get("text").is_some()), u64::MAX - 1);
        parts.push((at, ReplyPart::Text(&reply.text)));
    }
    for call in &reply.uses {
        let at = slot(own.iter().find(|kept| kept.get("call").is_some_and(|id| *id == call.id)), u64::MAX);
        parts.push((at, ReplyPart::Use(call)));
    }
    parts.sort_by_key(|(slot, _)| *slot);
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> ToolUse {
        ToolUse { id: id.into(), tool: "search".into(), parameters: json!({}), problem: None }
    }

    fn result(id: &str) -> ToolResult {
        ToolResult { id: id.into(), tool: "search".into(), ok: true, text: id.into() }
    }

    #[test]
    fn every_call_has_its_result_in_its_order() {
        let asks = ChatReply { uses: vec![call("a"), call("b")], ..ChatReply::default() };
        let given = vec![result("b"), result("stranger")];
        let messages = [
            ChatMessage::User("do".into()),
            ChatMessage::Model(asks.clone()),
            ChatMessage::Results(given),
            ChatMessage::Results(vec![result("late")]),
            ChatMessage::Model(ChatReply::default()),
            ChatMessage::User(" ".into()),
            ChatMessage::Model(asks.clone()),
            ChatMessage::User("stop".into()),
            ChatMessage::Model(asks),
        ];
        let shown: Vec<String> = turns(&messages)
            .iter()
            .map(|turn| match turn {
                Turn::User(text) => format!("user {text}"),
                Turn::Model(_) => "model".to_owned(),
                Turn::Results(list) => list.iter().map(|r| format!("{} {};", r.id, r.text)).collect(),
            })
            .collect();
        let none = format!("a {NOT_RUN};b {NOT_RUN};");
        let first = format!("a {NOT_RUN};b b;");
        assert_eq!(shown, ["user do", "model", &first, "model", &none, "user stop", "model", &none]);
    }

    #[test]
    fn a_conversation_is_opened_by_the_user() {
        let reply = ChatReply { text: "yes".into(), ..ChatReply::default() };
        let messages = [ChatMessage::Model(reply.clone())];
        assert_eq!(turns(&messages), [Turn::User(GO_ON), Turn::Model(&reply)]);
    }

    #[test]
    fn what_was_kept_stands_where_it_was_said_and_goes_to_nobody_else() {
        let reply = ChatReply {
            text: "so".into(),
            uses: vec![call("a"), call("b")],
            opaque: vec![
                json!({"from": "x:m", "slot": 0, "kept": 1}),
                json!({"from": "x:m", "slot": 1, "text": true}),
                json!({"from": "x:m", "slot": 2, "kept": 2}),
                json!({"from": "x:m", "slot": 3, "call": "a"}),
                json!({"from": "x:m", "slot": 4, "call": "b"}),
            ],
            cut: false,
        };
        let kinds = |tag| -> String {
            let of = |part: &ReplyPart| match part {
                ReplyPart::Kept(_) => 'k',
                ReplyPart::Text(_) => 't',
                ReplyPart::Use(_) => 'u',
            };
            parts(&reply, tag).iter().map(|(_, part)| of(part)).collect()
        };
        assert_eq!((kinds("x:m").as_str(), kinds("y:m").as_str()), ("ktkuu", "tuu"));
    }
}
