//! The five ways in which a conversation goes over the wire: how a scripted answer is written in each, and what a
//! server of each holds a request to.

use serde_json::{Value, json};
use sextant::llm::endpoint::Provider;

use crate::support::model_server::{Reply, Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Chat,
    Ollama,
    Responses,
    Anthropic,
    Gemini,
}

pub const WIRES: [Wire; 5] = [Wire::Chat, Wire::Ollama, Wire::Responses, Wire::Anthropic, Wire::Gemini];

/// Why a scripted answer stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Done,
    Limit,
    Refusal,
}

/// An answer in no wire's words.
#[derive(Clone, Debug)]
pub struct Answer {
    pub thought: &'static str,
    pub text: &'static str,
    /// Id, tool and arguments; the arguments need not be whole.
    pub calls: Vec<(&'static str, &'static str, &'static str)>,
    pub stop: Stop,
}

pub fn says(text: &'static str) -> Answer {
    Answer { thought: "", text, calls: Vec::new(), stop: Stop::Done }
}

impl Answer {
    pub fn calling(mut self, id: &'static str, tool: &'static str, arguments: &'static str) -> Self {
        self.calls.push((id, tool, arguments));
        self
    }

    pub fn thinking(mut self, thought: &'static str) -> Self {
        self.thought = thought;
        self
    }

    pub fn stopped(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}

/// What signs the reasoning of every scripted answer.
pub const SIGNATURE: &str = "c2lnbmVk";
/// What every scripted answer costs: of the prompt's tokens, most are cached.
pub const COST: (u64, u64, u64) = (1000, 900, 20);

impl Wire {
    pub fn provider(self) -> Provider {
        match self {
            Self::Chat | Self::Responses => Provider::COMPATIBLE,
            Self::Ollama => Provider::OLLAMA,
            Self::Anthropic => Provider::ANTHROPIC,
            Self::Gemini => Provider::GEMINI,
        }
    }

    /// The name of a model that thinks.
    pub fn model(self) -> &'static str {
        match self {
            Self::Responses => "gpt-5-test",
            Self::Anthropic => "claude-test-5",
            Self::Gemini => "gemini-3-test",
            Self::Chat | Self::Ollama => "test-m",
        }
    }

    pub fn path(self) -> &'static str {
        match self {
            Self::Chat | Self::Ollama => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Anthropic => "/v1/messages",
            Self::Gemini => "/v1/models/gemini-3-test:streamGenerateContent?alt=sse",
        }
    }

    /// The events of an answer.
    pub fn events(self, answer: &Answer) -> String {
        match self {
            Self::Chat | Self::Ollama => chat_events(answer),
            Self::Responses => responses_events(answer),
            Self::Anthropic => anthropic_events(answer),
            Self::Gemini => gemini_events(answer),
        }
    }

    pub fn reply(self, answer: &Answer) -> Reply {
        Reply::Events(self.events(answer))
    }

    /// Holds a request to the rules of its provider, and gives its messages in no wire's words.
    pub fn check(self, request: &Request) -> Vec<String> {
        assert_eq!(request.path, self.path(), "{self:?}");
        let body = &request.body;
        match self {
            Self::Chat | Self::Ollama => check_chat(body),
            Self::Responses => check_responses(body),
            Self::Anthropic => check_anthropic(body),
            Self::Gemini => check_gemini(body),
        }
    }

    /// The part of a request that grows.
    pub fn messages(self, request: &Request) -> Vec<Value> {
        let name = match self {
            Self::Chat | Self::Ollama | Self::Anthropic => "messages",
            Self::Responses => "input",
            Self::Gemini => "contents",
        };
        list(&request.body[name])
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| panic!("no list: {value}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn halves(text: &str) -> [&str; 2] {
    let at = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    [&text[..at], &text[at..]]
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// A result as the model reads it.
fn result(id: &str, failed: bool, text: &str) -> String {
    let came = if failed { "failed" } else { "ok" };
    format!("{id} {came}: {}", text.strip_prefix("failed: ").unwrap_or(text))
}

// ---- OpenAI's chat completions

fn chat_events(answer: &Answer) -> String {
    let delta = |delta: Value| data(&json!({"choices": [{"index": 0, "delta": delta}]}));
    let mut events = delta(json!({"role": "assistant", "content": ""}));
    for piece in halves(answer.thought).into_iter().filter(|piece| !piece.is_empty()) {
        events += &delta(json!({"reasoning_content": piece}));
    }
    let field = if answer.stop == Stop::Refusal { "refusal" } else { "content" };
    for piece in halves(answer.text).into_iter().filter(|piece| !piece.is_empty()) {
        events += &delta(json!({field: piece}));
    }
    for (index, (id, tool, _)) in answer.calls.iter().enumerate() {
        let function = json!({"name": tool, "arguments": ""});
        let mut call = json!({"index": index, "type": "function", "function": function});
        if !id.is_empty() {
            call["id"] = (*id).into();
        }
        events += &delta(json!({"tool_calls": [call]}));
    }
    // The arguments of all of them come mixed.
    for half in 0..2 {
        for (index, (_, _, arguments)) in answer.calls.iter().enumerate() {
            let piece = halves(arguments)[half];
            events += &delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
        }
    }
    let why = match (answer.stop, answer.calls.is_empty()) {
        (Stop::Limit, _) => "length",
        (_, false) => "tool_calls",
        _ => "stop",
    };
    events += &data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}]}));
    let details = json!({"cached_tokens": COST.1});
    let usage = json!({"prompt_tokens": COST.0, "prompt_tokens_details": details, "completion_tokens": COST.2});
    events + &data(&json!({"choices": [], "usage": usage})) + "data: [DONE]\n\n"
}

