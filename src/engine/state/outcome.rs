//! The outcome of a piece of work: the result of a task, the end of its loop, and the events still to show.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::editor::event::{Event, QuickfixEntry};
use crate::events::envelope::TraceEntry;
use crate::plan::plan_progress::Objection;
use crate::state::answer_status::Status;
use crate::state::authority::Consent;
use crate::state::pending_report::PendingReport;
use crate::state::render::Line;
use crate::state::snapshots::{SnapshotKey, Snapshots};
use sextant_base::failure::Failure;
use sextant_model::step::Usage;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// True if the task came to its own end without a failed step or a remaining new error, and every wanted change was
    /// made. New warnings are reported apart from this.
    pub ok: bool,
    pub summary: String,
    /// The model's closing words; empty when it only worked.
    pub answer: String,
    /// Files that are different now.
    pub files: Vec<String>,
    /// Introduced by the task and still there.
    pub new_diagnostics: Vec<Line>,
    pub fixed: usize,
    pub unchanged: usize,
    pub diagnostics_status: Status,
    pub pending: Vec<String>,
    pub usage: Usage,
    /// Steps of the plan that failed, with the reasons.
    pub failed_steps: Vec<FailedStep>,
    /// The reasons in the task: the diagnostics that led to an action, and the ones set aside, each with its reason.
    pub trace: Vec<TraceEntry>,
}

/// A step that failed, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStep {
    pub step: usize,
    pub title: String,
    pub reason: String,
    /// True if a new plan came in its place.
    pub replaced: bool,
}

/// The state before a task that its list is compared with.
#[derive(Clone, Debug)]
pub(crate) struct ListBaseline {
    pub(crate) start: Snapshots,
    /// How many changes by others the start includes.
    pub(crate) brought: Option<usize>,
    pub(crate) created: BTreeSet<String>,
    /// The part of the start that was first known after an edit that may have brought it.
    pub(crate) late: BTreeSet<SnapshotKey>,
}

/// The list of a task's introduced diagnostics, and the state for a comparison when more is known.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// A client's task, whose list is its own; empty for the user's.
    pub(crate) of: String,
    pub(crate) task: String,
    pub(crate) request: String,
    pub(crate) before: ListBaseline,
    /// The user's permissions: a removed check may not count as a fix.
    pub(crate) consent: Consent,
    /// The reports that were missing at its end and are still missing.
    pub(crate) pending: Vec<PendingReport>,
    /// The new diagnostics of the list as it was shown last.
    pub(crate) entries: Vec<QuickfixEntry>,
    /// The further part of it: diagnostics that an error hid which is gone.
    pub(crate) uncovered: Vec<QuickfixEntry>,
    /// The diagnostics that it has fixed, at the places where they stood.
    pub(crate) fixed: Vec<QuickfixEntry>,
    /// True if its task is of an earlier process: what was typed since is no part of the list.
    pub(crate) is_restored: bool,
}

/// The end of a piece of work, with events still to show. They follow after the door is free for the next command,
/// since the user may answer at once.
#[derive(Debug)]
#[must_use = "the events are not shown yet"]
pub struct Ending<T> {
    pub result: Result<T, Failure>,
    pub events: Vec<Event>,
}

impl<T> Ending<T> {
    /// Builds an end whose last words come from the result itself.
    pub(crate) fn new(result: Result<T, Failure>, events: Vec<Event>, done: impl Fn(&T) -> (bool, String)) -> Self {
        let finished = |outcome: &T| {
            let (ok, summary) = done(outcome);
            Event::Finished { ok, summary, answer: String::new() }
        };
        Self::with_last(result, events, finished)
    }

    fn with_last(result: Result<T, Failure>, mut events: Vec<Event>, finished: impl Fn(&T) -> Event) -> Self {
        events.push(match &result {
            Ok(outcome) => finished(outcome),
            Err(failure) => Event::Failed { failure: failure.clone() },
        });
        Self { result, events }
    }

    /// The same end with another kind of result.
    pub fn map<U>(self, into: impl FnOnce(T) -> U) -> Ending<U> {
        Ending { result: self.result.map(into), events: self.events }
    }
}

impl Ending<Outcome> {
    /// Builds the end of a task.
    pub(crate) fn of_task(result: Result<Outcome, Failure>, events: Vec<Event>) -> Self {
        Self::with_last(result, events, |outcome| Event::Finished {
            ok: outcome.ok,
            summary: outcome.summary.clone(),
            answer: outcome.answer.clone(),
        })
    }
}

/// The way in which the steps ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done {
        changed: bool,
        answer: String,
    },
    OutOfSteps,
    /// The last of the errors.
    TooManyErrors(String),
    /// The model does not want to go on with the step of its plan.
    Objected(Objection),
    /// Its tries are used up and it is not done; the reason, in words.
    Unsolved(String),
}
