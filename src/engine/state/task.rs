//! The state of one running task.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::events::stream::Observer;
use crate::events::task_events::TaskEvents;
use crate::plan::plan_progress::PlanProgress;
use crate::plan::user_question::Question;
use crate::plan::work_mode::Mode;
use crate::state::analysis::Analysis;
use crate::state::authority::Consent;
use crate::state::durable::Keep;
use crate::state::edit_baseline::Baseline;
use crate::state::edit_request::EditRequest;
use crate::state::journal::Journal;
use crate::state::look_reach::LookReach;
use crate::state::notes_log::NotesLog;
use crate::state::offered::Offered;
use crate::state::read_cache::Answered;
use crate::state::read_views::SeenTexts;
use crate::state::risk::Risk;
use crate::state::snapshots::{SnapshotKey, Snapshots};
use crate::state::task_scope::Scope;
use crate::state::transcript::Transcript;
use crate::state::unlooked::Unlooked;
use crate::state::usage::SpentLog;
use sextant_base::clock;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::model::Report;
use sextant_model::request_kind;
use sextant_model::request_kind::repair_filter::RepairPlace;
use sextant_model::step::LastResult;

/// What one task knows and has done. It outlives its steps and, for the undo, the task itself.
#[derive(Debug)]
pub(crate) struct Task {
    pub request: String,
    pub mode: Mode,
    pub scope: Scope,
    /// What it has changed; its name is the task's, see [`clock::new_id`].
    pub journal: Journal,
    /// Where it says what happens.
    pub events: TaskEvents,
    pub intent: TaskIntent,
    pub reports: TaskReports,
    pub conversation: Conversation,
    pub counts: TaskCounts,
    pub progress: TaskProgress,
    /// What of it is kept for another process to go on with.
    pub keep: Keep,
    /// What it leaves to memory: an observer collects it.
    pub notes: Arc<NotesLog>,
}

/// What the user wants, and has allowed.
#[derive(Debug, Default)]
pub(crate) struct TaskIntent {
    pub current_file: Option<String>,
    /// The client outside whose edits these are; `None` where our own loop works.
    pub client: Option<String>,
    /// The name of the call of that client that is carried out, which no other call has: what it edits is kept with it.
    pub once: Option<String>,
    /// The line that the user's cursor is on, in words; empty where no line was given.
    pub cursor: String,
    /// Whether the request forbids every change. The approval of a plan lifts what it forbade for the time being.
    pub read_only: bool,
    /// What the request is taken for, and what it names.
    pub analysis: Analysis,
    /// Where a request to repair wants it done, for a model that reads no prompt.
    pub places: Vec<RepairPlace>,
    /// What it may cost and break; for the user to know.
    pub risk: Option<Risk>,
    /// What the user has allowed beyond what was asked for, and what waits for a word.
    pub consent: Consent,
}

/// What is known of diagnostics, and what of that was told.
#[derive(Debug, Default)]
pub(crate) struct TaskReports {
    /// What was known before the task first touched or looked at each file: the task's own baseline.
    pub start: Snapshots,
    /// What there is to know of files that its edits do not change.
    pub(crate) elsewhere: ReachReports,
    /// What was known right before the first edit of each file since the step of the plan began.
    pub first: Baseline,
    /// The baseline of edits whose answer is not complete yet.
    pub pending: Option<Snapshots>,
    /// The baseline of a burst of edits that is settled once, with the next result.
    pub deferred: Option<Baseline>,
    /// What comes later than an edit waits for it.
    pub(crate) late: LateReports,
    /// What is known of the fixes that were asked for.
    pub(crate) offers: OfferReports,
    /// Files that the task has created; nothing can be old in them.
    pub created: BTreeSet<String>,
    /// What is to be done about a diagnostic, as far as it was weighed, by symbol and message.
    pub suggested: BTreeMap<String, String>,
    /// Fixes after which a diagnostic was still there, by symbol and message.
    pub survived: BTreeMap<String, u32>,
    /// Whether its list of introduced diagnostics has been shown already.
    pub shown: bool,
    /// How far it looked over the workspace, where it did.
    pub(crate) reach: Option<LookReach>,
}

/// What is known of the fixes that were asked for.
#[derive(Debug, Default)]
pub(crate) struct OfferReports {
    /// Who was asked for the fixes of a diagnostic and has not answered, by symbol and message.
    pub(crate) unanswered: BTreeMap<String, Vec<String>>,
    /// Providers that were waited for when they were asked for fixes, and whether they answered at last.
    pub(crate) waited: BTreeMap<String, bool>,
    /// What no fix was offered for when the servers were asked last: asked about again after the rest.
    pub(crate) barren: BTreeSet<String>,
}

/// What comes later than an edit waits for it.
#[derive(Debug, Default)]
pub(crate) struct LateReports {
    /// Diagnostics that are to be told with the next answer.
    pub(crate) found: Vec<LocatedDiagnostic>,
    /// Whether somebody may still answer about the last edit.
    pub(crate) to_come: bool,
    /// What an end has waited for.
    pub(crate) last_look: Option<LastLook>,
}

/// What was answered to an end that has waited.
#[derive(Debug)]
pub(crate) struct LastLook {
    /// Checkpoints of the task then.
    pub(crate) edits: usize,
    pub(crate) reports: Vec<Report>,
}

/// What is known of the files in reach of a task's edits.
#[derive(Debug, Default)]
pub(crate) struct ReachReports {
    /// Those that it looked at.
    pub(crate) reached: BTreeSet<String>,
    /// Files with a word that an edit changed, which a server knows to mean something else there.
    pub(crate) unrelated: BTreeSet<String>,
    /// Those that it did not look at.
    pub(crate) unlooked: Unlooked,
    /// The part of its baseline that was first known after an edit that may have brought it.
    pub(crate) late: BTreeSet<SnapshotKey>,
    /// What is said there, until an answer has told of it.
    pub(crate) first_seen: Vec<LocatedDiagnostic>,
}

