//! A language model behind a network address: asked by schema, streamed, retried while nothing has been taken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use serde_json::Value;
use tokio::time::Instant;

use crate::base::failure::{Failure, FailureKind};
use crate::base::plural::counted;
use crate::llm::call::{self, CallOutcome, End, Trouble};
use crate::llm::dialect::{self, ChatTurn};
use crate::llm::endpoint::{self, Endpoint, RemoteConfig};
use crate::llm::input::{PlanInput, StepInput};
use crate::llm::price::Price;
use crate::llm::prompt::{self, Prompt};
use crate::llm::reply::{self, ReplyReading};
use crate::llm::retry::{self, RetryPolicy};
use crate::llm::step::{Model, ModelError, OnText, PlanReply, StepReply, Usage};
use crate::llm::tools::ToolSpec;
use crate::llm::{schema, tokens};

/// A server that does not take the connection within this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an unusable answer that are kept and shown to the model again.
const KEPT_BYTES: usize = 2000;

/// A model reached over HTTP. Cloning is not needed: one value serves calls at the same time.
pub struct RemoteModel {
    name: String,
    endpoint: Endpoint,
    client: Client,
    retry: RetryPolicy,
    stall: Duration,
    total: Duration,
    max_tokens: u32,
    temperature: Option<f64>,
    /// Whether the schema is sent; cleared once the server has refused it and answered without.
    schema: AtomicBool,
    price: Option<Price>,
}

type Reading<T> = fn(&str, &[ToolSpec]) -> ReplyReading<T>;

/// What is asked, how it is read, and which of its strings are words.
struct Question<T> {
    prompt: Prompt,
    schema_name: &'static str,
    schema: Value,
    tools: &'static [ToolSpec],
    read: Reading<T>,
    wanted: &'static [&'static str],
}

impl RemoteModel {
    /// Takes keys from the configuration and the environment. A missing key, a broken address and a missing TLS
    /// store are errors here, before any call.
    pub fn new(config: &RemoteConfig) -> Result<Self, Failure> {
        let endpoint = endpoint::resolve(config, &|name| std::env::var(name).ok())?;
        let client = client(&endpoint)?;
        Ok(Self {
            name: format!("{}:{}", endpoint.provider.name(), endpoint.model),
            endpoint,
            client,
            retry: RetryPolicy { max_attempts: config.max_attempts, ..RetryPolicy::default() },
            stall: Duration::from_secs(config.stall_seconds),
            total: Duration::from_secs(config.total_seconds),
            max_tokens: config.max_tokens,
            temperature: config.temperature,
            schema: AtomicBool::new(config.schema),
            price: config.price,
        })
    }

