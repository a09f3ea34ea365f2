//! One thing that happened in a session, with its number, its time and its task, as it goes to every listener.

use serde::{Deserialize, Serialize};

use crate::editor::event::Event;
use crate::events::fact::TaskFact;
use crate::plan::work_mode::{Mode, Phase};
use sextant_diagnostics::policy::Trace;

/// An event in its place in the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventEnvelope {
    /// Counted from 1 in each session, without a gap.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The task that it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub event: TaskEvent,
}

/// What happens. What a front end shows is one part of it: its wire format is that of [`Event`] and stays as it is,
/// while the other parts may grow for those who count, remember or report progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskEvent {
    /// Something for the user to see.
    Shown { event: Event },
    /// The session works on this task from here on: a new one, or one that it goes on with.
    TakenUp {
        request: String,
        mode: Mode,
        /// Whether it has worked on it before.
        #[serde(default)]
        again: bool,
    },
    /// A client outside has begun to edit: its edits are a task beside whatever the session works on.
    OutsideBegan { client: String, request: String },
    /// How far the task is; told when it has been kept.
    PhaseChanged { phase: Phase },
    /// A step of the plan begins, counted from 1.
    StepBegan { step: usize },
    /// What was done, for those who count and remember.
    Did { fact: Box<TaskFact> },
    /// Why something was done, or was not.
    Traced { entry: TraceEntry },
    /// A door has taken the turn for what it asks, and what follows is about that.
    TurnBegan { by: String },
    /// The last word about it has been said.
    TurnEnded { by: String },
    /// The open question is not open any more. `choice` counts from 1; without one nobody waits for the answer now.
    Answered {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<usize>,
    },
}

/// Why something was done, or was not: which diagnostics led to which step, what was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// The step that was being worked out: that of the plan, counted from 1 and 0 while it is made, or that of a
    /// task without a plan.
    pub step: u32,
    /// The call inside of a plan's step, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    #[serde(flatten)]
    pub trace: Trace,
}
