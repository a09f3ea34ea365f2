//! The state after a number of events, for a listener that comes late or has missed some.

use serde::{Deserialize, Serialize};

use crate::editor::event::Event;
use crate::events::envelope::{EventEnvelope, TaskEvent};
use crate::plan::work_mode::{Mode, Phase};

/// The result of all events up to `seq`. The field of something shown holds the event that showed it, so that a late
/// front end shows the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamState {
    /// The number of the last event in it; 0 before the first.
    pub seq: u64,
    /// The workspace.
    pub root: String,
    /// The last request; `None` before the first.
    pub work: Option<WorkState>,
    /// True if nothing runs: the last work has ended or pauses.
    pub over: bool,
    /// The plan document as it was shown last.
    pub plan: Option<Event>,
    /// The open question.
    pub question: Option<Event>,
    /// The list of introduced diagnostics as it was shown last: that of the last task that changed something.
    pub introduced: Option<Event>,
    /// The task that the list belongs to.
    pub introduced_by: Option<String>,
    /// The task that an earlier process left behind, until new work begins.
    pub interrupted: Option<Event>,
    /// The final message of work that is over.
    pub end: Option<Event>,
}

/// The work that runs now or ran last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkState {
    /// Its name; `None` for work without a task.
    pub task: Option<String>,
    pub request: String,
    /// `simple`, `planner`, `supervised`, or `direct` for work without a model.
    pub mode: String,
    pub model: String,
    /// `None` until the task is stored.
    pub phase: Option<Phase>,
    /// The step of the plan that runs or ran last, counted from 1; 0 before the first.
    pub step: usize,
}

impl StreamState {
    pub fn new(root: &str) -> Self {
        Self { root: root.to_owned(), over: true, ..Self::default() }
    }

    /// Adds the next event. An event that is already included changes nothing.
    pub fn fold(&mut self, envelope: &EventEnvelope) {
        if envelope.seq <= self.seq {
            return;
        }
        self.seq = envelope.seq;
        match &envelope.event {
            TaskEvent::Shown { event } => self.shown(envelope.task.as_deref(), event),
            TaskEvent::TakenUp { request, mode, .. } => self.taken_up(envelope.task.as_deref(), request, *mode),
            TaskEvent::PhaseChanged { phase } => {
                self.work.iter_mut().for_each(|work| work.phase = Some(*phase));
            }
            TaskEvent::StepBegan { step } => self.work.iter_mut().for_each(|work| work.step = *step),
            TaskEvent::Answered { .. } => self.question = None,
            TaskEvent::Did { .. }
            | TaskEvent::Traced { .. }
            | TaskEvent::OutsideBegan { .. }
            | TaskEvent::TurnBegan { .. }
            | TaskEvent::TurnEnded { .. } => {}
        }
    }

    fn taken_up(&mut self, task: Option<&str>, request: &str, mode: Mode) {
        (self.over, self.end, self.interrupted) = (false, None, None);
        // Work without a task leaves everything else as it stands.
        if task.is_none() || self.work.as_ref().is_some_and(|work| work.task.as_deref() == task) {
            return;
        }
        self.question = None;
        if mode != Mode::Simple {
            self.plan = None;
        }
        self.work = Some(WorkState {
            task: task.map(str::to_owned),
            request: request.to_owned(),
            mode: mode.to_string(),
            ..WorkState::default()
        });
    }

    fn shown(&mut self, task: Option<&str>, event: &Event) {
        let place = match event {
            Event::Started { request, mode, model } => {
                let work = self.work.take().filter(|work| task.is_some() && work.task.as_deref() == task);
                let (request, mode, model) = (request.clone(), mode.clone(), model.clone());
                let task = task.map(str::to_owned);
                self.work = Some(WorkState { task, request, mode, model, ..work.unwrap_or_default() });
                (self.over, self.end, self.interrupted) = (false, None, None);
                return;
            }
            Event::Plan { .. } => &mut self.plan,
            Event::Question { .. } => &mut self.question,
            Event::Introduced { .. } => {
                self.introduced_by = task.map(str::to_owned);
                &mut self.introduced
            }
            Event::Interrupted { .. } => &mut self.interrupted,
            Event::Finished { .. } | Event::Failed { .. } => {
                self.over = true;
                &mut self.end
            }
            Event::Risk { .. }
            | Event::Progress { .. }
            | Event::Words { .. }
            | Event::Acting { .. }
            | Event::Acted { .. }
            | Event::Edited { .. }
            | Event::Trace { .. }
            | Event::Page { .. }
            | Event::Review { .. }
            | Event::Phase { .. }
            | Event::Place { .. }
            | Event::BlockTarget { .. }
            | Event::Places { .. }
            | Event::Log { .. }
            | Event::Conversation { .. }
            | Event::Answered
            | Event::Queued { .. }
            | Event::PlanChecked { .. }
            | Event::Mode { .. }
            | Event::Waiting { .. }
            | Event::Refused { .. } => return,
        };
        *place = Some(event.clone());
    }
}
