//! Gemini's `streamGenerateContent`: parts, calls as objects, thoughts beside the answer and signatures on its parts.

use serde_json::{Value, json};

use crate::answer::{Piece, is_ours};
use crate::chat::{ToolResult, ToolUse};
use crate::dialect::turns::{self, ReplyPart, Turn};
use crate::dialect::{Dialect, Stop, StreamEvent, WireRequest, declared, tag};
use crate::endpoint::{Endpoint, ProviderFacts};
use crate::tools::ToolSpec;

pub(super) const GEMINI: ProviderFacts = ProviderFacts {
    name: "gemini",
    aliases: &[],
    home: Some("https://generativelanguage.googleapis.com/v1beta/"),
    api_path: "/",
    key_variable: Some("GEMINI_API_KEY"),
    always_needs_key: true,
};

pub(super) const DIALECT: Dialect = Dialect {
    path: |endpoint| format!("models/{}:streamGenerateContent?alt=sse", endpoint.model),
    key_header: Some("x-goog-api-key"),
    headers: &[],
    body,
    read,
};

/// The slots of text and of the first call: parts of a stream have no numbers of their own.
const TEXT: u64 = 1;
const CALLS: u64 = 2;
/// The value that the provider accepts as a signature of a call that was not its own.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

fn body(endpoint: &Endpoint, question: &WireRequest) -> Value {
    let mut generation = json!({"maxOutputTokens": question.max_tokens});
    if let Some(temperature) = question.temperature {
        generation["temperature"] = temperature.into();
    }
    if let Some((_, schema)) = question.schema {
        generation["responseMimeType"] = "application/json".into();
        generation["responseJsonSchema"] = schema.clone();
    }
    if let Some(thinking) = thinking(endpoint, question) {
        generation["thinkingConfig"] = thinking;
    }
    let mut body = json!({
        "systemInstruction": {"parts": [{"text": question.system}]},
        "contents": contents(question, &tag(endpoint)),
        "generationConfig": generation,
    });
    if !question.tools.is_empty() {
        let tool = |tool: &ToolSpec| {
            // Gemini refuses a tool without a description.
            let mut declared = json!({"name": tool.name, "description": declared::purpose(tool).unwrap_or(&tool.name)});
            // An object without properties is refused.
            if tool.shown().next().is_some() {
                declared["parametersJsonSchema"] = declared::parameters(tool);
            }
            declared
        };
        let declarations: Vec<Value> = question.tools.iter().map(tool).collect();
        body["tools"] = json!([{"functionDeclarations": declarations}]);
    }
    body
}

