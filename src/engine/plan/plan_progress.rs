//! What is known of the plan while it is carried out.

use serde::{Deserialize, Serialize};

use sextant_model::plan_contract::Contract;

/// What a task knows of the plan that it carries out, beside the plan itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PlanProgress {
    /// The contract of the step that runs; simple where there is no plan.
    pub contract: Contract,
    /// What was handed to the step that runs.
    pub inputs: Vec<(String, String)>,
    /// How many of the last results came of the last answer.
    pub fresh: usize,
    /// The least that the model said of how far it kept to the plan in this step, 0 to 1.
    pub adherence: Option<f64>,
    /// What the user was asked in this plan, and what came of it.
    pub escalations: Vec<String>,
    /// So many steps stand before the last plan that was made anew: it answers for what failed in them.
    pub replaced: usize,
}

/// Why a model does not go on with its step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) reason: String,
    /// What it wants to ask the user; empty where it only wants another plan.
    pub(crate) question: String,
    pub(crate) options: Vec<String>,
}
