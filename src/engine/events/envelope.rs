//! One event of a session, with its number, its time and its task, as every listener gets it.

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
    /// The task that the event is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub event: TaskEvent,
}

/// Everything that can happen. A front end shows one part of it, [`Event`], whose wire format stays as it is. The other
/// parts may grow for listeners that count, remember or report progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskEvent {
    /// Something for the user to see.
    Shown { event: Event },
    /// The session works on this task from here on, either a new task or a resumed one.
    TakenUp {
        request: String,
        mode: Mode,
        /// True if the session has worked on it before.
        #[serde(default)]
        again: bool,
    },
    /// A client outside has begun to edit. Its edits are a task beside the one that the session works on.
    OutsideBegan { client: String, request: String },
    /// The phase of the task; sent after the phase is stored.
    PhaseChanged { phase: Phase },
    /// A step of the plan begins, counted from 1.
    StepBegan { step: usize },
    /// A finished action, for listeners that count and remember.
    Did { fact: Box<TaskFact> },
    /// The reason why something was done or left undone.
    Traced { entry: TraceEntry },
    /// A door has taken the turn for its request, and the following events are about that.
    TurnBegan { by: String },
    /// The turn is over, and no further event is about it.
    TurnEnded { by: String },
    /// The question is no longer open. `choice` counts from 1; without one nobody waits for the answer now.
    Answered {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<usize>,
        /// The user's own words, where they were no choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
    },
}

/// The reason why something was done or left undone: the diagnostics that led to a step, or a note of what was set
/// aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// The step in work. With a plan it counts from 1, and 0 stands for the making of the plan. Without a plan it is
    /// the step of the task.
    pub step: u32,
    /// The call inside a plan's step, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    #[serde(flatten)]
    pub trace: Trace,
}
