//! The input of a question to a model: the facts, and the request.

use serde::Serialize;

use crate::plan_contract::Contract;
use crate::prompt::prompt_budget::PromptBudget;
use crate::question_frame::Framing;
use crate::request_kind::filter_reports::RepairPlace;
use crate::step::{DiagnosticLine, FixOffer, LastResult};
use crate::tools::ToolSpec;

/// One question. The context is the same for every kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelInput<A> {
    pub context: ModelContext,
    pub ask: A,
}

/// One step of the work.
pub type StepInput = ModelInput<StepAsk>;

/// A whole plan.
pub type PlanInput = ModelInput<PlanAsk>;

/// The present facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelContext {
    /// The tools of a step; the steps of a plan are carried out with them.
    #[serde(skip)]
    pub tools: &'static [ToolSpec],
    pub request: RequestFacts,
    pub sources: SourceFacts,
    pub reports: ReportFacts,
    pub memory: MemoryFacts,
    pub framing: Framing,
    /// The budget of each part of the prompt.
    #[serde(skip)]
    pub budget: PromptBudget,
}

/// The user's wish, and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestFacts {
    /// The request; for a plan's step, the words of the step.
    pub query: String,
    /// For a plan's step: the request that the plan was made for, in the user's words; empty otherwise.
    pub user: String,
    /// The text of the list entry that the request was made on, which is not the user's; empty elsewhere.
    pub entry: String,
    /// The line that the cursor is on, in words; empty if unknown.
    pub cursor: String,
    /// Path of the active file, relative to the root.
    pub current_file: Option<String>,
    /// Full symbol paths that may be edited, and whose imports may; empty means the whole workspace.
    pub scope: Vec<String>,
    /// The conversation before the request, oldest first: messages and results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// The meanings of the names in the query, a line each: `` `total` is src/cart.py::Cart::total ``.
    pub named: Vec<String>,
    /// The same for a request to repair, for a model that reads no prompt.
    #[serde(skip)]
    pub places: Vec<RepairPlace>,
}

/// The texts to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceFacts {
    /// The source of the scope, as `(symbol path, text)`.
    pub texts: Vec<(String, String)>,
    /// Files of the workspace, relative to the root.
    pub workspace: Vec<String>,
}

/// The reports of the diagnostics providers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReportFacts {
    pub diagnostics: Vec<DiagnosticLine>,
    /// For a plan: all diagnostics in scope, summed up by symbol and by theme, if they are more than a few.
    pub groups: Vec<String>,
    /// Providers without an answer for the present text, as `basedpyright (a.py)`; their known diagnostics are older.
    pub unsettled: Vec<String>,
    /// The number of reported diagnostics outside of `diagnostics`: their fixes were not requested.
    pub left_out: usize,
    /// The number of older diagnostics in scope that the request is not about; they are not among `diagnostics`.
    pub older: usize,
    /// The number of the request's diagnostics that are neither shown nor counted in `left_out`.
    pub more: usize,
    pub fixes: Vec<FixOffer>,
    /// Codes that a request to repair names, without a report when the work began: `F541`.
    #[serde(skip)]
    pub absent: Vec<String>,
}

/// The remembered lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryFacts {
    pub lines: Vec<String>,
    /// The user's remarks on earlier changes; they come last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The most tokens that all of it may take.
    pub tokens: usize,
}

/// A question for a step: the other modes add a contract to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepAsk {
    /// Counted from 1.
    pub step: u32,
    /// Errors in a row.
    pub error_count: u32,
    /// Results so far, oldest first; the model must react to the last one.
    pub results: Vec<LastResult>,
    /// The number of the last results that come from the last answer; they are shown whole.
    pub fresh: usize,
    /// Values from earlier steps and the session for this one, as `(name, text)`.
    pub inputs: Vec<(String, String)>,
    /// The mode's addition to the question.
    pub contract: Contract,
    /// Offered fixes that were applied since this work began; `results` has only the last of them.
    #[serde(skip)]
    pub applied: usize,
}

/// A question for a plan: the same facts, a whole plan back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanAsk {
    /// The problems of the last plan, when it is asked again.
    pub problems: Vec<String>,
    /// The present plan, one numbered line a step: the kept part, or the part to change.
    pub standing: Vec<String>,
    /// The change that the user wants in it; empty if the user does not ask.
    pub change: String,
}
