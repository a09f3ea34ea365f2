//! A conversation with a model over each provider's wire, against a server that checks every message it is sent.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::agent::tools::specs;
use sextant::llm::chat::{ChatInput, ChatMessage, ChatReply, ToolResult};
use sextant::llm::endpoint::{Provider, RemoteConfig};
use sextant::llm::remote::RemoteModel;
use sextant::llm::retry::RetryPolicy;
use sextant::llm::step::{Model, ModelError, Usage};

use crate::support::model_server::{ModelServer, Reply};

/// A conversation as the loop holds it.
struct Talk {
    model: RemoteModel,
    messages: Vec<ChatMessage>,
    heard: String,
    usage: Usage,
}

fn config(provider: Provider, url: &str) -> RemoteConfig {
    let mut config = RemoteConfig::new(provider, "test-m");
    (config.base_url, config.api_key, config.stall_seconds) = (Some(url.to_owned()), Some("sk-test".to_owned()), 20);
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

    fn new(provider: Provider, server: &ModelServer) -> Self {
        Self::with(&config(provider, &server.url()))
    }

    async fn next(&mut self) -> Result<ChatReply, ModelError> {
        let heard = Mutex::new(String::new());
        let words = |text: &str| heard.lock().expect("lock").push_str(text);
        let input = ChatInput { system: "Be brief.", messages: &self.messages, tools: specs() };
        let (reply, usage) = self.model.chat(&input, &words).await;
        self.heard.push_str(&heard.into_inner().expect("lock"));
        self.usage.add(usage);
        if let Ok(reply) = &reply {
            self.messages.push(ChatMessage::Model(reply.clone()));
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
        let result = |call: &sextant::llm::chat::ToolUse| ToolResult {
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

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn delta(delta: Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn openai(deltas: &[Value], why: &str) -> Reply {
    let mut events: String = deltas.iter().cloned().map(delta).collect();
    events.push_str(&event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}]})));
    events.push_str(&event(&json!({"choices": [], "usage": {
        "prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 900}}})));
    Reply::Events(events + "data: [DONE]\n\n")
}

fn begin(index: u64, id: &str, tool: &str, arguments: &str) -> Value {
    let function = json!({"name": tool, "arguments": arguments});
    json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
}

fn more(index: u64, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
}

#[tokio::test]
async fn openai_calls_in_parallel_and_gets_every_result() {
    let first = openai(
        &[
            json!({"role": "assistant", "content": ""}),
            json!({"content": "I look"}),
            json!({"content": " first."}),
            begin(0, "a", "read_file", ""),
            more(0, "{\"path\":"),
            begin(1, "b", "rm", "{}"),
            more(0, "\"é.py\"}"),
        ],
        "tool_calls",
    );
    let server = ModelServer::start([first, openai(&[json!({"content": "Done."})], "stop")]).await;
    let mut talk = Talk::new(Provider::OpenAiCompatible, &server);
    let reply = talk.says("fix f").await.expect("a reply");
    assert_eq!((reply.text.as_str(), reply.uses.len(), reply.cut), ("I look first.", 2, false));
    assert_eq!((reply.uses[0].id.as_str(), &reply.uses[0].parameters), ("a", &json!({"path": "é.py"})));
    assert!(reply.uses[1].problem.as_ref().is_some_and(|why| why.contains("there is no tool `rm`")));
    let reply = talk.answers("the text").await.expect("a reply");
    assert_eq!((reply.text.as_str(), talk.heard.as_str()), ("Done.", "I look first.Done."));
    let (calls, prompt_tokens) = (talk.usage.calls, talk.usage.prompt_tokens);
    assert_eq!((calls, prompt_tokens, talk.usage.cached_tokens, talk.usage.estimated), (2, 2000, 1800, false));

    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    let read = &first.body["tools"][0]["function"];
    assert_eq!((read["name"].as_str(), &read["parameters"]["required"]), (Some("read_file"), &json!(["path"])));
    let sent = second.body["messages"].as_array().expect("messages");
    let before = first.body["messages"].as_array().expect("messages");
    assert_eq!(&sent[..before.len()], &before[..], "what was sent is only added to");
    let roles: Vec<&str> = sent.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(sent[2]["content"], "I look first.");
    let call = &sent[2]["tool_calls"][0];
    assert_eq!((&call["id"], &call["function"]["arguments"]), (&json!("a"), &json!("{\"path\":\"é.py\"}")));
    assert_eq!((&sent[3]["tool_call_id"], &sent[3]["content"]), (&json!("a"), &json!("the text")));
    assert!(sent[4]["content"].as_str().is_some_and(|text| text.starts_with("failed: there is no tool")));
}
