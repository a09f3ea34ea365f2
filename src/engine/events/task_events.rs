//! The events of one task: under its own name, with numbered steps, and never the same trace twice.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::events::envelope::{TaskEvent, TraceEntry};
use crate::events::fact::TaskFact;
use crate::events::stream::{EventStream, Observer};
use crate::plan::work_mode::Mode;
use sextant_base::lock::lock;
use sextant_diagnostics::policy::Trace;

/// The stage of the plan that the task carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No plan: the steps are those of the task.
    Simple,
    Planning,
    Step(u32),
}

#[derive(Debug)]
struct KeptEvents {
    stage: Stage,
    /// The traces emitted so far: a step that sees the same as the one before adds none.
    known: HashSet<Trace>,
    /// True if a session has taken the task up.
    joined: bool,
}

/// The stream for one task. Until a session takes the task up, its events reach nobody.
pub(crate) struct TaskEvents {
    stream: Arc<EventStream>,
    /// Observers of this task alone: they live as long as it does, and get its events from the beginning.
    own: Vec<Arc<dyn Observer>>,
    task: String,
    state: Mutex<KeptEvents>,
}

impl TaskEvents {
    pub(crate) fn new(task: &str, mode: Mode) -> Self {
        let stage = if mode == Mode::Simple { Stage::Simple } else { Stage::Planning };
        let state = Mutex::new(KeptEvents { stage, known: HashSet::new(), joined: false });
        Self { stream: Arc::default(), own: Vec::new(), task: task.to_owned(), state }
    }

    /// Adds an observer of this task alone.
    pub(crate) fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.own.push(observer);
    }

    /// Emits to this stream from here on, about this request.
    pub(crate) fn take_up(&mut self, stream: &Arc<EventStream>, request: &str, mode: Mode) {
        self.stream = Arc::clone(stream);
        let again = std::mem::replace(&mut lock(&self.state).joined, true);
        self.emit(TaskEvent::TakenUp { request: request.to_owned(), mode, again });
    }

    /// Like [`Self::take_up`] for the edits of a client outside: the session's own work stays current.
    pub(crate) fn begin_outside(&mut self, stream: &Arc<EventStream>, client: &str, request: &str) {
        self.stream = Arc::clone(stream);
        lock(&self.state).joined = true;
        self.emit(TaskEvent::OutsideBegan { client: client.to_owned(), request: request.to_owned() });
    }

    pub(crate) fn emit(&self, event: TaskEvent) {
        self.stream.emit_to(Some(&self.task), event, &self.own);
    }

    /// Reports a finished action, once, to all that count and remember.
    pub(crate) fn did(&self, fact: TaskFact) {
        self.emit(TaskEvent::Did { fact: Box::new(fact) });
    }

    /// A plan is made, or made again.
    pub(crate) fn planning(&self) {
        lock(&self.state).stage = Stage::Planning;
    }

    /// A step of the plan begins, counted from 1.
    pub(crate) fn step_began(&self, step: usize) {
        lock(&self.state).stage = Stage::Step(u32::try_from(step).unwrap_or(u32::MAX));
        self.emit(TaskEvent::StepBegan { step });
    }

    /// Reports a reason at the loop's call of this number, unless the task has reported the same before.
    pub(crate) fn trace(&self, call: u32, trace: Trace) {
        let (step, call) = match lock(&self.state).stage {
            Stage::Simple => (call, None),
            Stage::Planning => (0, None),
            Stage::Step(step) => (step, Some(call)),
        };
        self.add_trace(TraceEntry { step, call, trace });
    }

    /// Reports a reason about a step of the plan as a whole.
    pub(crate) fn trace_step(&self, step: u32, trace: Trace) {
        self.add_trace(TraceEntry { step, call: None, trace });
    }

    pub(crate) fn has_reported(&self, trace: &Trace) -> bool {
        lock(&self.state).known.contains(trace)
    }

    fn add_trace(&self, entry: TraceEntry) {
        if lock(&self.state).known.insert(entry.trace.clone()) {
            self.emit(TaskEvent::Traced { entry });
        }
    }
}

impl std::fmt::Debug for TaskEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskEvents").field("task", &self.task).field("state", &self.state).finish_non_exhaustive()
    }
}
