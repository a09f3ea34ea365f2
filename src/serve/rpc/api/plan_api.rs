//! `plan/*`: the plan that waits or runs.

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{Outcome, Plan, Steps};

/// The current plan: the document that a user reads, and its data if the plan belongs to this session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanShown {
    pub markdown: String,
    pub phase: String,
    pub plan: Option<Plan>,
    /// The open question and its options, counted from 1.
    pub question: Option<(String, Vec<String>)>,
}

#[rpc(server, client, namespace = "plan", namespace_separator = "/")]
pub trait PlanApi {
    /// The waiting plan, of this session or of an earlier one.
    /// Example: `{}`
    #[method(name = "get", param_kind = map)]
    async fn plan_now(&self) -> Result<PlanShown, CallError>;

    /// Changes the waiting plan. With words in `change` the model makes its open steps again. With `markdown` the plan
    /// is a whole document, as `plan/get` gives it: a number in it means the step that has it there. Steps that
    /// have run stay as they are.
    /// Example: `{"change": "leave the tests alone"}`
    #[method(name = "set", param_kind = map)]
    async fn change(
        &self,
        change: Option<String>,
        markdown: Option<String>,
        by: Option<String>,
    ) -> Result<Plan, CallError>;

    /// Runs the waiting plan: all of it, or its next step alone. `unseen` means that no user has read it: files that
    /// run by being there are asked about then, though the plan names them.
    /// Example: `{"steps": "all"}`
    #[method(name = "approve", param_kind = map)]
    async fn approve(
        &self,
        steps: Option<Steps>,
        unseen: Option<bool>,
        by: Option<String>,
    ) -> Result<Outcome, CallError>;

    /// Runs the next step of the waiting plan.
    /// Example: `{}`
    #[method(name = "step", param_kind = map)]
    async fn step(&self, by: Option<String>) -> Result<Outcome, CallError>;
}
