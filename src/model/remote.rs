//! A language model behind a network address: asked by schema, streamed, retried until something of the answer was
//! used.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::abilities::{self, Abilities, ReportedAbilities};
use crate::call::{self, CallOutcome};
use crate::call_progress::CallProgress;
use crate::chat::{ChatInput, ChatReply};
use crate::chat_request::{Asking, Structured, Talk};
use crate::dialect;
use crate::endpoint::{self, Endpoint, RemoteConfig};
use crate::input::{PlanInput, StepInput};
use crate::model_options::{Manner, ToolWay};
use crate::price::Price;
use crate::remote::limit::AnswerLimit;
use crate::remote::retry_decision::{AskProgress, CallVerdict};
use crate::retry::{RetryNotice, RetryPolicy};
use crate::step::{Model, ModelError, OnText, PlanReply, Spoken, StepReply, Usage};
use crate::{model_server_facts, prompt, reply, reply_schema};
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_base::token_estimate;

mod limit;
mod retry_decision;

/// A server that does not take the connection within this time counts as missing.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model reached over HTTP. Cloning is not needed: one value serves calls at the same time.
pub struct RemoteModel {
    name: String,
    endpoint: Endpoint,
    client: Client,
    retry: RetryPolicy,
    patience: ModelWaits,
    manner: Manner,
    limit: AnswerLimit,
    /// True if the schema is sent; cleared once the server has refused it and answered without.
    schema: AtomicBool,
    /// The same for tools in the provider's own form.
    native: AtomicBool,
    /// By provider, name and options.
    table: Abilities,
    /// With the report of its server.
    known: OnceCell<Abilities>,
    /// The last time that the server got the keep-alive time of the model.
    kept: Mutex<Option<Instant>>,
}

/// The longest waits for a model.
#[derive(Clone, Copy, Debug)]
struct ModelWaits {
    /// Without a byte.
    stall: Duration,
    /// In all.
    total: Duration,
}

/// The least time between two keep-alive messages to a server: less than any time that is worth setting.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);

impl RemoteModel {
    /// Takes keys from the configuration and the environment. A missing key, a broken address and a missing TLS
    /// store are errors here, before any call.
    pub fn new(config: &RemoteConfig) -> Result<Self, Failure> {
        let endpoint = endpoint::resolve(config, &|name| std::env::var(name).ok())?;
        let client = client(&endpoint)?;
        let manner = config.manner.clone();
        Ok(Self {
            table: manner.over(abilities::known(&endpoint, ReportedAbilities::default())),
            known: OnceCell::new(),
            kept: Mutex::new(None),
            name: format!("{}:{}", endpoint.provider.name(), endpoint.model),
            endpoint,
            client,
            retry: RetryPolicy { max_attempts: config.max_attempts, ..RetryPolicy::default() },
            patience: ModelWaits {
                stall: Duration::from_secs(config.stall_seconds),
                total: Duration::from_secs(config.total_seconds),
            },
            limit: AnswerLimit { set: config.max_tokens, most: AtomicU32::new(u32::MAX) },
            schema: AtomicBool::new(manner.schema),
            native: AtomicBool::new(manner.tools == ToolWay::Native),
            manner,
        })
    }