    /// The same model with another patience.
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    async fn ask<T>(&self, question: Question<T>, words: OnText<'_>) -> (Result<T, ModelError>, Usage) {
        let mut usage = Usage::default();
        let mut progress = Progress::new(self.schema.load(Ordering::Relaxed));
        let limits = call::CallLimits::new(self.max_tokens, self.stall, Instant::now() + self.total);
        loop {
            let asked = dialect::ChatRequest {
                system: &question.prompt.system,
                turns: &progress.turns(&question.prompt),
                max_tokens: self.max_tokens,
                temperature: self.temperature,
                schema: progress.with_schema.then_some((question.schema_name, &question.schema)),
            };
            let outcome = call::run(&self.client, &self.endpoint, &asked, limits, question.wanted, words).await;
            count(&mut usage, &outcome, &question.prompt);
            let spoke = outcome.spoke;
            match self.judge(|text| (question.read)(text, question.tools), outcome, &mut progress) {
                Next::Reply(reply) => {
                    if !progress.with_schema {
                        self.schema.store(false, Ordering::Relaxed);
                    }
                    return (Ok(reply), usage);
                }
                Next::Fail(error) => return (Err(error), usage),
                Next::Again(wait) => {
                    tracing::info!(model = %self.name, ?wait, "asking the model again");
                    if spoke {
                        words("\n");
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    /// What to do with what a call brought.
    fn judge<T>(
        &self,
        read: impl Fn(&str) -> ReplyReading<T>,
        outcome: CallOutcome,
        progress: &mut Progress,
    ) -> Next<T> {
        let endpoint = self.endpoint.shown.clone();
        let CallOutcome { text, end, .. } = outcome;
        match end {
            End::Trouble(Trouble::Refused { status, wait, detail }) => self.refused(status, wait, &detail, progress),
            End::Trouble(Trouble::Unreachable(detail)) => {
                progress.attempts += 1;
                match self.retry.wait(progress.attempts, None, retry::jitter()) {
                    Some(wait) => Next::Again(wait),
                    None => Next::Fail(ModelError::Unreachable { endpoint, detail: self.hide(&detail) }),
                }
            }
            End::Trouble(Trouble::Setup(detail)) => {
                Next::Fail(ModelError::Unreachable { endpoint, detail: self.hide(&detail) })
            }
            End::Trouble(Trouble::Stalled) => {
                Next::Fail(ModelError::Stalled { endpoint, seconds: self.stall.as_secs() })
            }
            // What has no end is not asked for again.
            End::Trouble(Trouble::TooMuch(detail)) => match read(&text).value {
                Some(reply) => Next::Reply(reply),
                None => Next::Fail(ModelError::Cut { endpoint, detail: self.hide(&detail) }),
            },
            // A stream may break after the last brace; what is whole is whole.
            End::Trouble(Trouble::Broken(detail)) => match read(&text).value {
                Some(reply) => Next::Reply(reply),
                None => self.cut(&detail, progress),
            },
            End::Open => match read(&text).value {
                Some(reply) => Next::Reply(reply),
                None if text.is_empty() => self.cut("the stream ended before the answer began", progress),
                None => self.cut("the stream ended in the middle", progress),
            },
            End::Trouble(Trouble::Garbage(detail)) => self.unusable(vec![self.hide(&detail)], &text, progress),
            End::Whole | End::Limit => {
                let ReplyReading { value, mut problems } = read(&text);
                if let Some(reply) = value {
                    if !problems.is_empty() {
                        tracing::debug!(model = %self.name, ?problems, "the reply was mended");
                    }
                    return Next::Reply(reply);
                }
                if matches!(end, End::Limit) {
                    problems.push(format!("it was cut off at {} (`max_tokens`)", counted(self.max_tokens, "token")));
                }
                self.unusable(problems, &text, progress)
            }
        }
    }

    fn refused<T>(&self, status: u16, wait: Option<Duration>, detail: &str, progress: &mut Progress) -> Next<T> {
        let endpoint = self.endpoint.shown.clone();
        if matches!(status, 401 | 403) {
            return Next::Fail(ModelError::Unauthorized { endpoint, status });
        }
        // Some servers know no `response_format`, or not all of JSON Schema; the prompt describes the object too.
        if matches!(status, 400 | 422) && progress.with_schema {
            progress.with_schema = false;
            return Next::Again(Duration::ZERO);
        }
        let detail = self.hide(detail);
        // OpenAI answers 429 to an account without credit as well; waiting does not fill it.
        if !retry::may_pass(status) || detail.contains("insufficient_quota") {
            return Next::Fail(ModelError::Rejected { endpoint, status, detail });
        }
        progress.attempts += 1;
        let attempts = progress.attempts;
        match self.retry.wait(attempts, wait, retry::jitter()) {
            Some(wait) => Next::Again(wait),
            None if retry::is_capacity(status) => Next::Fail(ModelError::Busy { endpoint, status, attempts }),
            None => {
                let detail = format!("{detail} ({})", counted(attempts, "attempt"));
                Next::Fail(ModelError::Rejected { endpoint, status, detail })
            }
        }
    }

    fn cut<T>(&self, detail: &str, progress: &mut Progress) -> Next<T> {
        if std::mem::replace(&mut progress.cut_before, true) {
            return Next::Fail(ModelError::Cut { endpoint: self.endpoint.shown.clone(), detail: self.hide(detail) });
        }
        Next::Again(self.retry.base)
    }

    fn unusable<T>(&self, problems: Vec<String>, text: &str, progress: &mut Progress) -> Next<T> {
        let text = self.hide(kept(text));
        if progress.asked_again {
            return Next::Fail(ModelError::Unusable { problems, text });
        }
        progress.asked_again = true;
        progress.follow_up.clear();
        if !text.trim().is_empty() {
            progress.follow_up.push(ChatTurn::Model(text));
        }
        progress.follow_up.push(ChatTurn::User(prompt::ask_again(&problems)));
        Next::Again(Duration::ZERO)
    }

    fn hide(&self, text: &str) -> String {
        match &self.endpoint.key {
            Some(key) => key.hide_in(text),
            None => text.to_owned(),
        }
    }
}

/// How far one question has come.
struct Progress {
    with_schema: bool,
    /// Calls that brought nothing.
    attempts: u32,
    cut_before: bool,
    asked_again: bool,
    follow_up: Vec<ChatTurn>,
}

impl Progress {
    fn new(with_schema: bool) -> Self {
        Self { with_schema, attempts: 0, cut_before: false, asked_again: false, follow_up: Vec::new() }
    }

    fn turns(&self, prompt: &Prompt) -> Vec<ChatTurn> {
        let mut turns = vec![ChatTurn::User(prompt.user.clone())];
        turns.extend(self.follow_up.iter().cloned());
        turns
    }
}

enum Next<T> {
    Reply(T),
    Fail(ModelError),
    /// Ask again after this wait.
    Again(Duration),
}

#[async_trait]
impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    async fn step(&self, input: &StepInput, words: OnText<'_>) -> (Result<StepReply, ModelError>, Usage) {
        let question = Question {
            prompt: prompt::step(input),
            schema_name: schema::step_name(&input.ask.contract),
            schema: schema::step(&input.ask.contract, input.context.tools, input.context.framing.commands),
            tools: input.context.tools,
            read: reply::step,
            wanted: &["reasoning", "answer"],
        };
        self.ask(question, words).await
    }

    async fn plan(&self, input: &PlanInput, words: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage) {
        let question = Question {
            prompt: prompt::plan(input),
            schema_name: schema::PLAN_NAME,
            schema: schema::plan(input.context.tools),
            tools: input.context.tools,
            read: reply::plan,
            wanted: &["title", "reason"],
        };
        self.ask(question, words).await
    }
}

/// Every request counts as a call; tokens count once anything of an answer has come.
fn count(usage: &mut Usage, outcome: &CallOutcome, prompt: &Prompt) {
    let (prompt_tokens, completion_tokens, estimated) = match outcome.counted {
        Some((prompt, completion)) => (prompt, completion, false),
        None if outcome.text.is_empty() => (0, 0, false),
        None => (prompt.tokens() as u64, tokens::estimate(&outcome.text) as u64, true),
    };
    usage.add(Usage { calls: 1, prompt_tokens, completion_tokens, estimated });
}

/// The beginning of an answer, cut at a character.
fn kept(text: &str) -> &str {
    let end = text.char_indices().map(|(i, c)| i + c.len_utf8()).take_while(|end| *end <= KEPT_BYTES).last();
    &text[..end.unwrap_or(0)]
}

fn client(endpoint: &Endpoint) -> Result<Client, Failure> {
    // Fails when somebody else has installed one already, and that one serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A redirect would carry the key, and what the user's files hold, to another place.
    let mut builder = Client::builder().connect_timeout(CONNECT_TIMEOUT).redirect(reqwest::redirect::Policy::none());
    if !endpoint.tls {
        // No certificates are read for a server that shows none; a machine without any can still use it.
        builder = builder.tls_certs_only(std::iter::empty());
    }
    if endpoint.local {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| {
        Failure::new(
            FailureKind::Config,
            format!("the TLS certificates of this system cannot be used: {e}"),
            "install the package ca-certificates, or use a server on http://127.0.0.1",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::endpoint::Provider;

    #[test]
    fn a_client_can_be_built_with_and_without_certificates() {
        for url in ["https://api.example.com/v1", "http://127.0.0.1:9/v1"] {
            let mut config = RemoteConfig::new(Provider::OpenAiCompatible, "m");
            config.base_url = Some(url.into());
            let model = RemoteModel::new(&config).expect(url);
            assert_eq!(model.name(), "openai_compatible:m");
        }
    }

    #[test]
    fn an_answer_is_kept_up_to_a_whole_character() {
        let text = "é".repeat(3000);
        assert!(kept(&text).len() <= KEPT_BYTES && kept(&text).ends_with('é'));
        assert_eq!(kept("short"), "short");
    }
}