/// What a task's comparisons begin with.
pub(crate) struct BegunReports {
    start: Snapshots,
    late_start: BTreeSet<SnapshotKey>,
    first: Baseline,
    created: BTreeSet<String>,
}

impl TaskReports {
    pub(crate) fn begun(&self) -> BegunReports {
        let Self { start, elsewhere, first, created, .. } = self;
        BegunReports {
            start: start.clone(),
            late_start: elsewhere.late.clone(),
            first: first.clone(),
            created: created.clone(),
        }
    }

    /// Forgets what an edit has begun with that was not made.
    pub(crate) fn begin_again(&mut self, begun: BegunReports) {
        let BegunReports { start, late_start, first, created } = begun;
        (self.start, self.elsewhere.late, self.first, self.created) = (start, late_start, first, created);
    }
}

/// What the model was shown and answered.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// All that was said, where the model takes part in a conversation.
    pub transcript: Transcript,
    pub seen: SeenTexts,
    pub results: Vec<LastResult>,
    /// Why the task should not end before the results of the last answer are read.
    pub open: Vec<String>,
    /// The reads that it was answered.
    pub answered: Answered,
    /// The fixes of the last question.
    pub offered: Vec<Offered>,
    /// Fixes that were tried and did not do what they are for: they are not offered again.
    pub tried: BTreeSet<String>,
    /// Whether the user was told which preferences its prompts have no room for.
    pub unsaid_told: bool,
}

/// What is counted against the limits.
#[derive(Debug, Default)]
pub(crate) struct TaskCounts {
    pub step: u32,
    /// Errors in a row.
    pub errors: u32,
    /// Fixes of this step that did what they are for and left nothing new.
    pub mended: u32,
    /// Whether the last edit that was tried was refused.
    pub refused: bool,
    /// Offered fixes that were applied since this work began.
    pub applied: usize,
    /// What it has used: an observer counts it.
    pub spent: Arc<SpentLog>,
}

/// How far the plan came that it carries out; kept as it is for another process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TaskProgress {
    pub course: PlanProgress,
    /// What the user is asked before the plan goes on.
    pub question: Option<Question>,
    /// Failed steps since the plan was made (anew).
    pub plan_errors: u32,
    /// Plans made anew by the task itself.
    pub replans: u32,
}

impl Task {
    pub(crate) fn new(request: &str, mode: Mode, current_file: Option<String>, scope: Scope) -> Self {
        Self::named(clock::new_id(), request, mode, current_file, scope)
    }

    /// A task that has its name already.
    pub(crate) fn named(id: String, request: &str, mode: Mode, current_file: Option<String>, scope: Scope) -> Self {
        let (notes, spent) = (Arc::new(NotesLog::new(request)), Arc::new(SpentLog::default()));
        let mut events = TaskEvents::new(&id, mode);
        let own: [Arc<dyn Observer>; 2] = [Arc::<NotesLog>::clone(&notes), Arc::<SpentLog>::clone(&spent)];
        own.into_iter().for_each(|observer| events.observe(observer));
        let read_only =
            request_kind::forbids(request) && (mode == Mode::Simple || !request_kind::forbids_for_now(request));
        Self {
            events,
            journal: Journal::new(id, request),
            request: request.to_owned(),
            mode,
            scope,
            intent: TaskIntent { current_file, read_only, ..TaskIntent::default() },
            reports: TaskReports::default(),
            conversation: Conversation::default(),
            counts: TaskCounts { spent, ..TaskCounts::default() },
            progress: TaskProgress::default(),
            keep: Keep::default(),
            notes,
        }
    }

    /// Keeps the first thing that is known of each file as the task's baseline.
    pub(crate) fn remember_start(&mut self, known: &Snapshots, has_begun: bool) {
        let (snaps, late) = (std::mem::take(&mut self.reports.start), std::mem::take(&mut self.reports.elsewhere.late));
        let mut start = Baseline::of(snaps, late, self.reports.elsewhere.unlooked.clone());
        start.take(known, has_begun);
        (self.reports.start, self.reports.elsewhere.late) = (start.snaps, start.late);
    }

    /// The same right before an edit. A file that it changes for the first time counts as it is now: what was said of
    /// another text is no baseline, and whoever has not spoken of this one has none.
    pub(crate) fn remember_first(&mut self, wanted: &[EditRequest], known: &Snapshots, has_begun: bool) {
        let (snaps, late) = (std::mem::take(&mut self.reports.start), std::mem::take(&mut self.reports.elsewhere.late));
        let mut start = Baseline::of(snaps, late, self.reports.elsewhere.unlooked.clone());
        for want in wanted {
            let EditRequest::Change { document, .. } = want else { continue };
            if !self.journal.has_changed(&document.path) {
                start.begin(want, known, has_begun);
                start.drop_older(&document.path, &document.text);
            }
            self.reports.first.begin_with(document, known);
        }
        start.take(known, has_begun);
        (self.reports.start, self.reports.elsewhere.late) = (start.snaps, start.late);
    }

    /// What an undo calls the step: that of the plan, or of the task where it has none; counted from 1.
    pub(crate) fn step_number(&self) -> usize {
        if self.mode == Mode::Simple { usize::try_from(self.counts.step).unwrap_or(0) } else { self.keep.at }
    }

    /// The title of an offered fix, for a reader.
    pub(crate) fn offered_title(&self, id: &str) -> Option<String> {
        let offer = self.conversation.offered.iter().find(|offer| offer.id == id)?;
        offer.key.split('|').next().map(str::to_owned)
    }
}
