//! How a task speaks to the stream: in its own name, with its steps numbered, and never the same trace twice.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::events::envelope::{TaskEvent, TraceEntry};
use crate::events::fact::TaskFact;
use crate::events::stream::{EventStream, Observer};
use crate::plan::work_mode::Mode;
use sextant_base::lock::lock;
use sextant_diagnostics::policy::Trace;

/// Where a plan stands that the task carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// There is none: its steps are those of the task.
    Simple,
    Planning,
    Step(u32),
}

#[derive(Debug)]
struct Said {
    stage: Stage,
    /// What was said already: a step that sees the same as the one before says nothing new.
    known: HashSet<Trace>,
    /// Whether a session has taken the task up.
    joined: bool,
}

/// The stream as one task has it. Until a session takes the task up it speaks to nobody.
pub(crate) struct TaskEvents {
    stream: Arc<EventStream>,
    /// Observers of this task alone: they live as long as it does, and hear of it from its beginning.
    own: Vec<Arc<dyn Observer>>,
    task: String,
    said: Mutex<Said>,
}

impl TaskEvents {
    pub(crate) fn new(task: &str, mode: Mode) -> Self {
        let stage = if mode == Mode::Simple { Stage::Simple } else { Stage::Planning };
        let said = Mutex::new(Said { stage, known: HashSet::new(), joined: false });
        Self { stream: Arc::default(), own: Vec::new(), task: task.to_owned(), said }
    }

    /// Tells this observer as well, of this task alone.
    pub(crate) fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.own.push(observer);
    }

    /// Speaks to this stream from here on: of what is done about this request.
    pub(crate) fn take_up(&mut self, stream: &Arc<EventStream>, request: &str, mode: Mode) {
        self.stream = Arc::clone(stream);
        let again = std::mem::replace(&mut lock(&self.said).joined, true);
        self.emit(TaskEvent::TakenUp { request: request.to_owned(), mode, again });
    }

    /// The same for the edits of a client outside: what the session works on stays what it is.
    pub(crate) fn begin_outside(&mut self, stream: &Arc<EventStream>, client: &str, request: &str) {
        self.stream = Arc::clone(stream);
        lock(&self.said).joined = true;
        self.emit(TaskEvent::OutsideBegan { client: client.to_owned(), request: request.to_owned() });
    }

    pub(crate) fn emit(&self, event: TaskEvent) {
        self.stream.emit_to(Some(&self.task), event, &self.own);
    }

    /// Tells what was done, once, for all who count and remember.
    pub(crate) fn did(&self, fact: TaskFact) {
        self.emit(TaskEvent::Did { fact: Box::new(fact) });
    }

    /// A plan is made, or made anew.
    pub(crate) fn planning(&self) {
        lock(&self.said).stage = Stage::Planning;
    }

    /// A step of the plan begins, counted from 1.
    pub(crate) fn step_began(&self, step: usize) {
        lock(&self.said).stage = Stage::Step(u32::try_from(step).unwrap_or(u32::MAX));
        self.emit(TaskEvent::StepBegan { step });
    }

    /// Tells why, at the loop's call of this number, unless the task has told the same before.
    pub(crate) fn trace(&self, call: u32, trace: Trace) {
        let (step, call) = match lock(&self.said).stage {
            Stage::Simple => (call, None),
            Stage::Planning => (0, None),
            Stage::Step(step) => (step, Some(call)),
        };
        self.tell(TraceEntry { step, call, trace });
    }

    /// Tells why, about a step of the plan as a whole.
    pub(crate) fn trace_step(&self, step: u32, trace: Trace) {
        self.tell(TraceEntry { step, call: None, trace });
    }

    pub(crate) fn has_told(&self, trace: &Trace) -> bool {
        lock(&self.said).known.contains(trace)
    }

    fn tell(&self, entry: TraceEntry) {
        if lock(&self.said).known.insert(entry.trace.clone()) {
            self.emit(TaskEvent::Traced { entry });
        }
    }
}

impl std::fmt::Debug for TaskEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskEvents").field("task", &self.task).field("said", &self.said).finish_non_exhaustive()
    }
}
