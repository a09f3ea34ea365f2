//! What is the same for every dialect.

use super::*;
use crate::llm::endpoint::{RemoteConfig, resolve};

fn endpoint(provider: Provider, model: &str, base: &str) -> Endpoint {
    let mut config = RemoteConfig::new(provider, model);
    (config.base_url, config.api_key) = (Some(base.to_owned()), Some("k".to_owned()));
    resolve(&config, &|_| None).unwrap()
}

#[test]
fn a_query_of_the_address_is_kept_and_the_limit_has_the_name_that_the_model_knows() {
    let at = |provider, base| url(&endpoint(provider, "m", base));
    assert_eq!(at(Provider::OpenAiCompatible, "http://h/v1?a=b"), "http://h/v1/chat/completions?a=b");
    assert_eq!(at(Provider::Gemini, "http://h/v1?a=b"), "http://h/v1/models/m:streamGenerateContent?alt=sse&a=b");
    let question = WireRequest {
        system: "s",
        messages: &[],
        tools: &[],
        grows: false,
        max_tokens: 7,
        temperature: None,
        schema: None,
    };
    let asked = |provider, model| body(&endpoint(provider, model, "http://h/v1"), &question);
    assert_eq!(asked(Provider::OpenAiCompatible, "qwen")["max_tokens"], 7);
    assert_eq!(asked(Provider::OpenAiCompatible, "openai/gpt-5-mini")["max_completion_tokens"], 7);
    assert_eq!(asked(Provider::OpenAi, "gpt-4o")["max_completion_tokens"], 7);
}

#[test]
fn what_is_not_known_says_nothing_and_what_is_no_json_is_an_error() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let at = endpoint(provider, "m", "http://h/v1");
        for data in [r#"{"choices": 7}"#, "[]", "7", "null", r#"{"type": "ping"}"#, r#"{"usage": {"x": -1}}"#] {
            assert_eq!(read(&at, data.as_bytes()), Ok(StreamEvent::default()), "{data}");
        }
        assert!(read(&at, b"<html>").is_err() && read(&at, &[0xff]).is_err());
        assert!(read(&at, br#"{"error": {"code": 429}}"#).unwrap().error.is_some());
    }
}
