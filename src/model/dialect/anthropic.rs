//! Anthropic's messages: content in blocks, marks for the cached parts, signed thinking.

use serde_json::{Value, json};

use crate::answer::Piece;
use crate::chat::ToolResult;
use crate::dialect::turns::{self, ReplyPart, Turn};
use crate::dialect::{Dialect, Stop, StreamEvent, WireRequest, declared, tag};
use crate::endpoint::{Endpoint, ProviderFacts};

pub(super) const ANTHROPIC: ProviderFacts = ProviderFacts {
    name: "anthropic",
    aliases: &[],
    home: Some("https://api.anthropic.com/v1/"),
    api_path: "/",
    key_variable: Some("ANTHROPIC_API_KEY"),
    always_needs_key: true,
};

pub(super) const DIALECT: Dialect = Dialect {
    path: |_| "messages".to_owned(),
    key_header: Some("x-api-key"),
    // The version that the events are read by.
    headers: &[("anthropic-version", "2023-06-01")],
    body,
    read,
};

/// Messages of the user that are marked, from the last one backwards: the mark before finds the last written part of
/// the cache.
const MARKED_TURNS: usize = 2;

fn body(endpoint: &Endpoint, question: &WireRequest) -> Value {
    // Tools stand before the rules in the cache, so this mark covers both.
    let system = json!([{"type": "text", "text": question.system, "cache_control": {"type": "ephemeral"}}]);
    let mut body = json!({
        "model": endpoint.model, "system": system, "max_tokens": question.max_tokens, "stream": true,
        "messages": messages(question, &tag(endpoint)),
    });
    if let Some((_, schema)) = question.schema {
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    match question.reasoning.effort {
        Some(effort) if effort != "none" => think(&mut body, endpoint, question, effort),
        // A model that thinks takes no temperature.
        _ => {
            if let Some(temperature) = question.temperature {
                body["temperature"] = temperature.into();
            }
        }
    }
    if !question.tools.is_empty() {
        body["tools"] = question.tools.iter().map(|tool| declared::function(tool, "input_schema")).collect();
    }
    body
}

/// Models that take a number of tokens to think with; later ones take an effort, and refuse a number.
const BUDGETED: &[&str] = &["claude-3", "-4-0", "-4-1", "-4-5", "sonnet-4-2", "opus-4-2"];
/// The fewest tokens for thinking, and the least that is left for the answer.
const LEAST_BUDGET: u32 = 1024;

fn think(body: &mut Value, endpoint: &Endpoint, question: &WireRequest, effort: &str) {
    let name = &endpoint.model;
    if BUDGETED.iter().any(|part| name.contains(part)) || name.ends_with("-4") {
        let wanted = match effort {
            "minimal" | "low" => 2048,
            "medium" => 8192,
            _ => 16_384,
        };
        // The limit of the answer counts the thinking too.
        let least = question.max_tokens.max(2 * LEAST_BUDGET);
        body["max_tokens"] = least.into();
        body["thinking"] = json!({"type": "enabled", "budget_tokens": wanted.min(least - LEAST_BUDGET)});
        return;
    }
    body["thinking"] = json!({"type": "adaptive"});
    if question.reasoning.shown {
        body["thinking"]["display"] = "summarized".into();
    }
    body["output_config"]["effort"] = effort.into();
}

/// The turns as messages of alternating roles, each with its blocks.
fn messages(question: &WireRequest, tag: &str) -> Vec<Value> {
    let mut sides: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns::turns(question.messages) {
        let (role, blocks) = match turn {
            Turn::User(text) => ("user", vec![json!({"type": "text", "text": text})]),
            Turn::Model(reply) => ("assistant", turns::parts(reply, tag).iter().map(|(_, part)| sent(part)).collect()),
            Turn::Results(results) => {
                let block = |result: &ToolResult| {
                    let text = if result.text.is_empty() { "(nothing)" } else { &result.text };
                    let mut block = json!({"type": "tool_result", "tool_use_id": clean(&result.id), "content": text});
                    if !result.ok {
                        block["is_error"] = true.into();
                    }
                    block
                };
                ("user", results.iter().map(|result| block(result)).collect())
            }
        };
        match sides.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => sides.push((role, blocks)),
        }
    }
    if question.grows {
        let users = sides.iter_mut().rev().filter(|(role, _)| *role == "user").take(MARKED_TURNS);
        for block in users.filter_map(|(_, blocks)| blocks.last_mut()) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
    sides.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn sent(part: &ReplyPart) -> Value {
    match part {
        ReplyPart::Kept(block) => (*block).clone(),
        // A last message of the model's may not end in a blank.
        ReplyPart::Text(text) => json!({"type": "text", "text": text.trim_end()}),
        ReplyPart::Use(call) => {
            json!({"type": "tool_use", "id": clean(&call.id), "name": clean(&call.tool), "input": turns::given(call)})
        }
    }
}

/// A name within the letters that the provider takes: a conversation may have begun with another one.
fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

fn read(event: &Value) -> StreamEvent {
    match event["type"].as_str() {
        Some("message_start") => StreamEvent { completion_tokens: None, ..counted(&event["message"]["usage"]) },
        Some("content_block_start") => begins(event),
        Some("content_block_delta") => goes_on(event),
        Some("message_delta") => {
            let stopped = event["delta"]["stop_reason"].as_str().map(|why| match why {
                "max_tokens" | "model_context_window_exceeded" => Stop::Limit,
                "refusal" => Stop::Declined("the model declined to go on (refusal)".to_owned()),
                _ => Stop::Done,
            });
            StreamEvent { stopped, ..counted(&event["usage"]) }
        }
        Some("message_stop") => StreamEvent { last: true, ..StreamEvent::default() },
        _ => StreamEvent::default(),
    }
}

/// `input_tokens` leaves out the tokens that were read from the cache or written to it.
fn counted(usage: &Value) -> StreamEvent {
    let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let known = usage["input_tokens"].as_u64();
    let sum = parts.iter().filter_map(|name| usage[*name].as_u64()).fold(0, u64::saturating_add);
    StreamEvent {
        prompt_tokens: known.map(|_| sum),
        completion_tokens: usage["output_tokens"].as_u64(),
        cached_tokens: usage["cache_read_input_tokens"].as_u64(),
        ..StreamEvent::default()
    }
}

fn begins(event: &Value) -> StreamEvent {
    let slot = event["index"].as_u64().unwrap_or(0);
    let block = &event["content_block"];
    let text = |name: &str| block[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let pieces = match block["type"].as_str() {
        Some("text") => text("text").map(|text| Piece::Text { slot, text }).into_iter().collect(),
        Some("tool_use") => {
            // Some servers send the whole input here, and nothing after it.
            let input = block["input"].as_object().filter(|input| !input.is_empty());
            let arguments = input.map(|_| block["input"].to_string()).unwrap_or_default();
            let (id, tool) = (text("id"), text("name"));
            vec![Piece::Call { slot: Some(slot), from: slot, id, tool, arguments, keep: None }]
        }
        Some("thinking" | "redacted_thinking") => {
            let set =
                |(field, value): (&String, &Value)| Piece::Set { slot, field: field.clone(), value: value.clone() };
            let thought = text("thinking").map(Piece::Reasoning);
            block.as_object().into_iter().flatten().map(set).chain(thought).collect()
        }
        _ => Vec::new(),
    };
    StreamEvent { pieces, ..StreamEvent::default() }
}

fn goes_on(event: &Value) -> StreamEvent {
    let slot = event["index"].as_u64().unwrap_or(0);
    let delta = &event["delta"];
    let text = |name: &str| delta[name].as_str().unwrap_or_default().to_owned();
    let grow = |field: &str| Piece::Grow { slot, field: field.to_owned(), text: text(field) };
    let pieces = match delta["type"].as_str() {
        Some("input_json_delta") => {
            let arguments = text("partial_json");
            vec![Piece::Call { slot: Some(slot), from: slot, id: None, tool: None, arguments, keep: None }]
        }
        Some("thinking_delta") => vec![Piece::Reasoning(text("thinking")), grow("thinking")],
        Some("signature_delta") => vec![grow("signature")],
        _ if delta["text"].is_string() => vec![Piece::Text { slot, text: text("text") }],
        _ => Vec::new(),
    };
    StreamEvent { pieces, ..StreamEvent::default() }
}
