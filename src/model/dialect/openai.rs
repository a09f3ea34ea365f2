//! OpenAI's chat completions, which most servers speak: llama.cpp, vLLM, LM Studio, Ollama, OpenRouter.

use serde_json::{Map, Value, json};

use crate::answer::Piece;
use crate::chat::{ChatReply, ToolUse};
use crate::dialect::turns::{self, ReplyPart, Turn};
use crate::dialect::{Dialect, Stop, StreamEvent, WireRequest, declared, tag};
use crate::endpoint::{Endpoint, Provider, ProviderFacts};
use crate::tools::ToolSpec;

pub(super) const OPENAI: ProviderFacts = ProviderFacts {
    name: "openai",
    aliases: &[],
    home: Some("https://api.openai.com/v1/"),
    api_path: "/v1/",
    key_variable: Some("OPENAI_API_KEY"),
    always_needs_key: false,
};

/// Any server with OpenAI's `/chat/completions`: llama.cpp, vLLM, LM Studio, OpenRouter and many more.
pub(super) const COMPATIBLE: ProviderFacts = ProviderFacts {
    name: "openai_compatible",
    aliases: &["openai-compatible"],
    home: None,
    key_variable: None,
    ..OPENAI
};

/// Reached through its OpenAI-compatible API, which, unlike its own, takes our schema and names its calls. That API has
/// no fields for the keep-alive time and the context; both go through Ollama's own API.
pub(super) const OLLAMA: ProviderFacts =
    ProviderFacts { name: "ollama", home: Some("http://127.0.0.1:11434/v1/"), key_variable: None, ..OPENAI };

pub(super) const DIALECT: Dialect =
    Dialect { path: |_| "chat/completions".to_owned(), key_header: None, headers: &[], body, read };

/// Models that OpenAI serves under a new name of the limit only.
const NEW_LIMIT: &[&str] = &["gpt-5", "gpt-6", "o1", "o3", "o4"];
/// The slots of an answer's parts: reasoning, text, calls.
const DETAILS: u64 = 1;
const TEXT: u64 = 1 << 20;
const CALLS: u64 = 1 << 21;
/// Fields in which servers send the model's reasoning, and want it back while tools are in use.
const REASONING: &[&str] = &["reasoning_content", "reasoning"];

fn body(endpoint: &Endpoint, question: &WireRequest) -> Value {
    let tag = tag(endpoint);
    let mut messages = vec![json!({"role": "system", "content": question.system})];
    for turn in turns::turns(question.messages) {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Model(reply) => messages.push(assistant(reply, &tag)),
            Turn::Results(results) => messages.extend(
                results
                    .iter()
                    .map(|result| json!({"role": "tool", "tool_call_id": result.id, "content": turns::marked(result)})),
            ),
        }
    }
    if passes_marks_on(endpoint) {
        mark(&mut messages, question.grows);
    }
    let mut body = json!({
        "model": endpoint.model, "messages": messages, "stream": true, "stream_options": {"include_usage": true},
    });
    let new = endpoint.provider == Provider::OPENAI || reasons(&endpoint.model);
    body[if new { "max_completion_tokens" } else { "max_tokens" }] = question.max_tokens.into();
    if let Some(temperature) = question.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some((name, schema)) = question.schema {
        body["response_format"] =
            json!({"type": "json_schema", "json_schema": {"name": name, "strict": true, "schema": schema}});
    }
    if let Some(effort) = question.reasoning.effort {
        body["reasoning_effort"] = effort.into();
    }
    if !question.tools.is_empty() {
        let tool = |tool: &ToolSpec| json!({"type": "function", "function": declared::function(tool, "parameters")});
        body["tools"] = question.tools.iter().map(tool).collect();
    }
    body
}

/// True if the server takes Anthropic's cache marks, for a model that caches nothing without them.
fn passes_marks_on(endpoint: &Endpoint) -> bool {
    endpoint.shown.starts_with("https://openrouter.ai/") && endpoint.model.starts_with("anthropic/")
}

/// Marks the rules, and the last message of a conversation that goes on.
fn mark(messages: &mut [Value], grows: bool) {
    let last = messages.len() - 1;
    for at in if grows { vec![0, last] } else { vec![0] } {
        let text = messages[at]["content"].take();
        messages[at]["content"] = json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    }
}

/// True if it is one of OpenAI's models that think before they answer.
pub(super) fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default();
    NEW_LIMIT.iter().any(|start| name.starts_with(start))
}

