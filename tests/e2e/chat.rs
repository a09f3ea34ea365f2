//! A conversation with a model over each provider's wire, against a server that checks every message it is sent.

use sextant::engine::tool_specs;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::llm::abilities::{Abilities, Style};
use sextant::llm::chat::{ChatInput, ChatMessage, ChatReply, ToolResult, ToolUse};
use sextant::llm::endpoint::{Provider, RemoteConfig};
use sextant::llm::model_options::{Api, ToolWay};
use sextant::llm::remote::RemoteModel;
use sextant::llm::retry::RetryPolicy;
use sextant::llm::step::{Model, ModelError, Spoken, Usage};

use crate::support::model_server::{ModelServer, Reply, Request};
use crate::support::wires::{Answer, COST, SIGNATURE, Stop, WIRES, Wire, says};

/// A conversation as the loop holds it.
struct Talk {
    model: RemoteModel,
    messages: Vec<ChatMessage>,
    heard: String,
    usage: Usage,
}

fn config(wire: Wire, url: &str) -> RemoteConfig {
    let mut config = RemoteConfig::new(wire.provider(), wire.model());
    (config.base_url, config.api_key, config.stall_seconds) = (Some(url.to_owned()), Some("sk-test".to_owned()), 20);
    config.manner.api = (wire == Wire::Responses).then_some(Api::Responses);
    config
}

impl Talk {
    fn with(config: &RemoteConfig) -> Self {
        let quick = RetryPolicy {
            max_attempts: config.max_attempts,
            base: Duration::from_millis(5),
            cap: Duration::from_millis(20),
            patience: Duration::from_secs(5),
        };
        let model = RemoteModel::new(config).expect("a sound configuration").with_retry(quick);
        Self { model, messages: Vec::new(), heard: String::new(), usage: Usage::default() }
    }

    fn new(wire: Wire, server: &ModelServer) -> Self {
        Self::with(&config(wire, &server.url()))
    }

    async fn next(&mut self) -> Result<ChatReply, ModelError> {
        let heard = Mutex::new(String::new());
        let words = |words: Spoken<'_>| heard.lock().expect("lock").push_str(words.text);
        let input = ChatInput { system: "Be brief.", messages: &self.messages, tools: tool_specs() };
        let (reply, usage) = self.model.chat(&input, &words).await;
        self.heard.push_str(&heard.into_inner().expect("lock"));
        self.usage.add(usage);
        if let Ok(reply) = &reply {
            // As it is kept and read again by another process.
            let kept = serde_json::to_value(reply).expect("a value");
            self.messages.push(ChatMessage::Model(serde_json::from_value(kept).expect("the same reply")));
        }
        reply
    }

    async fn says(&mut self, text: &str) -> Result<ChatReply, ModelError> {
        self.messages.push(ChatMessage::User(text.to_owned()));
        self.next().await
    }

    /// Answers every use of the last reply; those with a problem fail with it.
    async fn answers(&mut self, text: &str) -> Result<ChatReply, ModelError> {
        let Some(ChatMessage::Model(reply)) = self.messages.last() else { panic!("the model has said nothing") };
        let result = |call: &ToolUse| ToolResult {
            id: call.id.clone(),
            tool: call.tool.clone(),
            ok: call.problem.is_none(),
            text: call.problem.clone().unwrap_or_else(|| text.to_owned()),
        };
        let results = reply.uses.iter().map(result).collect();
        self.messages.push(ChatMessage::Results(results));
        self.next().await
    }
}

async fn serve(wire: Wire, answers: &[Answer]) -> ModelServer {
    ModelServer::start(answers.iter().map(|answer| wire.reply(answer))).await
}

/// The second request begins as the first did, apart from the marks of what is cached.
fn goes_on(wire: Wire, first: &Request, second: &Request) {
    let plain = |request: &Request| -> Vec<Value> {
        let mut messages = wire.messages(request);
        let contents = messages.iter_mut().filter_map(|message| message["content"].as_array_mut());
        for block in contents.flatten().filter_map(Value::as_object_mut) {
            block.remove("cache_control");
        }
        messages
    };
    let (before, after) = (plain(first), plain(second));
    assert!(after.len() > before.len(), "{wire:?}");
    assert_eq!(after[..before.len()], before[..], "{wire:?}: what was sent is only added to");
    for part in ["tools", "system", "instructions", "systemInstruction"] {
        assert_eq!(first.body[part], second.body[part], "{wire:?}: {part}");
    }
}