/// The turns as contents of alternating roles.
fn contents(question: &WireRequest, tag: &str) -> Vec<Value> {
    let mut sides: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns::turns(question.messages) {
        let (role, parts) = match turn {
            Turn::User(text) => ("user", vec![json!({"text": text})]),
            Turn::Model(reply) => ("model", sent(&turns::parts(reply, tag), third_generation(tag))),
            Turn::Results(results) => ("user", results.iter().map(|result| response(result)).collect()),
        };
        match sides.last_mut() {
            Some((last, before)) if *last == role => before.extend(parts),
            _ => sides.push((role, parts)),
        }
    }
    sides.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

/// From its third generation on, a model refuses a turn whose first call has no signature. It takes a level of thinking
/// rather than a number of tokens.
fn third_generation(model: &str) -> bool {
    let number = model.rsplit_once("gemini-").and_then(|(_, rest)| rest.split(['.', '-']).next()?.parse::<u32>().ok());
    number.is_some_and(|number| number >= 3)
}

fn thinking(endpoint: &Endpoint, question: &WireRequest) -> Option<Value> {
    let mut config = json!({});
    match question.reasoning.effort {
        Some("none") if third_generation(&endpoint.model) => config["thinkingLevel"] = "minimal".into(),
        Some(effort) if third_generation(&endpoint.model) => config["thinkingLevel"] = effort.into(),
        // The provider's own number of tokens for each effort.
        Some(effort) => {
            let budget = match effort {
                "none" => 0,
                "minimal" | "low" => 1024,
                "medium" => 8192,
                _ => 24_576,
            };
            config["thinkingBudget"] = budget.into();
        }
        None => {}
    }
    if question.reasoning.shown {
        config["includeThoughts"] = true.into();
    }
    config.as_object().is_some_and(|set| !set.is_empty()).then_some(config)
}

fn sent(parts: &[(u64, ReplyPart)], needed: bool) -> Vec<Value> {
    let mut sent: Vec<Value> = Vec::new();
    // A signature belongs to the part at its slot, which follows it.
    let mut signature: Option<&Value> = None;
    let mut signed = false;
    for (_, part) in parts {
        let mut value = match part {
            ReplyPart::Kept(kept) => {
                signature = kept.get("thoughtSignature");
                continue;
            }
            ReplyPart::Text(text) => json!({"text": text}),
            ReplyPart::Use(call) => function(call),
        };
        let first_call = matches!(part, ReplyPart::Use(_)) && !std::mem::replace(&mut signed, true);
        match signature.take() {
            Some(signature) => value["thoughtSignature"] = signature.clone(),
            // The first call of a turn needs one.
            None if first_call && needed => value["thoughtSignature"] = NO_SIGNATURE.into(),
            None => {}
        }
        sent.push(value);
    }
    sent
}

fn function(call: &ToolUse) -> Value {
    let mut function = json!({"name": call.tool, "args": turns::given(call)});
    if !is_ours(&call.id) {
        function["id"] = call.id.clone().into();
    }
    json!({"functionCall": function})
}

fn response(result: &ToolResult) -> Value {
    // The provider's own names for output and error.
    let key = if result.ok { "output" } else { "error" };
    let mut response = json!({"name": result.tool, "response": {key: result.text}});
    if !is_ours(&result.id) {
        response["id"] = result.id.clone().into();
    }
    json!({"functionResponse": response})
}

fn read(event: &Value) -> StreamEvent {
    let candidate = &event["candidates"][0];
    let mut pieces = Vec::new();
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        take(part, &mut pieces);
    }
    let usage = &event["usageMetadata"];
    let thoughts = usage["thoughtsTokenCount"].as_u64().unwrap_or(0);
    StreamEvent {
        pieces,
        stopped: stopped(event, candidate),
        prompt_tokens: usage["promptTokenCount"].as_u64(),
        completion_tokens: usage["candidatesTokenCount"].as_u64().map(|count| count.saturating_add(thoughts)),
        cached_tokens: usage["cachedContentTokenCount"].as_u64(),
        ..StreamEvent::default()
    }
}

fn take(part: &Value, pieces: &mut Vec<Piece>) {
    let signature = part.get("thoughtSignature").filter(|signature| signature.is_string());
    if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
        let text = |name: &str| call[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let arguments = if call["args"].is_object() { call["args"].to_string() } else { "{}".to_owned() };
        let keep = signature.map(|signature| ("thoughtSignature", signature.clone()));
        let (id, tool) = (text("id"), Some(text("name").unwrap_or_default()));
        pieces.push(Piece::Call { slot: None, from: CALLS, id, tool, arguments, keep });
        return;
    }
    let text = part["text"].as_str().unwrap_or_default();
    // A thought is not part of the answer.
    if part["thought"] == json!(true) {
        pieces.push(Piece::Reasoning(text.to_owned()));
        return;
    }
    if let Some(signature) = signature {
        let (field, value) = ("thoughtSignature".to_owned(), signature.clone());
        pieces.push(Piece::Set { slot: TEXT, field, value });
    }
    if !text.is_empty() {
        pieces.push(Piece::Text { slot: TEXT, text: text.to_owned() });
    }
}

fn stopped(event: &Value, candidate: &Value) -> Option<Stop> {
    if let Some(why) = event["promptFeedback"]["blockReason"].as_str() {
        return Some(Stop::Declined(format!("the provider's filter refused the question ({why})")));
    }
    let why = candidate["finishReason"].as_str()?;
    let message = candidate["finishMessage"].as_str().unwrap_or_default();
    Some(match why {
        "MAX_TOKENS" => Stop::Limit,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
            Stop::Declined(format!("the provider's filter stopped the answer ({why}) {message}").trim_end().to_owned())
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            Stop::Malformed(format!("the call could not be read ({why}) {message}").trim_end().to_owned())
        }
        _ => Stop::Done,
    })
}