fn assistant(reply: &ChatReply, tag: &str) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if reply.uses.is_empty() {
        return message;
    }
    let mut calls: Vec<Value> = Vec::new();
    let mut details: Vec<Value> = Vec::new();
    let mut extra: Option<&Map<String, Value>> = None;
    for (slot, part) in turns::parts(reply, tag) {
        match part {
            ReplyPart::Text(_) => {}
            ReplyPart::Use(call) => calls.push(function(call, extra.take())),
            ReplyPart::Kept(kept) if slot >= CALLS => extra = kept.as_object(),
            ReplyPart::Kept(kept) if slot >= DETAILS => details.push(kept.clone()),
            ReplyPart::Kept(kept) => {
                for (name, value) in kept.as_object().into_iter().flatten() {
                    message[name] = value.clone();
                }
            }
        }
    }
    if !details.is_empty() {
        message["reasoning_details"] = details.into();
    }
    message["tool_calls"] = calls.into();
    message
}

fn function(call: &ToolUse, extra: Option<&Map<String, Value>>) -> Value {
    let arguments = turns::given(call).to_string();
    let mut value = json!({"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}});
    for (name, kept) in extra.into_iter().flatten() {
        value[name] = kept.clone();
    }
    value
}

fn read(event: &Value) -> StreamEvent {
    let choice = &event["choices"][0];
    // Some servers send the whole message in the last event instead.
    let delta = choice.get("delta").filter(|delta| delta.is_object()).unwrap_or(&choice["message"]);
    let mut pieces = Vec::new();
    reasoning(delta, &mut pieces);
    let text = match &delta["content"] {
        Value::String(text) => text.clone(),
        // Some servers give an answer as parts.
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    if !text.is_empty() {
        pieces.push(Piece::Text { slot: TEXT, text });
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        tool_call(call, &mut pieces);
    }
    let mut stopped = choice["finish_reason"].as_str().map(|why| match why {
        "length" => Stop::Limit,
        "content_filter" => Stop::Declined("the provider's filter stopped the answer (content_filter)".to_owned()),
        _ => Stop::Done,
    });
    if let Some(refusal) = delta["refusal"].as_str().filter(|text| !text.is_empty()) {
        pieces.push(Piece::Refusal(refusal.to_owned()));
        stopped = stopped.filter(|why| *why != Stop::Done);
    }
    let usage = &event["usage"];
    // DeepSeek has its own name for it.
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
    StreamEvent {
        pieces,
        stopped,
        prompt_tokens: usage["prompt_tokens"].as_u64(),
        completion_tokens: usage["completion_tokens"].as_u64(),
        cached_tokens: cached.or_else(|| usage["prompt_cache_hit_tokens"].as_u64()),
        ..StreamEvent::default()
    }
}

fn reasoning(delta: &Value, pieces: &mut Vec<Piece>) {
    // Several names of one text are the same text.
    let named = REASONING.iter().find_map(|name| Some((*name, delta[*name].as_str()?)));
    if let Some((field, text)) = named.filter(|(_, text)| !text.is_empty()) {
        pieces.push(Piece::Reasoning(text.to_owned()));
        pieces.push(Piece::Grow { slot: 0, field: field.to_owned(), text: text.to_owned() });
    }
    for (i, detail) in delta["reasoning_details"].as_array().into_iter().flatten().enumerate() {
        let index = detail["index"].as_u64().unwrap_or(i as u64).min(TEXT - DETAILS - 1);
        for (field, value) in detail.as_object().into_iter().flatten() {
            let slot = DETAILS + index;
            match value {
                Value::String(text) if matches!(field.as_str(), "text" | "summary" | "data" | "signature") => {
                    pieces.push(Piece::Grow { slot, field: field.clone(), text: text.clone() });
                }
                Value::Null => {}
                value => pieces.push(Piece::Set { slot, field: field.clone(), value: value.clone() }),
            }
        }
    }
}

fn tool_call(call: &Value, pieces: &mut Vec<Piece>) {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let function = &call["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => text.clone(),
        // Some servers send an object where the protocol has its text.
        value @ Value::Object(_) => value.to_string(),
        _ => String::new(),
    };
    let slot = call["index"].as_u64().map(|index| CALLS.saturating_add(index));
    let extra = call.get("extra_content").filter(|extra| extra.is_object());
    let keep = extra.map(|extra| ("extra_content", extra.clone()));
    pieces.push(Piece::Call {
        slot,
        from: CALLS,
        id: text(&call["id"]),
        tool: text(&function["name"]),
        arguments,
        keep,
    });
}