    /// The same model with another patience.
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    async fn ask<A: Asking>(&self, asking: &A, words: OnText<'_>) -> (Result<A::Reply, ModelError>, Usage) {
        let mut usage = Usage::default();
        let mut progress = AskProgress::new(self.schema.load(Ordering::Relaxed), self.native.load(Ordering::Relaxed));
        let deadline = Instant::now() + self.patience.total;
        loop {
            progress.max_tokens = self.limit.tokens(self.known.get().unwrap_or(&self.table).context);
            let limits = call::CallLimits::new(progress.max_tokens, self.patience.stall, deadline);
            let mut posed = asking.posed(progress.native);
            posed.messages.extend(progress.follow_up.iter().cloned());
            let asked = dialect::WireRequest {
                system: &posed.system,
                messages: &posed.messages,
                tools: posed.tools,
                grows: posed.grows,
                max_tokens: progress.max_tokens,
                temperature: self.manner.temperature,
                reasoning: dialect::Reasoning {
                    effort: self.manner.reasoning_effort.as_deref(),
                    shown: self.manner.show_reasoning,
                },
                schema: posed.schema.as_ref().filter(|_| progress.with_schema).map(|(name, schema)| (*name, schema)),
            };
            (progress.sent_schema, progress.sent_tools) = (asked.schema.is_some(), !asked.tools.is_empty());
            let hearing = asking.hearing(progress.native, self.manner.show_reasoning);
            let outcome = call::run(&self.client, &self.endpoint, &asked, limits, hearing, words).await;
            count(&mut usage, &outcome, || posed.tokens());
            let spoke = outcome.spoke;
            match self.judge(asking, outcome, &mut progress) {
                CallVerdict::Reply(reply) => {
                    if !progress.with_schema {
                        self.schema.store(false, Ordering::Relaxed);
                    }
                    if !progress.native {
                        self.native.store(false, Ordering::Relaxed);
                    }
                    let unheard = asking.unheard(&reply);
                    if !spoke && !unheard.is_empty() {
                        words(Spoken::answer(unheard));
                    }
                    return (Ok(reply), usage);
                }
                CallVerdict::Fail(error) => return (Err(error), usage),
                CallVerdict::Again(wait, why) => {
                    tracing::info!(model = %self.name, ?wait, spoke, why, "asking the model again");
                    let attempt = progress.attempts.max(1) + 1;
                    if spoke {
                        words(Spoken::answer("\n"));
                    }
                    let of = self.retry.max_attempts.max(attempt);
                    CallProgress::Retry(RetryNotice { attempt, of, wait, why }).report();
                    tokio::time::sleep(wait).await;
                    CallProgress::Answer.report();
                }
            }
        }
    }

    /// Sends Ollama the keep-alive time of the model: its OpenAI API has no field for it, and leaves the time as it is.
    fn keep_loaded(&self) {
        let Some(time) = self.manner.keep_alive.clone() else { return };
        {
            let mut kept = lock(&self.kept);
            if kept.is_some_and(|last| last.elapsed() < KEEP_ALIVE_INTERVAL) {
                return;
            }
            *kept = Some(Instant::now());
        }
        let (client, endpoint) = (self.client.clone(), self.endpoint.clone());
        tokio::spawn(async move { model_server_facts::keep_loaded(&client, &endpoint, &time).await });
    }

    fn hide(&self, text: &str) -> String {
        match &self.endpoint.key {
            Some(key) => key.hide_in(text),
            None => text.to_owned(),
        }
    }
}

#[async_trait]
impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.manner.price
    }

    async fn abilities(&self) -> Abilities {
        self.keep_loaded();
        if self.manner.style.is_some() && self.manner.context.is_some() {
            return self.table;
        }
        let ask = async {
            let reported = model_server_facts::ask(&self.client, &self.endpoint).await;
            self.manner.over(abilities::known(&self.endpoint, reported))
        };
        *self.known.get_or_init(|| ask).await
    }

    async fn step(&self, input: &StepInput, words: OnText<'_>) -> (Result<StepReply, ModelError>, Usage) {
        let question = Structured {
            prompt: prompt::step(input),
            schema_name: reply_schema::step_name(&input.ask.contract),
            schema: reply_schema::step(&input.ask.contract, input.context.tools, input.context.framing.commands),
            tools: input.context.tools,
            read: reply::step,
            wanted: &["reasoning", "answer"],
        };
        self.ask(&question, words).await
    }

    async fn plan(&self, input: &PlanInput, words: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage) {
        let question = Structured {
            prompt: prompt::plan(input),
            schema_name: reply_schema::PLAN_NAME,
            schema: reply_schema::plan(input.context.tools),
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
            let written = (outcome.parts.bytes() as f64 / token_estimate::BYTES_PER_TOKEN).ceil() as u64;
            (counted.prompt.unwrap_or_else(|| prompt() as u64), written, true)
        }
    };
    let cached_tokens = counted.cached.unwrap_or(0).min(prompt_tokens);
    usage.add(Usage { calls: 1, prompt_tokens, completion_tokens, cached_tokens, estimated });
}

fn client(endpoint: &Endpoint) -> Result<Client, Failure> {
    // Fails if another caller has installed one already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A redirect would carry the key, and the content of the user's files, to another place.
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
    use crate::endpoint::Provider;

    #[test]
    fn a_client_can_be_built_with_and_without_certificates() {
        for url in ["https://api.example.com/v1", "http://127.0.0.1:9/v1"] {
            let mut config = RemoteConfig::new(Provider::COMPATIBLE, "m");
            config.base_url = Some(url.into());
            let model = RemoteModel::new(&config).expect(url);
            assert_eq!(model.name(), "openai_compatible:m");
        }
    }
}
