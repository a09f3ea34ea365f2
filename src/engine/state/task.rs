//! The state of one running task.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::events::stream::{EventStream, Observer};
use crate::events::task_events::TaskEvents;
use crate::plan::plan_progress::PlanProgress;
use crate::plan::user_question::Question;
use crate::plan::work_mode::Mode;
use crate::state::analysis::Analysis;
use crate::state::authority::Consent;
use crate::state::dialogue::Dialogue;
use crate::state::durable::Keep;
use crate::state::edit_baseline::Baseline;
use crate::state::edit_request::EditRequest;
use crate::state::journal::Journal;
use crate::state::judged_step::JudgedStep;
use crate::state::look_reach::LookReach;
use crate::state::notes_log::NotesLog;
use crate::state::offered::Offered;
use crate::state::read_cache::Answered;
use crate::state::read_views::SeenTexts;
use crate::state::refused_edit::{LeftOut, RefusedEdit};
use crate::state::risk::Risk;
use crate::state::snapshots::{SnapshotKey, Snapshots};
use crate::state::task_scope::Scope;
use crate::state::transcript::Transcript;
use crate::state::unhidden_reports::UnhiddenReports;
use crate::state::unlooked::Unlooked;
use crate::state::usage::SpentLog;
use sextant_base::clock;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::model::Report;
use sextant_model::request_kind;
use sextant_model::request_kind::filter_reports::RepairPlace;
use sextant_model::step::LastResult;

/// The knowledge and the actions of one task. It outlives its steps and, for the undo, the task itself.
#[derive(Debug)]
pub(crate) struct Task {
    pub work: TaskWork,
    pub conversation: Conversation,
    pub counts: TaskCounts,
    pub progress: TaskProgress,
    /// The part of it that is stored for another process to go on with.
    pub keep: Keep,
}

/// The part of a task that a look at diagnostics, an edit, or a call of a tool needs: the request, the changes and the
/// known reports.
#[derive(Debug)]
pub(crate) struct TaskWork {
    pub request: String,
    pub mode: Mode,
    pub scope: Scope,
    /// The number of the running step or call.
    pub step: u32,
    /// The step of the plan that runs, or ran last; counted from 1, 0 before the first.
    pub plan_step: usize,
    /// Its changes; its name is the task's, see [`clock::new_id`].
    pub journal: Journal,
    /// Checkpoints before the resumed work, where a stop interrupted it and its earlier changes stay.
    pub begun: Option<usize>,
    /// The stream that it reports its events to.
    pub events: TaskEvents,
    pub intent: TaskIntent,
    pub reports: TaskReports,
    /// The sentences of its summary about its edits, beside their diagnostics.
    pub(crate) summary_notes: Vec<String>,
    /// The text of each file as the model has seen it last.
    pub seen: SeenTexts,
    /// Its usage: an observer counts it.
    pub spent: Arc<SpentLog>,
    /// Its notes for memory: an observer collects them.
    pub notes: Arc<NotesLog>,
}

/// The wishes and permissions of the user.
#[derive(Debug, Default)]
pub(crate) struct TaskIntent {
    pub current_file: Option<String>,
    /// The client outside that makes these edits; `None` where our own loop works.
    pub client: Option<String>,
    /// The name of the client's call in work; no other call has the same name. The edits of the call are stored with
    /// it.
    pub once: Option<String>,
    pub(crate) place: AskedPlace,
    /// True if the request forbids every change. The approval of a plan lifts a prohibition that was meant for the time
    /// being.
    pub read_only: bool,
    /// The understood meaning of the request, and the names in it.
    pub analysis: Analysis,
    /// The places that a request to repair names, for a model that reads no prompt.
    pub places: Vec<RepairPlace>,
    /// Set for a request that is one call, named in full by the user: its width is the user's wish.
    pub is_direct: bool,
    /// Its possible cost and damage; for the user to know.
    pub risk: Option<Risk>,
    /// The user's remarks in the review of earlier changes.
    pub review: Vec<String>,
    /// The conversation before this request, for a model that does not have it as messages.
    pub earlier: Vec<String>,
    /// Permissions of the user beyond the request, and the actions that wait for one.
    pub consent: Consent,
}

/// The place that a request was made on.
#[derive(Debug, Default)]
pub(crate) struct AskedPlace {
    /// The line that the user's cursor is on, in words; empty where no line was given.
    pub(crate) cursor: String,
    /// The text of an entry of a list, such as the quickfix list; empty elsewhere.
    pub(crate) entry: String,
}