#[tokio::test]
async fn calls_run_in_parallel_and_every_result_goes_back_on_every_wire() {
    for wire in WIRES {
        let first = says("I look first.")
            .thinking("f is in é.py")
            .calling("a1", "read_file", "{\"path\":\"é.py\"}")
            .calling("b2", "rm", "{\"path\":\"/\"}")
            .calling("c3", "search", "{\"pattern\":\"f\",\"path\":\"src\"}");
        let second = says("").thinking("now the other").calling("d4", "read_file", "{\"path\":\"b.py\"}");
        let server = serve(wire, &[first, second, says("Done.")]).await;
        let mut talk = Talk::new(wire, &server);
        let reply = talk.says("fix f").await.expect("a reply");
        assert_eq!((reply.text.as_str(), reply.uses.len(), reply.cut), ("I look first.", 3, false), "{wire:?}");
        assert_eq!((reply.uses[0].id.as_str(), &reply.uses[0].parameters), ("a1", &json!({"path": "é.py"})));
        assert!(reply.uses[1].problem.as_ref().is_some_and(|why| why.contains("there is no tool `rm`")));
        assert!(talk.answers("the text").await.expect("a reply").text.is_empty());
        assert_eq!(talk.answers("more").await.expect("a reply").text, "Done.");
        assert_eq!(talk.heard, "I look first.Done.", "{wire:?}: reasoning is no part of the answer");
        let usage = Usage {
            calls: 3,
            prompt_tokens: 3 * COST.0,
            completion_tokens: 3 * COST.2,
            cached_tokens: 3 * COST.1,
            estimated: false,
        };
        assert_eq!(talk.usage, usage, "{wire:?}");

        let requests = server.requests();
        let told = wire.check(&requests[2]);
        let no_tool = format!("b2 failed: there is no tool `rm`; the tools are {}", names());
        assert_eq!(
            told,
            [
                "user fix f",
                "assistant I look first. [a1 read_file {\"path\":\"é.py\"}] [b2 rm {\"path\":\"/\"}] \
                 [c3 search {\"pattern\":\"f\",\"path\":\"src\"}]",
                "a1 ok: the text",
                &no_tool,
                "c3 ok: the text",
                "assistant  [d4 read_file {\"path\":\"b.py\"}]",
                "d4 ok: more",
            ],
            "{wire:?}"
        );
        let kept = if matches!(wire, Wire::Chat | Wire::Ollama) { "now the other" } else { SIGNATURE };
        assert!(requests[2].body.to_string().contains(kept), "{wire:?}: what the provider wants back goes back");
        requests.iter().for_each(|request| drop(wire.check(request)));
        goes_on(wire, &requests[0], &requests[1]);
        goes_on(wire, &requests[1], &requests[2]);
    }
}

