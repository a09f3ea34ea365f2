//! OpenAI's Responses: items instead of messages, nothing stored there, reasoning sent back unchanged.

use serde_json::{Map, Value, json};

use crate::answer::Piece;
use crate::dialect::turns::{self, ReplyPart, Turn};
use crate::dialect::{Dialect, Stop, StreamEvent, WireRequest, declared, openai, tag};
use crate::endpoint::Endpoint;
use crate::tools::ToolSpec;

pub(super) const DIALECT: Dialect =
    Dialect { path: |_| "responses".to_owned(), key_header: None, headers: &[], body, read };

fn body(endpoint: &Endpoint, question: &WireRequest) -> Value {
    let mut body = json!({
        "model": endpoint.model, "instructions": question.system, "input": input(question, &tag(endpoint)),
        "max_output_tokens": question.max_tokens, "stream": true, "store": false,
    });
    if let Some(temperature) = question.temperature {
        body["temperature"] = temperature.into();
    }
    let mut reasoning = Map::new();
    if let Some(effort) = question.reasoning.effort {
        reasoning.insert("effort".to_owned(), effort.into());
    }
    if question.reasoning.shown {
        reasoning.insert("summary".to_owned(), "auto".into());
    }
    // A model that does not reason refuses a request for its thoughts.
    if openai::reasons(&endpoint.model) || !reasoning.is_empty() {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if !reasoning.is_empty() {
        body["reasoning"] = reasoning.into();
    }
    if let Some((name, schema)) = question.schema {
        body["text"] = json!({"format": {"type": "json_schema", "name": name, "strict": true, "schema": schema}});
    }
    if !question.tools.is_empty() {
        let tool = |tool: &ToolSpec| {
            let mut declared = declared::function(tool, "parameters");
            declared["type"] = "function".into();
            declared["strict"] = false.into();
            declared
        };
        body["tools"] = question.tools.iter().map(tool).collect();
    }
    body
}

fn input(question: &WireRequest, tag: &str) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in turns::turns(question.messages) {
        match turn {
            Turn::User(text) => items.push(message("user", "input_text", text)),
            Turn::Model(reply) => items.extend(turns::parts(reply, tag).iter().map(|(_, part)| sent(part))),
            Turn::Results(results) => items.extend(results.iter().map(
                |result| json!({"type": "function_call_output", "call_id": result.id, "output": turns::marked(result)}),
            )),
        }
    }
    items
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn sent(part: &ReplyPart) -> Value {
    match part {
        ReplyPart::Kept(item) => (*item).clone(),
        ReplyPart::Text(text) => message("assistant", "output_text", text),
        ReplyPart::Use(call) => {
            let arguments = turns::given(call).to_string();
            json!({"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": arguments})
        }
    }
}

fn read(event: &Value) -> StreamEvent {
    let slot = event["output_index"].as_u64().unwrap_or(0);
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let one = |piece| StreamEvent { pieces: vec![piece], ..StreamEvent::default() };
    match event["type"].as_str().unwrap_or_default() {
        "response.output_text.delta" => one(Piece::Text { slot, text: text("delta") }),
        "response.refusal.delta" => one(Piece::Refusal(text("delta"))),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            one(Piece::Reasoning(text("delta")))
        }
        "response.output_item.added" if event["item"]["type"] == "function_call" => {
            let item = &event["item"];
            let (id, tool) = (named(item, "call_id"), named(item, "name"));
            one(Piece::Call { slot: Some(slot), from: slot, id, tool, arguments: String::new(), keep: None })
        }
        "response.function_call_arguments.delta" => {
            let arguments = text("delta");
            one(Piece::Call { slot: Some(slot), from: slot, id: None, tool: None, arguments, keep: None })
        }
        "response.output_item.done" => StreamEvent { pieces: item(slot, &event["item"]), ..StreamEvent::default() },
        "response.completed" => ended(&event["response"], Stop::Done),
        "response.incomplete" => {
            let why = event["response"]["incomplete_details"]["reason"].as_str().unwrap_or_default();
            let stop = match why {
                "content_filter" => Stop::Declined(format!("the provider's filter stopped the answer ({why})")),
                _ => Stop::Limit,
            };
            ended(&event["response"], stop)
        }
        "response.failed" | "response.cancelled" => {
            let error = event["response"].get("error").filter(|error| !error.is_null());
            StreamEvent { error: Some(error.unwrap_or(event).clone()), ..StreamEvent::default() }
        }
        "error" => StreamEvent { error: Some(event.clone()), ..StreamEvent::default() },
        _ => StreamEvent::default(),
    }
}

/// A whole item: reasoning is kept unchanged, and these arguments of a call replace the earlier ones.
fn item(slot: u64, item: &Value) -> Vec<Piece> {
    match item["type"].as_str() {
        Some("reasoning") => {
            let fields = item.as_object().into_iter().flatten();
            fields.map(|(field, value)| Piece::Set { slot, field: field.clone(), value: value.clone() }).collect()
        }
        Some("function_call") => {
            let text = item["arguments"].as_str().unwrap_or_default().to_owned();
            vec![Piece::Arguments { slot, id: named(item, "call_id"), tool: named(item, "name"), text }]
        }
        _ => Vec::new(),
    }
}

fn named(item: &Value, name: &str) -> Option<String> {
    item[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn ended(response: &Value, stop: Stop) -> StreamEvent {
    let usage = &response["usage"];
    StreamEvent {
        stopped: Some(stop),
        prompt_tokens: usage["input_tokens"].as_u64(),
        completion_tokens: usage["output_tokens"].as_u64(),
        cached_tokens: usage["input_tokens_details"]["cached_tokens"].as_u64(),
        last: true,
        ..StreamEvent::default()
    }
}
