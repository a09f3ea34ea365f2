//! A remote model against a scripted server: everything that can come over the wire, and nothing else.

use sextant::engine::tool_specs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sextant::llm::endpoint::{Provider, RemoteConfig};
use sextant::llm::input::{PlanInput, StepInput};
use sextant::llm::remote::RemoteModel;
use sextant::llm::retry::RetryPolicy;
use sextant::llm::step::{Model, ModelError, Spoken, StepReply, Usage};

use crate::support::model_server::{Dealing, ModelServer, Reply};

const KEY: &str = "sk-test-4711";

fn answer() -> Value {
    json!({
        "reasoning": "Größe prüfen: “€” – 😀\nthen act",
        "action": {"tool": "edit_symbol", "parameters": {"symbol": "a.py::f", "action": "replace", "content": "def f():\n    return \"ü\"\n"}},
        "continue": true, "confidence": 0.7, "answer": ""
    })
}

fn config(url: &str) -> RemoteConfig {
    let mut config = RemoteConfig::new(Provider::COMPATIBLE, "test-high");
    config.base_url = Some(url.to_owned());
    config.api_key = Some(KEY.to_owned());
    config.stall_seconds = 20;
    config
}

fn model_with(config: &RemoteConfig) -> RemoteModel {
    let quick = RetryPolicy {
        max_attempts: config.max_attempts,
        base: Duration::from_millis(5),
        cap: Duration::from_millis(20),
        patience: Duration::from_secs(5),
    };
    RemoteModel::new(config).expect("a sound configuration").with_retry(quick)
}

fn model(server: &ModelServer) -> RemoteModel {
    model_with(&config(&server.url()))
}

fn question() -> StepInput {
    let mut input = StepInput::default();
    input.context.tools = tool_specs();
    input.context.request.query = "fix f".to_owned();
    input.ask.step = 1;
    input
}

struct Answer {
    reply: Result<StepReply, ModelError>,
    usage: Usage,
    heard: String,
}

async fn ask(model: &RemoteModel) -> Answer {
    let heard = Mutex::new(String::new());
    let words = |words: Spoken<'_>| heard.lock().expect("lock").push_str(words.text);
    let (reply, usage) = model.step(&question(), &words).await;
    let heard = heard.into_inner().expect("lock");
    if let Err(error) = &reply {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY), "the key is shown: {shown}");
    }
    Answer { reply, usage, heard }
}

fn status(status: u16, body: &str) -> Reply {
    Reply::Status(status, Vec::new(), body.to_owned())
}

#[tokio::test]
async fn a_step_is_streamed_whatever_way_the_bytes_are_dealt() {
    for (characters, bytes) in [(7, 4096), (1, 1), (3, 2), (1000, 5), (2, 3)] {
        let server = ModelServer::dealing([Reply::Json(answer())], Dealing { characters, bytes }).await;
        let got = ask(&model(&server)).await;
        let reply = got.reply.expect("a reply");
        assert_eq!(reply.reasoning, answer()["reasoning"], "{characters} characters, {bytes} bytes");
        assert_eq!(got.heard, reply.reasoning, "the words are the decoded reasoning, not JSON");
        let action = reply.action.expect("an action");
        assert_eq!((action.tool.as_str(), &action.parameters), ("edit_symbol", &answer()["action"]["parameters"]));
        assert!(reply.proceed && reply.confidence == 0.7);
        assert_eq!(
            got.usage,
            Usage { calls: 1, prompt_tokens: 111, completion_tokens: 22, cached_tokens: 0, estimated: false }
        );
    }
}

