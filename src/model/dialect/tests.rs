//! The properties that all dialects share.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::answer::{AnswerEnd, AnswerParts};
use crate::chat::ToolResult;
use crate::endpoint::{RemoteConfig, resolve};
use crate::tools::sample_tools;

fn endpoint(provider: Provider, model: &str, base: &str) -> Endpoint {
    let mut config = RemoteConfig::new(provider, model);
    (config.base_url, config.api_key) = (Some(base.to_owned()), Some("k".to_owned()));
    resolve(&config, &|_| None).unwrap()
}

#[test]
fn a_query_of_the_address_is_kept_and_the_limit_has_the_name_that_the_model_knows() {
    let at = |provider, base| url(&endpoint(provider, "m", base));
    assert_eq!(at(Provider::COMPATIBLE, "http://h/v1?a=b"), "http://h/v1/chat/completions?a=b");
    assert_eq!(at(Provider::GEMINI, "http://h/v1?a=b"), "http://h/v1/models/m:streamGenerateContent?alt=sse&a=b");
    let question = WireRequest {
        system: "s",
        messages: &[],
        tools: &[],
        grows: false,
        max_tokens: 7,
        temperature: None,
        schema: None,
        reasoning: Reasoning::default(),
    };
    let asked = |provider, model| body(&endpoint(provider, model, "http://h/v1"), &question);
    assert_eq!(asked(Provider::COMPATIBLE, "qwen")["max_tokens"], 7);
    assert_eq!(asked(Provider::COMPATIBLE, "openai/gpt-5-mini")["max_completion_tokens"], 7);
    assert_eq!(asked(Provider::OPENAI, "gpt-4o")["max_completion_tokens"], 7);
}

#[test]
fn what_is_cached_is_marked_where_a_server_passes_the_marks_on() {
    let messages = [ChatMessage::User("do".into())];
    let question = WireRequest {
        system: "s",
        messages: &messages,
        tools: &[],
        grows: true,
        max_tokens: 7,
        temperature: None,
        schema: None,
        reasoning: Reasoning::default(),
    };
    let asked = |model, base| body(&endpoint(Provider::COMPATIBLE, model, base), &question)["messages"].clone();
    let marked = asked("anthropic/claude-sonnet-4.5", "https://openrouter.ai/api/v1");
    for (at, text) in [(0, "s"), (1, "do")] {
        let part = json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        assert_eq!(marked[at]["content"], json!([part]));
    }
    assert_eq!(asked("openai/gpt-5", "https://openrouter.ai/api/v1")[1]["content"], "do");
    assert_eq!(asked("anthropic/claude-sonnet-4.5", "http://h/v1")[1]["content"], "do");
}

#[test]
fn what_is_not_known_says_nothing_and_what_is_no_json_is_an_error() {
    for provider in [Provider::OPENAI, Provider::ANTHROPIC, Provider::GEMINI] {
        let at = endpoint(provider, "m", "http://h/v1");
        for data in [r#"{"choices": 7}"#, "[]", "7", "null", r#"{"type": "ping"}"#, r#"{"usage": {"x": -1}}"#] {
            assert_eq!(read(&at, data.as_bytes()), Ok(StreamEvent::default()), "{data}");
        }
        assert!(read(&at, b"<html>").is_err() && read(&at, &[0xff]).is_err());
        assert!(read(&at, br#"{"error": {"code": 429}}"#).unwrap().error.is_some());
    }
}

#[test]
fn a_provider_is_found_by_its_names_alone() {
    let read = |name: &str| serde_json::from_value::<Provider>(json!(name)).map_err(|error| error.to_string());
    for (facts, _) in PROVIDERS {
        assert_eq!(read(facts.name), Ok(Provider(facts)));
        assert_eq!(PROVIDERS.iter().filter(|(other, _)| other.name == facts.name).count(), 1, "{}", facts.name);
    }
    assert_eq!(read("openai-compatible"), Ok(Provider::COMPATIBLE));
    let unknown = read("openia").expect_err("unknown");
    assert!(
        unknown.starts_with("unknown variant `openia`, expected one of `openai`, `openai_compatible`"),
        "{unknown}"
    );
}

/// Every dialect's address.
fn endpoints() -> Vec<Endpoint> {
    let chat = [Provider::OPENAI, Provider::OLLAMA, Provider::ANTHROPIC, Provider::GEMINI];
    let mut all: Vec<Endpoint> = chat.map(|provider| endpoint(provider, "gemini-3-x", "http://h/v1")).into();
    all.push(Endpoint { api: Api::Responses, ..endpoint(Provider::OPENAI, "gpt-5", "http://h/v1") });
    all
}

/// The names that the dialects know, and words that stand under them.
const KEYS: &[&str] = &[
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "index",
    "id",
    "function",
    "name",
    "arguments",
    "usage",
    "finish_reason",
    "reasoning_content",
    "reasoning_details",
    "extra_content",
    "refusal",
    "prompt_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "type",
    "content_block",
    "input",
    "text",
    "partial_json",
    "thinking",
    "signature",
    "stop_reason",
    "input_tokens",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "thoughtSignature",
    "thought",
    "finishReason",
    "promptFeedback",
    "blockReason",
    "usageMetadata",
    "output_index",
    "item",
    "call_id",
    "response",
    "incomplete_details",
    "reason",
    "error",
    "code",
];
const WORDS: &[&str] = &[
    "",
    "é",
    "{",
    "{}",
    "{\"pattern\":\"x\"}",
    "search",
    "rm",
    "length",
    "stop",
    "content_filter",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "tool_use",
    "thinking",
    "redacted_thinking",
    "text",
    "input_json_delta",
    "thinking_delta",
    "signature_delta",
    "max_tokens",
    "refusal",
    "MAX_TOKENS",
    "SAFETY",
    "MALFORMED_FUNCTION_CALL",
    "response.output_text.delta",
    "response.output_item.added",
    "response.output_item.done",
    "response.function_call_arguments.delta",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "function_call",
    "reasoning",
    "call00001",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()].prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        let key = proptest::sample::select(KEYS).prop_map(str::to_owned);
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            4 => proptest::collection::vec((key, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_that_a_server_sends_makes_it_panic(
        events in proptest::collection::vec(value(), 0..8), bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        for at in endpoints() {
            let _ = read(&at, &bytes);
            let mut parts = AnswerParts::default();
            for event in &events {
                let parsed = read(&at, event.to_string().as_bytes()).expect("JSON");
                parsed.pieces.into_iter().for_each(|piece| parts.add(piece));
            }
            for ending in [AnswerEnd::Whole, AnswerEnd::Limit, AnswerEnd::Broken] {
                let Some(reply) = parts.clone().reply(&tag(&at), sample_tools::tools(), ending, &[]) else { continue };
                let result = |call: &crate::chat::ToolUse| ToolResult { id: call.id.clone(), ..ToolResult::default() };
                let results = reply.uses.iter().map(result).collect();
                let messages = [ChatMessage::User("do".into()), ChatMessage::Model(reply), ChatMessage::Results(results)];
                let question = WireRequest {
                    system: "s", messages: &messages, tools: sample_tools::tools(), grows: true, max_tokens: 7,
                    temperature: Some(0.5), schema: Some(("s", &json!({}))),
                    reasoning: Reasoning { effort: Some("low"), shown: true },
                };
                prop_assert!(body(&at, &question).is_object());
            }
        }
    }
}
