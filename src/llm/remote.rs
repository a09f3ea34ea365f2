//! A language model behind a network address: asked by schema, streamed, retried while nothing has been taken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use tokio::time::Instant;

use crate::base::failure::{Failure, FailureKind};
use crate::base::plural::counted;
use crate::llm::answer::AnswerEnd;
use crate::llm::asking::{Asking, Structured, Talk};
use crate::llm::call::{self, CallOutcome, End, Trouble};
use crate::llm::chat::{ChatInput, ChatMessage, ChatReply};
use crate::llm::dialect;
use crate::llm::endpoint::{self, Endpoint, RemoteConfig};
use crate::llm::input::{PlanInput, StepInput};
use crate::llm::price::Price;
use crate::llm::reply::ReplyReading;
use crate::llm::retry::{self, RetryPolicy};
use crate::llm::step::{Model, ModelError, OnText, PlanReply, StepReply, Usage};
use crate::llm::{prompt, reply, schema, tokens};

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

    async fn ask<A: Asking>(&self, asking: &A, words: OnText<'_>) -> (Result<A::Reply, ModelError>, Usage) {
        let mut usage = Usage::default();
        let mut progress = Progress::new(self.schema.load(Ordering::Relaxed));
        let limits = call::CallLimits::new(self.max_tokens, self.stall, Instant::now() + self.total);
        loop {
            let native = true;
            let mut posed = asking.posed(native);
            posed.messages.extend(progress.follow_up.iter().cloned());
            let asked = dialect::WireRequest {
                system: &posed.system,
                messages: &posed.messages,
                tools: posed.tools,
                grows: posed.grows,
                max_tokens: self.max_tokens,
                temperature: self.temperature,
                schema: posed.schema.as_ref().filter(|_| progress.with_schema).map(|(name, schema)| (*name, schema)),
            };
            progress.sent_schema = asked.schema.is_some();
            let hearing = asking.hearing(native, false);
            let outcome = call::run(&self.client, &self.endpoint, &asked, limits, hearing, words).await;
            count(&mut usage, &outcome, || posed.tokens());
            let spoke = outcome.spoke;
            match self.judge(asking, outcome, &mut progress) {
                Next::Reply(reply) => {
                    if !progress.with_schema {
                        self.schema.store(false, Ordering::Relaxed);
                    }
                    return (Ok(reply), usage);
                }
                Next::Fail(error) => return (Err(error), usage),
                Next::Again(wait, why) => {
                    tracing::info!(model = %self.name, ?wait, spoke, why, "asking the model again");
                    if spoke {
                        words("\n");
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    /// What to do with what a call brought.
    fn judge<A: Asking>(&self, asking: &A, outcome: CallOutcome, progress: &mut Progress) -> Next<A::Reply> {
        let endpoint = self.endpoint.shown.clone();
        let CallOutcome { parts, end, .. } = outcome;
        let text = parts.text.clone();
        let refusal = parts.refusal.clone();
        let read = |ending| asking.read(parts, true, ending);
        match end {
            End::Trouble(Trouble::Refused { status, wait, detail }) => self.refused(status, wait, &detail, progress),
            End::Trouble(Trouble::Unreachable(detail)) => {
                progress.attempts += 1;
                match self.retry.wait(progress.attempts, None, retry::jitter()) {
                    Some(wait) => Next::Again(wait, self.hide(&detail)),
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
            End::Trouble(Trouble::TooMuch(detail)) => match read(AnswerEnd::Broken).value {
                Some(reply) => Next::Reply(reply),
                None => Next::Fail(ModelError::Cut { endpoint, detail: self.hide(&detail) }),
            },
            // A stream may break after the last brace; what is whole is whole.
            End::Trouble(Trouble::Broken(detail)) => match read(AnswerEnd::Broken).value {
                Some(reply) => Next::Reply(reply),
                None => self.cut(&detail, progress),
            },
            End::Open => match read(AnswerEnd::Broken).value {
                Some(reply) => Next::Reply(reply),
                None if text.is_empty() => self.cut("the stream ended before the answer began", progress),
                None => self.cut("the stream ended in the middle", progress),
            },
            End::Trouble(Trouble::Garbage(detail)) => self.unusable(asking, vec![self.hide(&detail)], &text, progress),
            End::Declined(why) => Next::Fail(self.declined(&[&refusal, &text, &why])),
            End::Malformed(why) => self.unusable(asking, vec![self.hide(&why)], &text, progress),
            End::Whole | End::Limit => {
                if !refusal.trim().is_empty() {
                    return Next::Fail(self.declined(&[&refusal]));
                }
                let limit = matches!(end, End::Limit);
                let ReplyReading { value, mut problems } =
                    read(if limit { AnswerEnd::Limit } else { AnswerEnd::Whole });
                if let Some(reply) = value {
                    if !problems.is_empty() {
                        tracing::debug!(model = %self.name, ?problems, "the reply was mended");
                    }
                    return Next::Reply(reply);
                }
                if limit {
                    problems.push(format!("it was cut off at {} (`max_tokens`)", counted(self.max_tokens, "token")));
                }
                self.unusable(asking, problems, &text, progress)
            }
        }
    }

    /// What the model said before it stopped is part of why it did.
    fn declined(&self, said: &[&str]) -> ModelError {
        let said: Vec<&str> = said.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let detail = self.hide(kept(&said.join("; ")));
        ModelError::Declined { endpoint: self.endpoint.shown.clone(), detail }
    }

    fn refused<T>(&self, status: u16, wait: Option<Duration>, detail: &str, progress: &mut Progress) -> Next<T> {
        let endpoint = self.endpoint.shown.clone();
        if matches!(status, 401 | 403) {
            return Next::Fail(ModelError::Unauthorized { endpoint, status });
        }
        // Some servers know no `response_format`, or not all of JSON Schema; the prompt describes the object too.
        let detail = self.hide(detail);
        if matches!(status, 400 | 422) && progress.sent_schema {
            progress.with_schema = false;
            return Next::Again(Duration::ZERO, detail);
        }
        // OpenAI answers 429 to an account without credit as well; waiting does not fill it.
        if !retry::may_pass(status) || detail.contains("insufficient_quota") {
            return Next::Fail(ModelError::Rejected { endpoint, status, detail });
        }
        progress.attempts += 1;
        let attempts = progress.attempts;
        match self.retry.wait(attempts, wait, retry::jitter()) {
            Some(wait) => Next::Again(wait, detail),
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
        Next::Again(self.retry.base, self.hide(detail))
    }

    fn unusable<A: Asking>(
        &self,
        asking: &A,
        problems: Vec<String>,
        text: &str,
        progress: &mut Progress,
    ) -> Next<A::Reply> {
        let text = self.hide(kept(text));
        if progress.asked_again {
            return Next::Fail(ModelError::Unusable { problems, text });
        }
        progress.asked_again = true;
        progress.follow_up.clear();
        if !text.trim().is_empty() {
            progress.follow_up.push(ChatMessage::Model(ChatReply { text, ..ChatReply::default() }));
        }
        progress.follow_up.push(ChatMessage::User(asking.again(&problems, true)));
        Next::Again(Duration::ZERO, problems.join("; "))
    }

    fn hide(&self, text: &str) -> String {
        match &self.endpoint.key {
            Some(key) => key.hide_in(text),
            None => text.to_owned(),
        }
    }
}

/// How far one question has come.
#[derive(Default)]
struct Progress {
    with_schema: bool,
    sent_schema: bool,
    /// Calls that brought nothing.
    attempts: u32,
    cut_before: bool,
    asked_again: bool,
    follow_up: Vec<ChatMessage>,
}

impl Progress {
    fn new(with_schema: bool) -> Self {
        Self { with_schema, ..Self::default() }
    }
}

enum Next<T> {
    Reply(T),
    Fail(ModelError),
    /// Ask again after this wait, because of this.
    Again(Duration, String),
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
        let question = Structured {
            prompt: prompt::step(input),
            schema_name: schema::step_name(&input.ask.contract),
            schema: schema::step(&input.ask.contract, input.context.tools, input.context.framing.commands),
            tools: input.context.tools,
            read: reply::step,
            wanted: &["reasoning", "answer"],
        };
        self.ask(&question, words).await
    }

    async fn plan(&self, input: &PlanInput, words: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage) {
        let question = Structured {
            prompt: prompt::plan(input),
            schema_name: schema::PLAN_NAME,
            schema: schema::plan(input.context.tools),
            tools: input.context.tools,
            read: reply::plan,
            wanted: &["title", "reason"],
        };
        self.ask(&question, words).await
    }

    async fn chat(&self, input: &ChatInput<'_>, words: OnText<'_>) -> (Result<ChatReply, ModelError>, Usage) {
        self.ask(&Talk { input: *input, tag: dialect::tag(&self.endpoint) }, words).await
    }
}

/// Every request counts as a call; tokens count once anything of an answer has come.
fn count(usage: &mut Usage, outcome: &CallOutcome, prompt: impl Fn() -> usize) {
    let counted = outcome.counted;
    let (prompt_tokens, completion_tokens, estimated) = match counted.prompt.zip(counted.completion) {
        Some((prompt, completion)) => (prompt, completion, false),
        None if outcome.parts.is_empty() => (0, 0, false),
        None => {
            let written = (outcome.parts.bytes() as f64 / tokens::BYTES_PER_TOKEN).ceil() as u64;
            (counted.prompt.unwrap_or_else(|| prompt() as u64), written, true)
        }
    };
    let cached_tokens = counted.cached.unwrap_or(0).min(prompt_tokens);
    usage.add(Usage { calls: 1, prompt_tokens, completion_tokens, cached_tokens, estimated });
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
