//! What a model is asked: where things stand, and what is wanted of it.

use serde::Serialize;

use crate::plan_contract::Contract;
use crate::prompt::prompt_budget::PromptBudget;
use crate::question_frame::Framing;
use crate::request_kind::repair_filter::RepairPlace;
use crate::step::{DiagnosticLine, FixOffer, LastResult};
use crate::tools::ToolSpec;

/// One question. The context is the same whatever is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelInput<A> {
    pub context: ModelContext,
    pub ask: A,
}

/// One step of the work.
pub type StepInput = ModelInput<StepAsk>;

/// A whole plan.
pub type PlanInput = ModelInput<PlanAsk>;

/// Where things stand.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelContext {
    /// What a step may ask for, and what the steps of a plan are carried out with.
    #[serde(skip)]
    pub tools: &'static [ToolSpec],
    pub request: RequestFacts,
    pub sources: SourceFacts,
    pub reports: ReportFacts,
    pub memory: MemoryFacts,
    pub framing: Framing,
    /// How much of each part the model reads.
    #[serde(skip)]
    pub budget: PromptBudget,
}

/// What the user wants, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestFacts {
    /// The request; of a plan's step, what the step says.
    pub query: String,
    /// Of a plan's step: the request that the plan was made for, in the user's words; empty otherwise.
    pub user: String,
    /// The line that the cursor is on, in words; empty where it is not known.
    pub cursor: String,
    /// Path of the active file, relative to the root.
    pub current_file: Option<String>,
    /// Full symbol paths that may be edited, and whose imports may; empty means the whole workspace.
    pub scope: Vec<String>,
    /// What the names in the query stand for, a line each: `` `total` is src/cart.py::Cart::total ``.
    pub named: Vec<String>,
    /// The same of a request to repair, for a model that reads no prompt.
    #[serde(skip)]
    pub places: Vec<RepairPlace>,
}

/// What there is to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceFacts {
    /// The source of the scope, as `(symbol path, text)`.
    pub texts: Vec<(String, String)>,
    /// Files of the workspace, relative to the root.
    pub workspace: Vec<String>,
}

/// What the diagnostics providers say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReportFacts {
    pub diagnostics: Vec<DiagnosticLine>,
    /// For a plan: all that is in scope, summed up by symbol and by theme, where it is more than a few.
    pub groups: Vec<String>,
    /// Who has not answered about the text as it is, as `basedpyright (a.py)`; what is known of them is older.
    pub unsettled: Vec<String>,
    /// How many reported diagnostics are not among `diagnostics`: nobody was asked for their fixes.
    pub left_out: usize,
    /// How many in scope are older and not what the request is about; they are not among `diagnostics`.
    pub older: usize,
    /// How many the request is about that are neither shown nor counted in `left_out`.
    pub more: usize,
    pub fixes: Vec<FixOffer>,
    /// What a request to repair names, and nobody reported when the work began: `F541`.
    #[serde(skip)]
    pub absent: Vec<String>,
}

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryFacts {
    pub lines: Vec<String>,
    /// The most tokens that it may take; the least of the modes' limits where it is not said.
    pub tokens: Option<usize>,
}

/// A question for a step: the other modes add a contract to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepAsk {
    /// Counted from 1.
    pub step: u32,
    /// Errors in a row.
    pub error_count: u32,
    /// Results so far, oldest first; the last one is what the model must react to.
    pub results: Vec<LastResult>,
    /// How many of the last results came of the last answer; they are shown whole.
    pub fresh: usize,
    /// What earlier steps and the session hand to this one, as `(name, text)`.
    pub inputs: Vec<(String, String)>,
    /// What the mode adds to the question.
    pub contract: Contract,
    /// Offered fixes that were applied since this work began; of them `results` has the last alone.
    #[serde(skip)]
    pub applied: usize,
}

/// A question for a plan: the same facts, a whole plan back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanAsk {
    /// What was wrong with the last plan, when it is asked again.
    pub problems: Vec<String>,
    /// The plan that stands, one numbered line a step: what is kept of it, or what is to be changed.
    pub standing: Vec<String>,
    /// What the user wants changed in it; empty where it is not the user who asks.
    pub change: String,
}