/// The known diagnostics, and the part of them that was reported.
#[derive(Debug, Default)]
pub(crate) struct TaskReports {
    /// The state before the task first touched or looked at each file: the task's own baseline.
    pub start: Snapshots,
    /// Diagnostics of files that its edits do not change.
    pub(crate) elsewhere: ReachReports,
    /// The state right before the first edit of each file since the step of the plan began.
    pub first: Baseline,
    /// The baseline of edits whose answer is not complete yet.
    pub pending: Option<Snapshots>,
    /// The baseline of a burst of edits that is settled once, with the next result.
    pub deferred: Option<Baseline>,
    /// Diagnostics that come too late for the answer of an edit.
    pub(crate) late: LateReports,
    /// The last reports that no error cut short.
    pub(crate) unhidden: UnhiddenReports,
    /// The known answers about fixes.
    pub(crate) offers: OfferReports,
    /// Files that the task has created; every diagnostic in them is new.
    pub created: BTreeSet<String>,
    /// The way to repair each weighed diagnostic, by symbol and message.
    pub suggested: BTreeMap<String, String>,
    /// True if its list of introduced diagnostics has been shown already.
    pub shown: bool,
    /// The reach of its look over the workspace, where it had one.
    pub(crate) reach: Option<LookReach>,
}

/// The known answers about fixes.
#[derive(Debug, Default)]
pub(crate) struct OfferReports {
    /// Servers that have not answered about the fixes of a diagnostic, by symbol and message.
    pub(crate) unanswered: BTreeMap<String, Vec<String>>,
    /// Files that no server is asked about, because it may count their lines otherwise.
    pub(crate) unasked: BTreeSet<String>,
    /// Providers that were waited for when they were asked for fixes, and whether they answered at last.
    pub(crate) waited: BTreeMap<String, bool>,
    /// Diagnostics without an offered fix when the servers were asked last: asked about again after the rest.
    pub(crate) barren: BTreeSet<String>,
    /// The fixes of the last question.
    pub(crate) offered: Vec<Offered>,
    /// Fixes that were tried without their purpose reached: they are not offered again.
    pub(crate) tried: BTreeSet<String>,
    /// Fixes after which a diagnostic was still there, by symbol and message.
    pub(crate) survived: BTreeMap<String, u32>,
    /// Fixes of this step that served their purpose and left nothing new.
    pub(crate) served: u32,
}

/// Diagnostics that come too late for the answer of an edit.
#[derive(Debug, Default)]
pub(crate) struct LateReports {
    /// How many late answers of the session it has seen; `None` before its first look.
    pub(crate) seen: Option<u64>,
    /// Diagnostics to report with the next answer.
    pub(crate) found: Vec<LocatedDiagnostic>,
    /// True if a provider may still answer about the last edit.
    pub(crate) to_come: bool,
    /// The reports that an end has waited for.
    pub(crate) last_look: Option<LastLook>,
    /// The step of the plan that was judged last.
    pub(crate) judged: Option<JudgedStep>,
}

/// The answer to an end that has waited.
#[derive(Debug)]
pub(crate) struct LastLook {
    /// Checkpoints of the task then.
    pub(crate) edits: usize,
    pub(crate) reports: Vec<Report>,
}

/// The known state of the files in reach of a task's edits.
#[derive(Debug, Default)]
pub(crate) struct ReachReports {
    /// The providers that were asked about the effect of an edit, with the files.
    pub(crate) asked: BTreeSet<SnapshotKey>,
    /// The files that it looked at.
    pub(crate) reached: BTreeSet<String>,
    /// Files with a word that an edit changed, where a server knows another meaning of it.
    pub(crate) unrelated: BTreeSet<String>,
    /// The files that it did not look at.
    pub(crate) unlooked: Unlooked,
    /// The part of its baseline that was first known after an edit that may have brought it.
    pub(crate) late: BTreeSet<SnapshotKey>,
    /// How many changes by others the start of the task includes; `None` before its first look.
    pub(crate) brought: Option<usize>,
    /// The diagnostics there, until an answer has reported them.
    pub(crate) first_seen: Vec<LocatedDiagnostic>,
}

/// The start of a task's comparisons.
pub(crate) struct BegunReports {
    start: Snapshots,
    late_start: BTreeSet<SnapshotKey>,
    first: Baseline,
    created: BTreeSet<String>,
}

impl TaskReports {
    /// Keeps the baselines of the answers that are still awaited: of an edit, and of those before it in files that it was
    /// not about.
    pub(crate) fn keep_open(&mut self, open: Snapshots, to_come: bool, is_now: impl Fn(&str) -> bool) {
        let mut all = self.pending.take().unwrap_or_default();
        all.retain(|(file, _), _| !is_now(file));
        self.late.to_come = to_come || !all.is_empty() && self.late.to_come;
        all.extend(open);
        self.pending = (!all.is_empty()).then_some(all);
    }

    pub(crate) fn begun(&self) -> BegunReports {
        let Self { start, elsewhere, first, created, .. } = self;
        BegunReports {
            start: start.clone(),
            late_start: elsewhere.late.clone(),
            first: first.clone(),
            created: created.clone(),
        }
    }