fn check_chat(body: &Value) -> Vec<String> {
    let mut told = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        let role = text(&message["role"]);
        assert_eq!(role == "system", at == 0, "the rules come first and once");
        if role == "tool" {
            assert!(!open.is_empty(), "a result without its call: {message}");
            assert_eq!(message["tool_call_id"], open.remove(0), "results in the order of their calls");
            let content = text(&message["content"]);
            told.push(result(&text(&message["tool_call_id"]), content.starts_with("failed: "), &content));
            continue;
        }
        assert!(open.is_empty(), "calls without results: {open:?}");
        let mut line = format!("{role} {}", message["content"].as_str().unwrap_or_default());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let (id, function) = (text(&call["id"]), &call["function"]);
            let arguments: Value = serde_json::from_str(&text(&function["arguments"])).expect("arguments are JSON");
            assert!(arguments.is_object() && call["type"] == "function", "{call}");
            assert!(!open.contains(&id), "an id twice: {id}");
            line += &format!(" [{id} {} {arguments}]", text(&function["name"]));
            open.push(id);
        }
        told.push(line);
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
    told.split_off(1)
}

// ---- OpenAI's Responses

fn responses_events(answer: &Answer) -> String {
    let mut events = String::new();
    let mut event = |kind: &str, mut value: Value| {
        value["type"] = kind.into();
        events += &format!("event: {kind}\ndata: {value}\n\n");
    };
    let mut index = 0;
    event("response.created", json!({"response": {"status": "in_progress", "error": null}}));
    if !answer.thought.is_empty() {
        let summary = json!([{"type": "summary_text", "text": answer.thought}]);
        let item = json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": SIGNATURE});
        event("response.output_item.added", json!({"output_index": index, "item": {"type": "reasoning"}}));
        event("response.reasoning_summary_text.delta", json!({"output_index": index, "delta": answer.thought}));
        event("response.output_item.done", json!({"output_index": index, "item": item}));
        index += 1;
    }
    if !answer.text.is_empty() {
        let kind = if answer.stop == Stop::Refusal { "refusal" } else { "output_text" };
        for piece in halves(answer.text) {
            event(&format!("response.{kind}.delta"), json!({"output_index": index, "delta": piece}));
        }
        event("response.output_item.done", json!({"output_index": index, "item": {"type": "message"}}));
        index += 1;
    }
    for (at, (id, tool, arguments)) in answer.calls.iter().enumerate() {
        let item =
            |arguments: &str| json!({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments});
        event("response.output_item.added", json!({"output_index": index, "item": item("")}));
        for piece in halves(arguments) {
            event("response.function_call_arguments.delta", json!({"output_index": index, "delta": piece}));
        }
        if answer.stop != Stop::Limit || at + 1 < answer.calls.len() {
            event("response.output_item.done", json!({"output_index": index, "item": item(arguments)}));
        }
        index += 1;
    }
    let details = json!({"cached_tokens": COST.1});
    let usage = json!({"input_tokens": COST.0, "input_tokens_details": details, "output_tokens": COST.2});
    match answer.stop {
        Stop::Limit => {
            let why = json!({"reason": "max_output_tokens"});
            event("response.incomplete", json!({"response": {"incomplete_details": why, "usage": usage}}));
        }
        _ => event("response.completed", json!({"response": {"usage": usage, "error": null}})),
    }
    events
}

