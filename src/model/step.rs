//! The contract between the agent and a model: one structured question, one JSON object back.
//!
//! The offline model answers from the structure; a language model gets it as a prompt and a schema.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::abilities::Abilities;
use crate::chat::{ChatInput, ChatReply};
use crate::input::{PlanInput, StepInput};
use crate::plan_contract::PlanFeedback;
use crate::price::Price;
use sextant_base::plural::counted;

/// A diagnostic as a model sees it: one line, symbol first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticLine {
    /// `error`, `warning`, `info`, `hint`.
    pub severity: String,
    /// Full symbol path.
    pub symbol: String,
    pub code: String,
    pub message: String,
    /// `lsp:basedpyright`, or `lsp:basedpyright and ruff`.
    pub source: String,
    /// `high`, `medium`, `low`: how far it is believed.
    #[serde(default)]
    pub confidence: String,
    /// The known remedy; not shown in a prompt, which has the offered fixes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_action: Option<String>,
    /// The complaint across checkers; empty if its code is unknown.
    #[serde(default, skip)]
    pub theme: String,
    /// The codes of other sources for the same complaint.
    #[serde(default, skip)]
    pub also: Vec<String>,
    /// Servers that were asked for fixes and have not answered in time.
    #[serde(default, skip)]
    pub unanswered: Vec<String>,
}

/// A quick fix or source action that a language server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOffer {
    /// The id for `apply_fix`.
    pub id: String,
    pub title: String,
    /// Full symbol path of the repaired symbol.
    pub symbol: String,
    /// Index into the diagnostics of the same question; `None` for a source action.
    pub diagnostic: Option<usize>,
    /// The server's own mark that this is the fix to take.
    pub preferred: bool,
    /// Full paths of the symbols that it changes besides `symbol` (an import goes to the file's module level); empty if
    /// they were not looked up.
    #[serde(default)]
    pub changes: Vec<String>,
}

/// The last action and its result, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastResult {
    pub tool: String,
    pub ok: bool,
    /// The tool's answer in text form.
    pub text: String,
}

/// The action a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub tool: String,
    pub parameters: Value,
}

/// One answer. `action` is `None` when the model is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReply {
    pub action: Option<Action>,
    pub reasoning: String,
    #[serde(rename = "continue")]
    pub proceed: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// The text for the user when it is done or was only asked a question; empty otherwise.
    #[serde(default)]
    pub answer: String,
    /// Further actions that only look, for the same step.
    #[serde(default)]
    pub more: Vec<Action>,
    /// The additions of the mode's contract.
    #[serde(default)]
    pub wish: PlanFeedback,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanReply {
    pub title: String,
    pub reason: String,
    pub steps: Vec<PlanReplyStep>,
    pub confidence: f64,
    /// True if there are no steps because the model cannot do the request.
    #[serde(default, skip)]
    pub declined: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanReplyStep {
    /// The work of the step, one sentence.
    pub title: String,
    /// Full symbol paths that the step may touch.
    pub symbols: Vec<String>,
    /// The diagnostics or the words of the request that it answers.
    pub because: String,
    /// The expected state after it.
    pub expect: String,
    /// `edit`, `examine` or `search`; empty means `edit`.
    #[serde(default)]
    pub kind: String,
    /// Inputs as the plan document writes them: `name = value`.
    #[serde(default)]
    pub with: Vec<String>,
    /// Numbers of the steps that must have been done before it.
    #[serde(default)]
    pub after: Vec<usize>,
    /// Full paths of symbols and files that are there after it and not before.
    #[serde(default)]
    pub creates: Vec<String>,
    /// Criteria as the plan document writes them.
    #[serde(default)]
    pub checks: Vec<String>,
    /// The work to do if the step fails; empty if unknown.
    #[serde(default)]
    pub fallback: String,
}

/// Tokens as the provider counted them; estimated if it did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub calls: u32,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// The part of the prompt tokens that the provider read from its cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// True if any of the counts is our estimate.
    pub estimated: bool,
}

impl Usage {
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_tokens += other.cached_tokens;
        self.estimated |= other.estimated;
    }

    /// Those of the questions and of the answers.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

/// The reason why a model gave no usable answer. Tokens may have been spent all the same.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelError {
    /// No server listens there, or the connection broke before an answer.
    #[error("cannot reach {endpoint}: {detail}")]
    Unreachable { endpoint: String, detail: String },
    #[error("{endpoint} refused the key (HTTP {status})")]
    Unauthorized { endpoint: String, status: u16 },
    /// Still refused after the retries that the server's Retry-After and our own patience allow.
    #[error("{endpoint} is out of capacity (HTTP {status}) after {}", counted(*attempts, "attempt"))]
    Busy { endpoint: String, status: u16, attempts: u32 },
    #[error("{endpoint} answered HTTP {status}: {detail}")]
    Rejected { endpoint: String, status: u16, detail: String },
    /// The stream ended in the middle of the answer.
    #[error("the answer of {endpoint} was cut off: {detail}")]
    Cut { endpoint: String, detail: String },
    /// No byte for longer than the configured patience.
    #[error("{endpoint} sent nothing for {seconds} s")]
    Stalled { endpoint: String, seconds: u64 },
    /// The model, or a filter beside it, will not answer.
    #[error("the model at {endpoint} declines to answer: {detail}")]
    Declined { endpoint: String, detail: String },
    /// The answer does not match the question.
    #[error("the model's answer could not be used: {}", problems.join("; "))]
    Unusable { problems: Vec<String>, text: String },
}

/// The place of a reply that could not be used, in the words of every door; an editor names its command instead.
pub const REPLY_IN_TRACE: &str = "the trace shows the reply";

/// A piece of the model's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken<'a> {
    pub text: &'a str,
    /// True if it is the model's thinking aloud, and no part of its answer.
    pub thought: bool,
}

impl<'a> Spoken<'a> {
    /// A piece of an answer.
    pub fn answer(text: &'a str) -> Self {
        Self { text, thought: false }
    }
}

/// Receives the model's words as they come (its reasoning, not the raw JSON).
pub type OnText<'a> = &'a (dyn Fn(Spoken<'_>) + Send + Sync);

/// A model, local, remote or offline. Dropping the future cancels the call.
#[async_trait]
pub trait Model: Send + Sync {
    /// The name for the user: `offline`, `openai:gpt-…`.
    fn name(&self) -> &str;

    /// The price of its tokens; `None` if nobody has set one.
    fn price(&self) -> Option<Price> {
        None
    }

    /// True if it can do nothing without a provider's diagnostics and fixes.
    fn needs_providers(&self) -> bool {
        false
    }

    async fn step(&self, input: &StepInput, words: OnText<'_>) -> (Result<StepReply, ModelError>, Usage);

    async fn plan(&self, input: &PlanInput, words: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage);

    /// Its abilities: the style, and how much it reads. A server may be asked for them, once.
    async fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// Sends a conversation; returns the message that the model adds to it.
    async fn chat(&self, _: &ChatInput<'_>, _: OnText<'_>) -> (Result<ChatReply, ModelError>, Usage) {
        let problems = vec![format!("{} takes part in no conversation", self.name())];
        (Err(ModelError::Unusable { problems, text: String::new() }), Usage::default())
    }
}