fn names() -> String {
    tool_specs().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn a_call_that_is_cut_off_is_told_and_loses_none_before_it() {
    for wire in WIRES {
        let first = says("Both.")
            .calling("a1", "read_file", "{\"path\":\"a.py\"}")
            .calling("b2", "edit_file", "{\"path\":\"a.py\",\"old_string\":\"x\",\"new_str")
            .stopped(Stop::Limit);
        let server = serve(wire, &[first, says("Smaller, then.")]).await;
        let mut talk = Talk::new(wire, &server);
        let reply = talk.says("fix f").await.expect("a reply");
        assert!(reply.cut && reply.uses[0].problem.is_none(), "{wire:?}: {reply:?}");
        // Gemini sends a call whole or not at all.
        if wire != Wire::Gemini {
            let why = reply.uses[1].problem.as_deref().unwrap_or_default();
            assert!(why.contains("limit of tokens") && why.contains("smaller parts"), "{wire:?}: {why}");
            assert!(reply.uses[1].parameters.as_str().is_some_and(|given| given.contains("old_string")));
        }
        talk.answers("t").await.expect("a reply");
        wire.check(&server.requests()[1]);
    }
}

#[tokio::test]
async fn a_refusal_ends_it_in_the_model_s_words() {
    for wire in WIRES {
        let server = serve(wire, &[says("I cannot help with that.").stopped(Stop::Refusal)]).await;
        match Talk::new(wire, &server).says("do harm").await {
            Err(ModelError::Declined { detail, .. }) => {
                assert!(detail.contains("I cannot help with that."), "{wire:?}: {detail}");
            }
            other => panic!("{wire:?}: {other:?}"),
        }
        assert_eq!(server.requests().len(), 1, "{wire:?}: asking again changes nothing");
    }
}

#[tokio::test]
async fn a_rate_limit_in_mid_conversation_is_waited_for() {
    // The waits of all wires go by together.
    futures::future::join_all(WIRES.map(async |wire| {
        let first = says("").calling("a1", "read_file", "{\"path\":\"a.py\"}");
        let busy = Reply::Status(429, vec![("Retry-After", "1".to_owned())], "slow down".to_owned());
        let server = ModelServer::start([wire.reply(&first), busy, wire.reply(&says("Done."))]).await;
        let mut talk = Talk::new(wire, &server);
        talk.says("fix f").await.expect("a reply");
        assert_eq!(talk.answers("t").await.expect("a reply").text, "Done.");
        let requests = server.requests();
        assert_eq!((requests.len(), talk.usage.calls, talk.usage.prompt_tokens), (3, 3, 2 * COST.0), "{wire:?}");
        assert_eq!(requests[1].body, requests[2].body, "{wire:?}: the same question");
        assert!(requests[2].at - requests[1].at >= Duration::from_secs(1), "{wire:?}");
    }))
    .await;
}

#[tokio::test]
async fn a_stream_that_breaks_in_the_middle_is_asked_for_again_and_half_a_call_never_runs() {
    for wire in WIRES {
        let whole = says("I look first.").calling("a1", "read_file", "{\"path\":\"long/name/of/a/file.py\"}");
        let events = wire.events(&whole);
        let (mut again, mut taken) = (0, 0);
        for bytes in (0..events.len()).step_by(events.len() / 12) {
            let cut = Reply::EventsCut(events.clone(), bytes);
            let server = ModelServer::start([cut, wire.reply(&whole)]).await;
            let mut talk = Talk::new(wire, &server);
            let reply = talk.says("fix f").await.expect("a reply");
            assert_eq!(reply.uses[0].parameters, json!({"path": "long/name/of/a/file.py"}), "{wire:?} {bytes}");
            match server.requests().len() {
                2 => again += 1,
                _ => taken += 1,
            }
            let heard = talk.heard.as_str();
            assert!(heard == "I look first." || heard.ends_with("\nI look first."), "{wire:?} {bytes}: {heard}");
        }
        assert!(again >= 5, "{wire:?}: {again} asked again, {taken} taken as they were");
        let server =
            ModelServer::start([Reply::EventsCut(events.clone(), 40), Reply::EventsCut(events.clone(), 40)]).await;
        assert!(matches!(Talk::new(wire, &server).says("x").await, Err(ModelError::Cut { .. })), "{wire:?}");
    }
}

#[tokio::test]
async fn garbage_is_no_answer_on_any_wire() {
    for wire in WIRES {
        let server = ModelServer::start([Reply::Garbage, wire.reply(&says("Yes."))]).await;
        assert_eq!(Talk::new(wire, &server).says("is it?").await.expect("a reply").text, "Yes.", "{wire:?}");
        let server = ModelServer::start([Reply::Garbage, Reply::Garbage]).await;
        assert!(matches!(Talk::new(wire, &server).says("is it?").await, Err(ModelError::Unusable { .. })));
        let server = serve(wire, &[says(""), says("")]).await;
        match Talk::new(wire, &server).says("is it?").await {
            Err(ModelError::Unusable { problems, .. }) => assert!(problems[0].contains("empty"), "{problems:?}"),
            other => panic!("{wire:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn calls_without_ids_or_with_the_same_one_are_told_apart() {
    for wire in WIRES {
        for (one, two) in [("", ""), ("x", "x")] {
            // Two calls of the same name in one answer, and again in the next.
            let asks =
                || says("").calling(one, "read_file", "{\"path\":\"a\"}").calling(two, "read_file", "{\"path\":\"b\"}");
            let server = serve(wire, &[asks(), asks(), says("Done.")]).await;
            let mut talk = Talk::new(wire, &server);
            talk.says("fix f").await.expect("a reply");
            talk.answers("t").await.expect("a reply");
            talk.answers("t").await.expect("a reply");
            let replies = talk.messages.iter().filter_map(|message| match message {
                ChatMessage::Model(reply) => Some(reply),
                _ => None,
            });
            let ids: Vec<&str> = replies.flat_map(|reply| &reply.uses).map(|call| call.id.as_str()).collect();
            let apart: std::collections::BTreeSet<&&str> = ids.iter().collect();
            assert_eq!((ids.len(), apart.len()), (4, 4), "{wire:?}: {ids:?}");
            wire.check(&server.requests()[2]);
        }
    }
}

#[tokio::test]
async fn errors_of_responses_are_what_they_stand_for() {
    let failed = |code: &str| {
        let error = json!({"code": code, "message": "no"});
        Reply::Events(format!("data: {}\n\n", json!({"type": "response.failed", "response": {"error": error}})))
    };
    let wire = Wire::Responses;
    let server = ModelServer::start([failed("server_error"), failed("rate_limit_exceeded"), wire.reply(&says("Yes."))]);
    let server = server.await;
    assert_eq!(Talk::new(wire, &server).says("is it?").await.expect("a reply").text, "Yes.");
    let server = ModelServer::start([failed("insufficient_quota")]).await;
    assert!(matches!(Talk::new(wire, &server).says("x").await, Err(ModelError::Rejected { status: 429, .. })));
    let stray = Reply::Events("data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}\n\n".to_owned());
    let server = ModelServer::start([stray, wire.reply(&says("Yes."))]).await;
    assert!(Talk::new(wire, &server).says("x").await.is_ok());
}

#[tokio::test]
async fn a_server_that_takes_no_tools_is_spoken_to_in_text_from_then_on() {
    let refusal = Reply::Status(400, Vec::new(), "{\"error\":\"test-m does not support tools\"}".to_owned());
    let call = json!({"text": "I look.", "calls": [{"tool": "read_file", "parameters": {"path": "a.py"}}]});
    let script = [refusal, Reply::Json(call), Reply::Text("It adds one.".to_owned())];
    let server = ModelServer::start(script).await;
    let mut talk = Talk::new(Wire::Ollama, &server);
    let reply = talk.says("what does f do?").await.expect("a reply");
    assert_eq!((reply.text.as_str(), reply.uses.len(), talk.heard.as_str()), ("I look.", 1, "I look."));
    let reply = talk.answers("def f(x): return x + 1").await.expect("prose is an answer");
    assert_eq!((reply.text.as_str(), reply.uses.len()), ("It adds one.", 0));
    assert_eq!(talk.heard, "I look.It adds one.", "prose is heard too");
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "the tools are offered once");
    assert!(requests[0].body["tools"].is_array() && requests[1].body.get("tools").is_none());
    let last = &requests[2];
    assert!(last.said_by("system").starts_with("Be brief.") && last.said_by("system").contains("read_file(path"));
    assert_eq!(
        last.said_by("assistant"),
        serde_json::to_string(&json!({
            "text": "I look.", "calls": [{"tool": "read_file", "parameters": {"path": "a.py"}}]
        }))
        .expect("text")
    );
    assert_eq!(last.said_by("user"), "Result of read_file (ok):\ndef f(x): return x + 1");
    assert_eq!(last.body["response_format"]["json_schema"]["name"], "chat_reply");
}

#[tokio::test]
async fn tools_can_be_told_in_text_by_option_and_a_call_in_the_text_is_a_call() {
    let server =
        ModelServer::start([Reply::Text("Half: {\"calls\": [".to_owned()), Reply::Text("Yes.".to_owned())]).await;
    let mut config = config(Wire::Chat, &server.url());
    (config.manner.tools, config.manner.schema) = (ToolWay::Json, false);
    let mut talk = Talk::with(&config);
    assert_eq!(talk.says("is it?").await.expect("a reply").text, "Yes.");
    let requests = server.requests();
    assert!(requests[1].said_by("user").contains("cut off") && requests[1].body.get("response_format").is_none());

    let call = "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.py\"}}\n```";
    let server = serve(Wire::Chat, &[says(call)]).await;
    let reply = Talk::new(Wire::Chat, &server).says("look").await.expect("a reply");
    assert_eq!((reply.uses[0].tool.as_str(), reply.text.as_str()), ("read_file", ""));
}

#[tokio::test]
async fn a_default_limit_that_is_too_high_is_lowered_once() {
    let refusal = "{\"error\":{\"message\":\"max_tokens: 16384 > 8192, which is the maximum allowed\"}}".to_owned();
    let wire = Wire::Anthropic;
    let server = ModelServer::start([Reply::Status(400, Vec::new(), refusal), wire.reply(&says("Yes."))]).await;
    let mut config = config(wire, &server.url());
    config.manner.context = Some(200_000);
    assert!(Talk::with(&config).says("is it?").await.is_ok());
    let sent: Vec<Value> = server.requests().iter().map(|request| request.body["max_tokens"].clone()).collect();
    assert_eq!(sent, [16_384, 4096]);
}

#[tokio::test]
async fn how_hard_to_think_is_said_in_each_provider_s_words() {
    for (wire, path, wanted) in [
        (Wire::Chat, "/reasoning_effort", json!("low")),
        (Wire::Responses, "/reasoning", json!({"effort": "low", "summary": "auto"})),
        (Wire::Anthropic, "/thinking", json!({"type": "adaptive", "display": "summarized"})),
        (Wire::Gemini, "/generationConfig/thinkingConfig", json!({"thinkingLevel": "low", "includeThoughts": true})),
    ] {
        let server = serve(wire, &[says("Yes.").thinking("Is it?")]).await;
        let mut config = config(wire, &server.url());
        (config.manner.reasoning_effort, config.manner.show_reasoning) = (Some("low".to_owned()), true);
        let mut talk = Talk::with(&config);
        let reply = talk.says("is it?").await.expect("a reply");
        assert_eq!(server.requests()[0].body.pointer(path), Some(&wanted), "{wire:?}");
        assert_eq!(
            (reply.text.as_str(), talk.heard.as_str()),
            ("Yes.", "Is it?\nYes."),
            "{wire:?}: shown, not answered"
        );
    }
    let server = serve(Wire::Anthropic, &[says("Yes.")]).await;
    let mut config = config(Wire::Anthropic, &server.url());
    (config.model, config.max_tokens) = ("claude-sonnet-4-5".to_owned(), Some(4096));
    (config.manner.reasoning_effort, config.manner.temperature) = (Some("high".to_owned()), Some(0.2));
    Talk::with(&config).says("is it?").await.expect("a reply");
    let body = &server.requests()[0].body;
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 3072}), "room for the answer is left");
    assert!(body.get("temperature").is_none());
}