fn check_responses(body: &Value) -> Vec<String> {
    assert_eq!((&body["store"], &body["stream"]), (&json!(false), &json!(true)));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert!(body["instructions"].is_string() && body["max_output_tokens"].is_u64());
    assert!(list(&body["tools"]).iter().all(|tool| tool["type"] == "function" && tool["name"].is_string()));
    let mut told: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut model_speaks = false;
    for item in list(&body["input"]) {
        let kind = text(&item["type"]);
        if kind == "function_call_output" {
            let (id, output) = (text(&item["call_id"]), text(&item["output"]));
            assert_eq!(open.first(), Some(&id), "results in the order of their calls");
            open.remove(0);
            told.push(result(&id, output.starts_with("failed: "), &output));
            model_speaks = false;
            continue;
        }
        let own = kind != "message" || item["role"] == "assistant";
        assert!(open.is_empty() || own, "calls without results: {open:?}");
        if own && !std::mem::replace(&mut model_speaks, own) {
            told.push("assistant ".to_owned());
        }
        model_speaks = own;
        match kind.as_str() {
            "reasoning" => assert_eq!(item["encrypted_content"], SIGNATURE, "reasoning goes back as it came"),
            "function_call" => {
                let id = text(&item["call_id"]);
                let arguments: Value = serde_json::from_str(&text(&item["arguments"])).expect("arguments are JSON");
                *told.last_mut().expect("a line") += &format!(" [{id} {} {arguments}]", text(&item["name"]));
                open.push(id);
            }
            "message" => {
                let content = &item["content"][0];
                assert_eq!(content["type"], if own { "output_text" } else { "input_text" });
                match own {
                    true => *told.last_mut().expect("a line") += &text(&content["text"]),
                    false => told.push(format!("user {}", text(&content["text"]))),
                }
            }
            other => panic!("no such item: {other}"),
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
    told
}

// ---- Anthropic's messages

fn anthropic_events(answer: &Answer) -> String {
    let mut events = String::new();
    let mut event = |kind: &str, mut value: Value| {
        value["type"] = kind.into();
        events += &format!("event: {kind}\ndata: {value}\n\n");
    };
    let fresh = COST.0 - COST.1;
    let usage =
        json!({"input_tokens": fresh - 10, "cache_creation_input_tokens": 10, "cache_read_input_tokens": COST.1});
    event("message_start", json!({"message": {"usage": usage}}));
    event("ping", json!({}));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        event("content_block_start", json!({"index": index, "content_block": start}));
        for delta in deltas {
            event("content_block_delta", json!({"index": index, "delta": delta}));
        }
        event("content_block_stop", json!({"index": index}));
        index += 1;
    };
    if !answer.thought.is_empty() {
        let mut deltas: Vec<Value> =
            halves(answer.thought).iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
        deltas.push(json!({"type": "signature_delta", "signature": SIGNATURE}));
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
    }
    if !answer.text.is_empty() {
        let delta = |piece: &&str| json!({"type": "text_delta", "text": piece});
        block(json!({"type": "text", "text": ""}), halves(answer.text).iter().map(delta).collect());
    }
    for (id, tool, arguments) in &answer.calls {
        let delta = |piece: &&str| json!({"type": "input_json_delta", "partial_json": piece});
        let start = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
        block(start, halves(arguments).iter().map(delta).collect());
    }
    let why = match (answer.stop, answer.calls.is_empty()) {
        (Stop::Limit, _) => "max_tokens",
        (Stop::Refusal, _) => "refusal",
        (_, false) => "tool_use",
        _ => "end_turn",
    };
    event("message_delta", json!({"delta": {"stop_reason": why}, "usage": {"output_tokens": COST.2}}));
    event("message_stop", json!({}));
    events
}

fn check_anthropic(body: &Value) -> Vec<String> {
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}), "tools and rules are cached");
    let marks = body.to_string().matches("cache_control").count();
    assert!((2..=4).contains(&marks), "{marks} marks");
    assert!(list(&body["tools"]).iter().all(|tool| tool["input_schema"]["type"] == "object"));
    let messages = list(&body["messages"]);
    let last = messages.last().expect("a message");
    let blocks = list(&last["content"]);
    assert!(blocks.last().expect("a block").get("cache_control").is_some(), "the end is cached: {last}");
    let mut told: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "roles take turns, the user's first");
        let blocks = list(&message["content"]);
        assert!(!blocks.is_empty(), "an empty message");
        if role == "assistant" {
            told.push("assistant ".to_owned());
        }
        for (place, block) in blocks.iter().enumerate() {
            match text(&block["type"]).as_str() {
                "text" if role == "user" => {
                    assert!(open.is_empty(), "results come first: {message}");
                    told.push(format!("user {}", text(&block["text"])));
                }
                "text" => *told.last_mut().expect("a line") += &text(&block["text"]),
                "thinking" => {
                    assert_eq!(place, 0, "thinking comes first");
                    assert_eq!(block["signature"], SIGNATURE);
                    assert!(block["thinking"].as_str().is_some_and(|text| !text.is_empty()), "{block}");
                }
                "tool_use" => {
                    let id = text(&block["id"]);
                    assert!(block["input"].is_object() && !open.contains(&id), "{block}");
                    *told.last_mut().expect("a line") +=
                        &format!(" [{id} {} {}]", text(&block["name"]), block["input"]);
                    open.push(id);
                }
                "tool_result" => {
                    let id = text(&block["tool_use_id"]);
                    assert_eq!(open.first(), Some(&id), "results in the order of their calls");
                    open.remove(0);
                    told.push(result(&id, block["is_error"] == true, &text(&block["content"])));
                }
                other => panic!("no such block: {other}"),
            }
        }
        assert!(role == "assistant" || open.is_empty(), "calls without results: {open:?}");
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
    told
}

