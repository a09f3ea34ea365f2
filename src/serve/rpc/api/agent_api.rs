//! `agent/*`: requests to the agent, one at a time, and the events of the session as they happen.

use jsonrpsee::core::SubscriptionResult;
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{Delivery, Outcome, Plan, Request, Undone};

/// The answer to a stop: `stopped` is true if there was a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopTaken {
    pub stopped: bool,
}

/// The outcome of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnswerTaken {
    /// The outcome of the plan that went on with it; `None` if the answer went to the running task.
    pub outcome: Option<Outcome>,
}

/// The parts of a task, as `sextant undo` takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UndoPart {
    /// Empty for all of the task, `step` for its last step, a step's number, or a symbol.
    pub target: String,
    pub partial: bool,
    /// The reason; kept for later work.
    pub because: String,
}

#[rpc(server, client, namespace = "agent", namespace_separator = "/")]
pub trait AgentApi {
    /// Carries out a request, and answers when it is over. `by` names the caller for the clients that watch.
    /// Example: `{"request": {"text": "what is here?", "path": "cart.py", "lines": [1, 3]}, "by": "my script"}`
    #[method(name = "ask", param_kind = map)]
    async fn ask(&self, request: Request, by: Option<String>) -> Result<Outcome, CallError>;

    /// Makes a plan for a request, or changes the waiting plan. Nothing runs before `plan/approve`.
    /// Example: `{"request": {"text": "make this file type-clean", "path": "cart.py"}}`
    #[method(name = "plan", param_kind = map)]
    async fn plan(&self, request: Request, by: Option<String>) -> Result<Plan, CallError>;

    /// Answers the open question with one of its options, counted from 1.
    /// Example: `{"choice": 1}`
    #[method(name = "answer", param_kind = map)]
    async fn answer(&self, choice: usize, by: Option<String>) -> Result<AnswerTaken, CallError>;

    /// Stops the running task. Its finished parts are kept.
    /// Example: `{}`
    #[method(name = "cancel", param_kind = map)]
    async fn cancel(&self) -> Result<StopTaken, CallError>;

    /// Goes on with the last task that is not over. A plan that was never approved runs only with `approved`.
    /// Example: `{"approved": false}`
    #[method(name = "resume", param_kind = map)]
    async fn resume(&self, approved: Option<bool>, by: Option<String>) -> Result<Outcome, CallError>;

    /// Undoes the changes of the last task, or a part of them. The answer names the diagnostics that came back, and how
    /// far they are known.
    /// Example: `{"part": {"target": "step", "because": "it was right before"}}`
    #[method(name = "undo", param_kind = map)]
    async fn undo(&self, part: Option<UndoPart>, by: Option<String>) -> Result<Undone, CallError>;

    /// Brings back the changes of the last undo.
    /// Example: `{}`
    #[method(name = "redo", param_kind = map)]
    async fn redo(&self, by: Option<String>) -> Result<Undone, CallError>;

    /// The events of the session, each with its number. `after` is the last number that the caller has seen; missed
    /// events come first. A caller that reads too slowly, or comes too late for them, gets the current state instead.
    /// Example: `{"after": 0}`
    #[subscription(name = "events" => "event", unsubscribe = "unlisten", item = Delivery, param_kind = map)]
    async fn events(&self, after: Option<u64>) -> SubscriptionResult;
}