#[tokio::test]
async fn the_request_carries_model_key_schema_and_prompt() {
    let server = ModelServer::start([Reply::Json(answer())]).await;
    ask(&model(&server)).await.reply.expect("a reply");
    let request = &server.requests()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = &request.body;
    assert_eq!(body["model"], "test-high", "the name is sent as it is");
    assert_eq!((&body["stream"], &body["stream_options"]["include_usage"]), (&json!(true), &json!(true)));
    assert_eq!(body["max_tokens"], 4096);
    let format = &body["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!(format["json_schema"]["schema"]["additionalProperties"], false);
    assert!(request.said_by("system").starts_with("You are Sextant"));
    assert!(request.said_by("user").starts_with("Request: fix f"));
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    let server = ModelServer::start([Reply::Json(answer())]).await;
    let mut config = config(&server.url());
    config.api_key = None;
    ask(&model_with(&config)).await.reply.expect("a reply");
    assert_eq!(server.requests()[0].header("authorization"), None);
    assert_eq!(server.requests()[0].path, "/v1/chat/completions");
}

#[tokio::test]
async fn a_plan_is_asked_for_with_its_own_schema() {
    let plan = json!({"title": "T", "reason": "R", "confidence": 0.9, "steps": [
        {"title": "one", "symbols": ["a.py::f"], "because": "b", "expect": "e"}]});
    let server = ModelServer::start([Reply::Json(plan)]).await;
    let heard = Mutex::new(String::new());
    let words = |words: Spoken<'_>| heard.lock().expect("lock").push_str(words.text);
    let mut input = PlanInput::default();
    input.context.tools = tool_specs();
    let (plan, _) = model(&server).plan(&input, &words).await;
    assert_eq!(plan.expect("a plan").steps[0].symbols, ["a.py::f"]);
    assert_eq!(*heard.lock().expect("lock"), "T\nR");
    assert_eq!(server.requests()[0].body["response_format"]["json_schema"]["name"], "plan_reply");
}

#[tokio::test]
async fn a_refused_key_is_said_at_once_and_never_shown() {
    for code in [401, 403] {
        let server =
            ModelServer::start([status(code, &format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}"))]).await;
        let got = ask(&model(&server)).await;
        assert!(matches!(got.reply, Err(ModelError::Unauthorized { status, .. }) if status == code));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn the_server_s_own_words_come_through_without_the_key() {
    let body = format!("{{\"error\":{{\"message\":\"no model for {KEY}\",\"code\":\"model_not_found\"}}}}");
    let server = ModelServer::start([status(404, &body)]).await;
    match ask(&model(&server)).await.reply {
        Err(ModelError::Rejected { status: 404, detail, .. }) => {
            assert_eq!(detail, "no model for (key) (model_not_found)");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    let busy = Reply::Status(429, vec![("Retry-After", "1".to_owned())], "slow down".to_owned());
    let server = ModelServer::start([busy, Reply::Json(answer())]).await;
    let got = ask(&model(&server)).await;
    assert!(got.reply.is_ok());
    let requests = server.requests();
    assert_eq!((requests.len(), got.usage.calls, got.usage.prompt_tokens), (2, 2, 111));
    let waited = requests[1].at - requests[0].at;
    assert!(waited >= Duration::from_secs(1), "waited {waited:?}, our own backoff is 5 ms");
}

#[tokio::test]
async fn a_server_that_asks_for_too_much_is_not_waited_for() {
    let busy = Reply::Status(429, vec![("Retry-After", "3600".to_owned())], String::new());
    let server = ModelServer::start([busy]).await;
    let started = Instant::now();
    let got = ask(&model(&server)).await;
    assert!(matches!(got.reply, Err(ModelError::Busy { status: 429, attempts: 1, .. })));
    assert!(started.elapsed() < Duration::from_secs(60));
    let server =
        ModelServer::start([status(429, "{\"error\":{\"message\":\"no credit\",\"code\":\"insufficient_quota\"}}")])
            .await;
    assert!(matches!(ask(&model(&server)).await.reply, Err(ModelError::Rejected { status: 429, .. })));
    assert_eq!(server.requests().len(), 1, "an empty account does not fill by waiting");
}

#[tokio::test]
async fn attempts_end() {
    let server = ModelServer::start(vec![status(500, "oops"); 9]).await;
    let got = ask(&model(&server)).await;
    match got.reply {
        Err(ModelError::Rejected { status: 500, detail, .. }) => assert_eq!(detail, "oops (4 attempts)"),
        other => panic!("{other:?}"),
    }
    assert_eq!((server.requests().len(), got.usage.calls, got.usage.prompt_tokens), (4, 4, 0));
    let server = ModelServer::start(vec![status(503, ""); 9]).await;
    assert!(matches!(ask(&model(&server)).await.reply, Err(ModelError::Busy { status: 503, attempts: 4, .. })));
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    // Port 9 (discard) of this machine: bound by nobody, so the connection is refused.
    let got = ask(&model_with(&config("http://127.0.0.1:9/v1"))).await;
    match got.reply {
        Err(ModelError::Unreachable { endpoint, detail }) => {
            assert_eq!(endpoint, "http://127.0.0.1:9/v1");
            assert!(detail.to_lowercase().contains("refused"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(got.usage.calls, 4);
}

#[tokio::test]
async fn silence_is_a_stall_before_and_after_the_first_words() {
    futures::future::join_all(["", "{\"reasoning\": \"Hm"].map(async |text| {
        let server = ModelServer::start([Reply::Stall(text.to_owned())]).await;
        let mut config = config(&server.url());
        config.stall_seconds = 1;
        let got = ask(&model_with(&config)).await;
        assert!(matches!(got.reply, Err(ModelError::Stalled { seconds: 1, .. })), "{:?}", got.reply);
        server.hang_ups_seen(1).await;
        assert_eq!(server.requests().len(), 1);
        assert_eq!((got.heard.as_str(), got.usage.estimated), if text.is_empty() { ("", false) } else { ("Hm", true) });
    }))
    .await;
}

#[tokio::test]
async fn slow_pieces_are_no_stall() {
    let server = ModelServer::dealing(
        [Reply::Slow(answer(), Duration::from_millis(300))],
        Dealing { characters: 60, bytes: 4096 },
    )
    .await;
    let mut config = config(&server.url());
    config.stall_seconds = 1;
    let started = Instant::now();
    ask(&model_with(&config)).await.reply.expect("a reply");
    assert!(started.elapsed() > Duration::from_secs(1), "in all it takes longer than the patience for one piece");
}

#[tokio::test]
async fn a_cut_stream_is_asked_for_once_more() {
    let server = ModelServer::start([Reply::CutAfter(answer(), 900), Reply::Json(answer())]).await;
    let got = ask(&model(&server)).await;
    assert_eq!(got.reply.expect("the second one is whole").reasoning, answer()["reasoning"]);
    assert_eq!((got.usage.calls, got.usage.estimated), (2, true));
    assert!(got.heard.ends_with(&format!("\n{}", answer()["reasoning"].as_str().expect("text"))), "{}", got.heard);

    // Wherever it is cut, half an answer never becomes an action; one that lost only its last mark is whole.
    let mut cuts = 0;
    for bytes in (0..2600).step_by(97) {
        let cut = || Reply::CutAfter(answer(), bytes);
        let server = ModelServer::start([cut(), cut()]).await;
        match ask(&model(&server)).await.reply {
            Err(ModelError::Cut { .. }) => {
                cuts += 1;
                assert_eq!(server.requests().len(), 2);
            }
            Ok(reply) => assert_eq!(reply.action.expect("an action").parameters, answer()["action"]["parameters"]),
            other => panic!("{bytes}: {other:?}"),
        }
    }
    assert!((20..27).contains(&cuts), "{cuts}");
}

#[tokio::test]
async fn a_whole_answer_without_the_mark_of_the_end_is_taken() {
    let server = ModelServer::start([Reply::Unfinished(answer().to_string())]).await;
    let got = ask(&model(&server)).await;
    assert!(got.reply.is_ok() && got.usage.estimated && got.usage.completion_tokens > 20);
    let half = answer().to_string()[..60].to_owned();
    let server = ModelServer::start([Reply::Unfinished(half.clone()), Reply::Unfinished(half)]).await;
    assert!(matches!(ask(&model(&server)).await.reply, Err(ModelError::Cut { .. })));
}

#[tokio::test]
async fn prose_is_asked_again_once_with_its_problem() {
    let prose = Reply::Text("I would simply fix f.".to_owned());
    let server = ModelServer::start([prose.clone(), Reply::Json(answer())]).await;
    let got = ask(&model(&server)).await;
    assert!(got.reply.is_ok());
    let again = &server.requests()[1];
    assert_eq!(again.said_by("assistant"), "I would simply fix f.");
    assert!(again.said_by("user").contains("there is no JSON object in the answer"), "{}", again.said_by("user"));
    assert_eq!(again.body["messages"].as_array().map(Vec::len), Some(4));

    let server = ModelServer::start([prose.clone(), prose]).await;
    match ask(&model(&server)).await.reply {
        Err(ModelError::Unusable { problems, text }) => {
            assert_eq!((problems.len(), text.as_str()), (1, "I would simply fix f."));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_cut_at_the_limit_is_unusable_and_says_so() {
    let half = answer().to_string()[..120].to_owned();
    let server = ModelServer::start([Reply::Truncated(half.clone()), Reply::Truncated(half)]).await;
    match ask(&model(&server)).await.reply {
        Err(ModelError::Unusable { problems, .. }) => {
            assert!(problems.join(" ").contains("max_tokens"), "{problems:?}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn garbage_is_no_answer() {
    let server = ModelServer::start([Reply::Garbage, Reply::Garbage]).await;
    assert!(matches!(ask(&model(&server)).await.reply, Err(ModelError::Unusable { .. })));
    let page = || Reply::Status(200, vec![("Content-Type", "text/html".to_owned())], "<html>login</html>".to_owned());
    let server = ModelServer::start([page(), page()]).await;
    let got = ask(&model(&server)).await;
    assert!(matches!(got.reply, Err(ModelError::Cut { .. } | ModelError::Unusable { .. })), "{:?}", got.reply);
}

#[tokio::test]
async fn a_refused_schema_is_left_out_and_stays_out() {
    let refusal = || status(400, "{\"error\":{\"message\":\"response_format is not supported\"}}");
    let server = ModelServer::start([refusal(), Reply::Json(answer()), Reply::Json(answer())]).await;
    let model = model(&server);
    assert!(ask(&model).await.reply.is_ok());
    assert!(ask(&model).await.reply.is_ok());
    let sent: Vec<bool> = server.requests().iter().map(|r| r.body.get("response_format").is_some()).collect();
    assert_eq!(sent, [true, false, false]);

    // A server that refuses for another reason is not asked for ever, and the schema is tried again next time.
    let server = ModelServer::start([refusal(), refusal(), Reply::Json(answer())]).await;
    let model = model_with(&config(&server.url()));
    assert!(matches!(ask(&model).await.reply, Err(ModelError::Rejected { status: 400, .. })));
    assert!(ask(&model).await.reply.is_ok());
    assert!(server.requests()[2].body.get("response_format").is_some());
}

#[tokio::test]
async fn errors_inside_the_stream_are_what_they_stand_for() {
    let overloaded = || Reply::ErrorInside(String::new(), json!({"message": "busy", "code": 429}));
    let server = ModelServer::start([overloaded(), Reply::Json(answer())]).await;
    assert!(ask(&model(&server)).await.reply.is_ok(), "nothing had been taken, so it may be asked again");
    let late = || Reply::ErrorInside("{\"reasoning\":\"a\"".to_owned(), json!({"message": "busy", "code": 429}));
    let server = ModelServer::start([late(), late()]).await;
    match ask(&model(&server)).await.reply {
        Err(ModelError::Cut { detail, .. }) => assert!(detail.contains("busy"), "{detail}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn dropping_the_call_hangs_up() {
    let server = ModelServer::start([Reply::Stall("{\"reasoning\": \"Let me".to_owned())]).await;
    let model = model(&server);
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel::<String>();
    let call = tokio::spawn(async move {
        let words = move |words: Spoken<'_>| drop(heard.send(words.text.to_owned()));
        model.step(&question(), &words).await
    });
    hears.recv().await.expect("words come before the call is dropped");
    assert_eq!(server.hang_ups(), 0);
    call.abort();
    server.hang_ups_seen(1).await;
    assert_eq!((server.requests().len(), server.connections()), (1, 1));
}

/// An answer in Anthropic's events, in two pieces.
fn anthropic_events(text: &str) -> String {
    let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(i, _)| i);
    let mut events = String::new();
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        events.push_str(&format!("event: {kind}\ndata: {data}\n\n"));
    };
    event("message_start", json!({"message": {"usage": {"input_tokens": 50, "output_tokens": 1}}}));
    event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}}));
    for piece in [&text[..half], &text[half..]] {
        event("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": piece}}));
    }
    event("content_block_stop", json!({"index": 0}));
    event("message_delta", json!({"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 30}}));
    event("message_stop", json!({}));
    events
}

#[tokio::test]
async fn anthropic_is_spoken_to_in_its_own_dialect() {
    let overloaded = status(529, "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");
    let inside =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
    let whole = anthropic_events(&answer().to_string());
    let server = ModelServer::start([overloaded, Reply::Events(inside.to_owned()), Reply::Events(whole)]).await;
    let mut config = config(&server.url());
    config.provider = Provider::ANTHROPIC;
    let got = ask(&model_with(&config)).await;
    assert_eq!(got.reply.expect("a reply").reasoning, answer()["reasoning"]);
    assert_eq!(got.heard, answer()["reasoning"].as_str().expect("text"));
    assert_eq!(
        got.usage,
        Usage { calls: 3, prompt_tokens: 50, completion_tokens: 30, cached_tokens: 0, estimated: false }
    );
    let request = &server.requests()[2];
    assert_eq!((request.path.as_str(), request.header("x-api-key")), ("/v1/messages", Some(KEY)));
    assert_eq!(request.body["max_tokens"], 4096);
    assert_eq!(request.body["output_config"]["format"]["type"], "json_schema");
    assert!(request.body["system"].to_string().contains("You are Sextant"));
}

#[tokio::test]
async fn gemini_is_spoken_to_in_its_own_dialect() {
    let chunk = |text: &str, end: Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": [{"text": text}]}});
        if !end.is_null() {
            candidate["finishReason"] = end;
        }
        let usage = json!({"promptTokenCount": 60, "candidatesTokenCount": 40, "totalTokenCount": 100});
        format!("data: {}\n\n", json!({"candidates": [candidate], "usageMetadata": usage}))
    };
    let text = answer().to_string();
    let (first, second) = text.split_at(20);
    let events = chunk(first, Value::Null) + &chunk(second, "STOP".into());
    let server = ModelServer::start([Reply::Events(events), status(403, "")]).await;
    let mut config = config(&server.url());
    (config.provider, config.model) = (Provider::GEMINI, "gemini-test".to_owned());
    let model = model_with(&config);
    let got = ask(&model).await;
    assert_eq!(got.reply.expect("a reply").reasoning, answer()["reasoning"]);
    assert_eq!((got.usage.prompt_tokens, got.usage.completion_tokens, got.usage.estimated), (60, 40, false));
    let request = &server.requests()[0];
    assert!(request.path.contains("models/gemini-test:streamGenerateContent"), "{}", request.path);
    assert_eq!(request.header("x-goog-api-key"), Some(KEY));
    assert!(request.body["generationConfig"]["responseJsonSchema"].is_object());
    assert!(matches!(ask(&model).await.reply, Err(ModelError::Unauthorized { status: 403, .. })));
}

#[tokio::test]
async fn ollama_gets_the_schema_through_its_openai_api() {
    let server = ModelServer::start([Reply::Json(answer())]).await;
    let mut config = config(&server.url());
    (config.provider, config.api_key, config.model) = (Provider::OLLAMA, None, "qwen3:8b".to_owned());
    ask(&model_with(&config)).await.reply.expect("a reply");
    let request = &server.requests()[0];
    assert_eq!((request.path.as_str(), request.header("authorization")), ("/v1/chat/completions", None));
    assert_eq!(request.body["model"], "qwen3:8b");
    assert_eq!(request.body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_absent() {
    let server = ModelServer::start([]).await;
    let got = ask(&model_with(&config(&server.url().replace("http://", "https://")))).await;
    match got.reply {
        Err(ModelError::Unreachable { detail, .. }) => assert!(!detail.contains("refused"), "{detail}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.requests().len(), 0, "nothing was sent in the clear");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = ModelServer::start([Reply::Json(answer())]).await;
    let moved = Reply::Status(307, vec![("Location", format!("{}/chat/completions", elsewhere.url()))], String::new());
    let server = ModelServer::start([moved]).await;
    assert!(matches!(ask(&model(&server)).await.reply, Err(ModelError::Rejected { status: 307, .. })));
    assert_eq!(elsewhere.connections(), 0, "neither key nor sources go where the user did not send them");
}