    /// Forgets the start of an edit that was not made.
    pub(crate) fn begin_again(&mut self, begun: BegunReports) {
        let BegunReports { start, late_start, first, created } = begun;
        (self.start, self.elsewhere.late, self.first, self.created) = (start, late_start, first, created);
    }
}

/// The reason why a task should not end before a result is read.
#[derive(Debug)]
pub(crate) struct UnreadResult {
    pub why: String,
    /// True for new diagnostics of an edit, false for a command that has not passed.
    pub has_new: bool,
}

/// The messages to and from the model.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The requests before this one that it goes on with, and this one at its end.
    pub dialogue: Dialogue,
    /// All messages, where the model takes part in a conversation.
    pub transcript: Transcript,
    pub results: Vec<LastResult>,
    /// The reasons why the task should not end before the results of the last answer are read.
    pub open: Vec<UnreadResult>,
    /// The reads that it was answered.
    pub answered: Answered,
    /// True if the user has seen which preferences its prompts have no room for.
    pub unsaid_shown: bool,
}

/// The figures that are compared with the limits.
#[derive(Debug, Default)]
pub(crate) struct TaskCounts {
    /// Errors in a row.
    pub errors: u32,
    /// The last edit that was tried, where it was refused.
    pub refused: Option<RefusedEdit>,
    /// The refused edits that are still to be made.
    pub left_out: LeftOut,
    /// Offered fixes that were applied since this work began.
    pub applied: usize,
}

/// The progress of the plan that it carries out; stored as it is for another process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TaskProgress {
    pub course: PlanProgress,
    /// The question to the user before the plan goes on.
    pub question: Option<Question>,
    /// The scope before the user has edited the plan, whose text adds to it.
    pub asked_scope: Option<Scope>,
    /// Failed steps since the plan was last made.
    pub plan_errors: u32,
    /// Plans that the task itself has made again.
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
        let work = TaskWork {
            request: request.to_owned(),
            mode,
            scope,
            step: 0,
            plan_step: 0,
            journal: Journal::new(id, request),
            begun: None,
            events,
            intent: TaskIntent { current_file, read_only, ..TaskIntent::default() },
            reports: TaskReports::default(),
            summary_notes: Vec::new(),
            seen: SeenTexts::default(),
            spent,
            notes,
        };
        Self {
            work,
            conversation: Conversation::default(),
            counts: TaskCounts::default(),
            progress: TaskProgress::default(),
            keep: Keep::default(),
        }
    }
}

impl TaskWork {
    /// Makes the task the current work from here on.
    pub(crate) fn take_up(&mut self, stream: &Arc<EventStream>) {
        self.events.take_up(stream, &self.request, self.mode);
    }

    /// Keeps the first known state of each file as the task's baseline.
    pub(crate) fn remember_start(&mut self, known: &Snapshots, has_begun: bool) {
        let (snaps, late) = (std::mem::take(&mut self.reports.start), std::mem::take(&mut self.reports.elsewhere.late));
        let mut start = Baseline::of(snaps, late, self.reports.elsewhere.unlooked.clone());
        start.take(known, has_begun);
        (self.reports.start, self.reports.elsewhere.late) = (start.snaps, start.late);
    }

    /// Does the same right before an edit. A file that it changes for the first time counts as it is now: reports on
    /// another text are no baseline, and a provider without a report on this text has none.
    pub(crate) fn remember_first(&mut self, wanted: &[EditRequest], known: &Snapshots, has_begun: bool) {
        let (snaps, late) = (std::mem::take(&mut self.reports.start), std::mem::take(&mut self.reports.elsewhere.late));
        let mut start = Baseline::of(snaps, late, self.reports.elsewhere.unlooked.clone());
        for want in wanted {
            let Some(document) = want.document() else { continue };
            if !self.journal.has_changed(&document.path) {
                start.begin(want, known, has_begun);
                start.drop_older(&document.path, &document.text);
            }
            self.reports.first.begin_with(document, known);
        }
        start.take(known, has_begun);
        (self.reports.start, self.reports.elsewhere.late) = (start.snaps, start.late);
    }

    /// The title of an offered fix, for a reader.
    pub(crate) fn offered_title(&self, id: &str) -> Option<String> {
        let offer = self.reports.offers.offered.iter().find(|offer| offer.id == id)?;
        offer.key.split('|').next().map(str::to_owned)
    }

    /// The number of the step for an undo: that of the plan, or of the task where it has none; counted from 1.
    pub(crate) fn step_number(&self) -> usize {
        if self.mode == Mode::Simple { usize::try_from(self.step).unwrap_or(0) } else { self.plan_step }
    }
}
