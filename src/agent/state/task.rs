//! The state of one running task.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::plan::mode::Mode;
use crate::agent::plan::progress::PlanProgress;
use crate::agent::plan::question::Question;
use crate::agent::state::analysis::Analysis;
use crate::agent::state::authority::Consent;
use crate::agent::state::baseline::Baseline;
use crate::agent::state::durable::Keep;
use crate::agent::state::journal::Journal;
use crate::agent::state::located::LocatedDiagnostic;
use crate::agent::state::notes::Notes;
use crate::agent::state::offered::Offered;
use crate::agent::state::reach::LookReach;
use crate::agent::state::read_cache::Answered;
use crate::agent::state::risk::Risk;
use crate::agent::state::scope::Scope;
use crate::agent::state::snapshots::{SnapshotKey, Snapshots};
use crate::agent::state::spent::Spent;
use crate::agent::state::trace::SharedTrace;
use crate::base::clock;
use crate::llm::ask;
use crate::llm::step::{LastResult, Usage};

/// What one task knows and has done. It outlives its steps and, for the undo, the task itself.
#[derive(Debug)]
pub struct Task {
    /// See [`new_id`].
    pub id: String,
    pub request: String,
    pub mode: Mode,
    pub current_file: Option<String>,
    pub scope: Scope,
    /// Whether the request forbids every change. The approval of a plan lifts what it forbade for the time being.
    pub read_only: bool,
    /// What was known before the task first touched or looked at each file: the task's own baseline.
    pub start: Snapshots,
    /// The part of it that was first known after the task's first edit.
    pub late_start: BTreeSet<SnapshotKey>,
    pub journal: Journal,
    /// The text of each file as the model has seen it last.
    pub seen: BTreeMap<String, String>,
    /// Fixes that were tried and did not do what they are for: they are not offered again.
    pub tried: BTreeSet<String>,
    /// What no fix was offered for when the servers were asked last: asked about again after the rest.
    pub barren: BTreeSet<String>,
    /// Fixes of this step that did what they are for and left nothing new.
    pub mended: u32,
    /// The fixes of the last question.
    pub offered: Vec<Offered>,
    pub results: Vec<LastResult>,
    /// Files that the task has created; nothing can be old in them.
    pub created: BTreeSet<String>,
    /// The baseline of edits whose answer is not complete yet.
    pub pending: Option<Snapshots>,
    /// The baseline of a burst of edits that is settled once, with the next result.
    pub deferred: Option<Baseline>,
    /// Diagnostics that came late, to be told with the next answer.
    pub late: Vec<LocatedDiagnostic>,
    pub usage: Usage,
    pub step: u32,
    /// Errors in a row.
    pub errors: u32,
    /// What is to be done about a diagnostic, as far as it was weighed, by symbol and message.
    pub suggested: BTreeMap<String, String>,
    /// Fixes after which a diagnostic was still there, by symbol and message.
    pub survived: BTreeMap<String, u32>,
    pub trace: SharedTrace,
    /// Whether its list of introduced diagnostics has been shown already.
    pub shown: bool,
    /// Failed steps since the plan was made (anew).
    pub plan_errors: u32,
    /// Plans made anew by the task itself.
    pub replans: u32,
    /// What the user has allowed beyond what was asked for, and what waits for a word.
    pub consent: Consent,
    /// What the user is asked before the plan goes on.
    pub question: Option<Question>,
    pub spent: Spent,
    /// The reads that it was answered.
    pub answered: Answered,
    /// What the request is taken for, and what it names.
    pub analysis: Analysis,
    /// What is known of the plan that it carries out.
    pub course: PlanProgress,
    /// What it may cost and break; for the user to know.
    pub risk: Option<Risk>,
    /// What of it is kept for another process to go on with.
    pub keep: Keep,
    /// How far it looked over the workspace, where it did.
    pub(crate) reach: Option<LookReach>,
    /// What it leaves to memory.
    pub notes: Notes,
}

impl Task {
    pub fn new(request: &str, mode: Mode, current_file: Option<String>, scope: Scope) -> Self {
        let id = clock::new_id();
        let trace = SharedTrace::of(&id, request);
        if mode != Mode::Simple {
            trace.planning();
        }
        Self {
            journal: Journal::new(id.clone(), request),
            id,
            request: request.to_owned(),
            read_only: ask::forbids(request) && (mode == Mode::Simple || !ask::forbids_for_now(request)),
            mode,
            current_file,
            scope,
            start: Snapshots::new(),
            late_start: BTreeSet::new(),
            seen: BTreeMap::new(),
            tried: BTreeSet::new(),
            barren: BTreeSet::new(),
            mended: 0,
            offered: Vec::new(),
            results: Vec::new(),
            created: BTreeSet::new(),
            pending: None,
            deferred: None,
            late: Vec::new(),
            usage: Usage::default(),
            step: 0,
            errors: 0,
            suggested: BTreeMap::new(),
            survived: BTreeMap::new(),
            trace,
            shown: false,
            plan_errors: 0,
            replans: 0,
            consent: Consent::default(),
            question: None,
            spent: Spent::default(),
            answered: Answered::default(),
            analysis: Analysis::default(),
            course: PlanProgress::default(),
            risk: None,
            keep: Keep::default(),
            reach: None,
            notes: Notes::default(),
        }
    }

    /// Keeps the first thing that is known of each file as the task's baseline.
    pub fn remember_start(&mut self, known: &Snapshots, has_begun: bool) {
        let (snaps, late) = (std::mem::take(&mut self.start), std::mem::take(&mut self.late_start));
        let mut start = Baseline { snaps, late };
        start.take(known, has_begun);
        (self.start, self.late_start) = (start.snaps, start.late);
    }

    /// What an undo calls the step: that of the plan, or of the task where it has none; counted from 1.
    pub(crate) fn step_number(&self) -> usize {
        if self.mode == Mode::Simple { usize::try_from(self.step).unwrap_or(0) } else { self.keep.at }
    }

    /// The title of an offered fix, for a reader.
    pub(crate) fn offered_title(&self, id: &str) -> Option<String> {
        let offer = self.offered.iter().find(|offer| offer.id == id)?;
        offer.key.split('|').next().map(str::to_owned)
    }
}