#[tokio::test]
async fn a_server_is_asked_once_for_what_its_model_can() {
    let server = serve(Wire::Chat, &[says("Yes.")]).await;
    server.tells("/v1/models", json!({"data": [{"id": "test-m", "owned_by": "vllm", "max_model_len": 65536}]}));
    let mut talk = Talk::new(Wire::Chat, &server);
    for _ in 0..2 {
        assert_eq!(talk.model.abilities().await, Abilities { style: Style::Step, context: 65_536 });
    }
    assert_eq!(server.looks().len(), 1);
    talk.says("is it?").await.expect("a reply");
    assert_eq!(server.requests()[0].body["max_tokens"], 16_384, "whole files fit");

    let server = ModelServer::start([]).await;
    server
        .tells("/v1/models", json!({"data": [{"id": "x.gguf", "owned_by": "llamacpp", "meta": {"n_params": 1.5e9}}]}));
    server.tells("/props", json!({"default_generation_settings": {"n_ctx": 4096}}));
    let small = Talk::new(Wire::Chat, &server).model.abilities().await;
    assert_eq!(small, Abilities { style: Style::Compact, context: 4096 });

    let server = ModelServer::start([]).await;
    let mut config = config(Wire::Ollama, &server.url());
    config.manner.keep_alive = Some("30m".to_owned());
    server.tells("/api/show", json!({"details": {"parameter_size": "32B"}}));
    server.tells("/api/ps", json!({"models": [{"model": "test-m:latest", "context_length": 32768}]}));
    let talk = Talk::with(&config);
    for _ in 0..3 {
        assert_eq!(talk.model.abilities().await, Abilities { style: Style::Conversation, context: 32_768 });
    }
    server.looks_seen(3).await;
    let looks = server.looks();
    let kept: Vec<&Request> = looks.iter().filter(|look| look.path == "/api/generate").collect();
    let [kept] = kept[..] else { panic!("told once to keep it: {looks:?}") };
    assert_eq!(kept.body, json!({"model": "test-m", "keep_alive": "30m"}));
}

#[tokio::test]
async fn what_is_set_is_not_asked_for_and_silence_is_the_table() {
    let server = ModelServer::start([]).await;
    let mut set = config(Wire::Chat, &server.url());
    (set.manner.style, set.manner.context) = (Some(Style::Compact), Some(2048));
    let abilities = Talk::with(&set).model.abilities().await;
    assert_eq!((abilities, server.looks().len()), (Abilities { style: Style::Compact, context: 2048 }, 0));
    let nobody = config(Wire::Chat, "http://127.0.0.1:9/v1");
    assert_eq!(Talk::with(&nobody).model.abilities().await, Abilities::default());
    let mut own = RemoteConfig::new(Provider::ANTHROPIC, "claude-sonnet-4-5");
    own.api_key = Some("k".to_owned());
    let strong = RemoteModel::new(&own).expect("a sound configuration").abilities().await;
    assert_eq!(strong, Abilities { style: Style::Conversation, context: 200_000 });
}