// ---- Gemini

fn gemini_events(answer: &Answer) -> String {
    let mut chunks: Vec<Value> = Vec::new();
    if !answer.thought.is_empty() {
        chunks.push(json!({"text": answer.thought, "thought": true}));
    }
    chunks.extend(halves(answer.text).iter().filter(|piece| !piece.is_empty()).map(|piece| json!({"text": piece})));
    for (at, (id, tool, arguments)) in answer.calls.iter().enumerate() {
        // A call comes whole or not at all.
        let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { continue };
        let mut call = json!({"name": tool, "args": arguments});
        if !id.is_empty() {
            call["id"] = (*id).into();
        }
        let mut part = json!({"functionCall": call});
        if at == 0 && !answer.thought.is_empty() {
            part["thoughtSignature"] = SIGNATURE.into();
        }
        chunks.push(part);
    }
    let why = match answer.stop {
        Stop::Done => "STOP",
        Stop::Limit => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    };
    let usage = json!({"promptTokenCount": COST.0, "cachedContentTokenCount": COST.1, "candidatesTokenCount": COST.2});
    let content = |part: &Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
    let mut events: String = chunks.iter().map(|part| data(&content(part))).collect();
    events += &data(&json!({"candidates": [{"finishReason": why}], "usageMetadata": usage}));
    events
}

fn check_gemini(body: &Value) -> Vec<String> {
    assert!(body["systemInstruction"]["parts"][0]["text"].is_string());
    let declared = list(&body["tools"][0]["functionDeclarations"]);
    assert!(declared.iter().all(|tool| tool["name"].is_string() && tool.get("parameters").is_none()));
    let mut told: Vec<String> = Vec::new();
    let mut open: Vec<(String, String)> = Vec::new();
    for (at, content) in list(&body["contents"]).iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "model" };
        assert_eq!(content["role"], role, "roles take turns, the user's first");
        if role == "model" {
            told.push("assistant ".to_owned());
        }
        for part in list(&content["parts"]) {
            assert_ne!(part["thought"], true, "thoughts stay where they were");
            if let Some(call) = part.get("functionCall") {
                if open.is_empty() {
                    assert!(part["thoughtSignature"].is_string(), "the first call of a turn is signed: {part}");
                }
                let id = call["id"].as_str().unwrap_or("call").to_owned();
                assert!(call["args"].is_object(), "{part}");
                *told.last_mut().expect("a line") += &format!(" [{id} {} {}]", text(&call["name"]), call["args"]);
                open.push((id, text(&call["name"])));
            } else if let Some(response) = part.get("functionResponse") {
                let (id, name) = open.remove(0);
                assert_eq!(response["name"], name, "results in the order of their calls");
                assert_eq!(response["id"].as_str().unwrap_or("call"), id);
                let (failed, said) = match &response["response"] {
                    given if given["error"].is_string() => (true, text(&given["error"])),
                    given => (false, text(&given["output"])),
                };
                told.push(result(&id, failed, &said));
            } else if role == "user" {
                assert!(open.is_empty(), "results come first");
                told.push(format!("user {}", text(&part["text"])));
            } else {
                *told.last_mut().expect("a line") += &text(&part["text"]);
            }
        }
        assert!(role == "model" || open.is_empty(), "calls without results: {open:?}");
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
    told
}
