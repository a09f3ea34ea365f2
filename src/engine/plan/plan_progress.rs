//! Keeps the state of a plan while it is carried out.

use serde::{Deserialize, Serialize};

use sextant_model::plan_contract::Contract;

/// The state that a task keeps of the plan that it carries out, beside the plan itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PlanProgress {
    /// The contract of the step that runs; simple where there is no plan.
    pub contract: Contract,
    /// Inputs of the step that runs.
    pub inputs: Vec<(String, String)>,
    /// How many of the last results belong to the last answer.
    pub fresh: usize,
    /// The lowest adherence to the plan that the model reported in this step, 0 to 1.
    pub adherence: Option<f64>,
    /// The questions to the user in this plan, with their outcomes.
    pub escalations: Vec<String>,
    /// Number of steps before the last new plan, which replaces those of them that failed.
    pub replaced: usize,
}

/// Why a model does not continue its step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) reason: String,
    /// Its question to the user; empty where it only wants another plan.
    pub(crate) question: String,
    pub(crate) options: Vec<String>,
}
