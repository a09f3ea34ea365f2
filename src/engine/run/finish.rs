//! Ends a task: the last look, the list of what it introduced, its summary.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostics::triage::{key, summed_up};
use crate::diagnostics::{collect_diagnostics, look_before, outside_look, reached};
use crate::durable::stack;
use crate::edit::edit_guard;
use crate::editor::Document;
use crate::editor::event::QuickfixEntry;
use crate::run::unfit_ending::CameTo;
use crate::run::{quickfix_lists, unfit_ending};
use crate::state::answer_status::Status;
use crate::state::comparison::{self, Verdict};
use crate::state::delta_wording;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_baseline::{BeforeAndAfter, doubt};
use crate::state::edit_service::EditService;
use crate::state::in_flight::RunningStart;
use crate::state::journal::Journal;
use crate::state::look_reach::LookReach;
use crate::state::outcome::Outcome;
use crate::state::pending_report::{self, PendingReport};
use crate::state::render::{self, Line};
use crate::state::snapshots::{Snapshot, SnapshotKey, Snapshots, with_created};
use crate::state::task::{TaskCounts, TaskWork};
use crate::state::{concurrent_edits, stop, stopped_compilers};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_base::plural::counted;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::model::{Report, Severity};
use sextant_diagnostics::syntax;
use sextant_model::step::Usage;

/// The least time, in milliseconds, that the last look may take. The task is over, and no user waits to type.
pub(crate) const LAST_LOOK_MS: u64 = 5000;

/// Most new diagnostics that a summary only counts; more are summed up by theme.
pub(crate) const GLANCE: usize = 5;

/// Most themes of a summary.
pub(crate) const THEMES: usize = 8;

/// Ends a task: one last look where something is open, the list for the editor, the summary, the undo.
pub(crate) async fn finish(
    edits: &EditService,
    work: &mut TaskWork,
    counts: &TaskCounts,
    word: &str,
    came_to: CameTo,
) -> Outcome {
    let cancel = edits.hub.cancelled();
    stop::soon(&cancel, collect_diagnostics::take_late(&edits.hub, work)).await;
    let files: Vec<String> = work.journal.net().into_iter().map(|change| change.path).collect();
    let verdict = stop::soon(&cancel, task_verdict(edits, work, &files)).await;
    let verdict = verdict.unwrap_or_else(|| unreached(&files));
    if !work.journal.is_empty() {
        let mut history = edits.history.lock().await;
        stack::note(&mut history, &work.journal);
        stack::bound(&mut history);
    }
    let floor = edits.workspace.config.diagnostics.severity_floor;
    let with_word = |found: &LocatedDiagnostic| {
        let mut found = found.clone();
        if let Some(word) = work.reports.suggested.get(&key(&found)) {
            found.diagnostic.suggested_action = Some(word.clone());
        }
        found
    };
    let new: Vec<LocatedDiagnostic> = verdict.new_from(floor).map(with_word).collect();
    quickfix_lists::show(&edits.hub, work, &new, &verdict).await;
    reached::keep_open(&edits.hub.looked, &new.iter().filter_map(|found| found.diagnostic.location.file()).collect())
        .await;
    let reach = work.reports.reach.as_ref().map(LookReach::words);
    let word = Some(word.to_owned()).filter(|word| !word.is_empty());
    let word: Vec<String> = word.into_iter().chain(reach).chain(work.summary_notes.iter().cloned()).collect();
    let judged = unfit_ending::judge(edits.hub.needs_providers, work, counts, came_to, &files, &verdict);
    let mut summary = summary(&word.join(". "), &files, &verdict, floor, work.spent.now().used);
    summary.extend(judged.why.iter().flat_map(|why| [" ", why, "."]));
    let themes = stop::soon(&cancel, themes(&new)).await.unwrap_or_default();
    summary.extend(themes.iter().flat_map(|line| ["\n", line]));
    Outcome {
        ok: judged.ok,
        summary,
        answer: String::new(),
        files,
        new_diagnostics: new.iter().map(Line::of).collect(),
        fixed: verdict.fixed_from(floor),
        unchanged: verdict.unchanged_from(floor),
        diagnostics_status: verdict.status,
        pending: pending_report::words(&verdict.pending),
        usage: work.spent.now().used,
        failed_steps: Vec::new(),
        trace: edits.store.trace.of(&work.journal.task),
    }
}

/// Why the reports on the changes of a stopped task are unknown.
const STOPPED: &str = "stopped while it was checked";

/// The verdict where a stop left no time for any.
fn unreached(files: &[String]) -> Verdict {
    let pending = files.iter().map(|file| PendingReport::new(format!("{file} ({STOPPED})"))).collect();
    Verdict { pending, ..Verdict::without(if files.is_empty() { Status::Complete } else { Status::Partial }) }
}

/// Names the providers without a report on these files as they are now, where a stop has prevented a look.
async fn doubt_stopped(hub: &DiagnosticsHub, documents: &[Document], verdict: &mut Verdict) {
    let ledger = hub.ledger.lock().await;
    let mut open = Vec::new();
    for Document { path, text, .. } in documents {
        let unsettled = ledger.unsettled(path, text);
        let named = |name: &&str| PendingReport::of(name, path, STOPPED).until_answered();
        open.extend(unsettled.iter().filter(|name| **name != syntax::NAME || unsettled.len() == 1).map(named));
    }
    drop(ledger);
    doubt(verdict, open);
}

pub(crate) async fn task_verdict(edits: &EditService, work: &mut TaskWork, files: &[String]) -> Verdict {
    if !edits.workspace.config.diagnostics.on_edit {
        return Verdict::without(Status::Off);
    }
    if files.is_empty() {
        return Verdict::without(Status::Complete);
    }
    let (editor, looked, reach) = (edits.workspace.editor.as_ref(), &edits.hub.looked, &work.reports.elsewhere.reached);
    let documents = reached::documents(editor, files).await;
    let mut bystanders = collect_diagnostics::affected(editor, looked, files).await;
    bystanders.extend(reached::others(editor, looked, reach, files).await);
    let budget = edits.workspace.config.diagnostics.timeout_ms.max(LAST_LOOK_MS) + reached::longer(reach.len());
    let deadline = Deadline::after_ms(budget);
    let waited = work.reports.late.last_look.take().filter(|look| look.edits == work.journal.checkpoints.len());
    let is_stopped = edits.hub.cancelled().is_cancelled();
    let reports = if let Some(look) = waited {
        look.reports
    } else if work.reports.pending.is_some() {
        collect_diagnostics::look(&edits.hub, &documents, &bystanders, deadline).await
    } else {
        look_before::ensure_baseline(&edits.hub, &documents, &bystanders, deadline).await
    };
    outside_look::enter(&edits.hub, &mut work.reports).await;
    let known = collect_diagnostics::known(&edits.hub).await;
    // A report on this very text stands, though it may be incomplete. A provider that reported an error here, and is
    // silent after the edit of another file, has not withdrawn it.
    let said_of_this = |report: &Report| {
        let reported_text =
            known.get(&(report.file.clone(), report.provider.clone())).and_then(|snap| snap.text.as_deref());
        documents.iter().any(|document| document.path == report.file && reported_text == Some(&*document.text))
    };
    let unfresh: BTreeSet<(String, String)> = reports
        .iter()
        .filter(|report| !report.freshness.is_fresh() && !said_of_this(report))
        .map(|report| (report.file.clone(), report.provider.clone()))
        .collect();
    let start = with_created(&work.reports.start, &work.reports.created, &known);
    // A report on an earlier text of an edited file does not count for this one.
    let of_now = |key: &SnapshotKey, snap: &Snapshot| {
        let now = documents.iter().find(|document| document.path == key.0);
        !is_stopped || now.is_none_or(|now| snap.text.as_deref() == Some(&*now.text))
    };
    let is_known = |(key, snap): &(SnapshotKey, Arc<Snapshot>)| !unfresh.contains(key) && of_now(key, snap);
    let (mut verdict, both) =
        compared(edits, work, start, known.into_iter().filter(is_known).collect(), &reports).await;
    if reports.is_empty() && verdict.status == Status::Skipped && !both.before.is_empty() {
        verdict.status = if verdict.pending.is_empty() { Status::Complete } else { Status::Partial };
    }
    if is_stopped {
        doubt_stopped(&edits.hub, &documents, &mut verdict).await;
    }
    comparison::doubt_coverage(&mut verdict, files, &both.after, &reports);
    edit_guard::discount_all(&work.journal, &work.intent.consent, &mut verdict);
    verdict
}

/// The same from the reports known by now, without asking a provider.
pub(crate) async fn known_verdict(edits: &EditService, work: &TaskWork) -> Verdict {
    let files: Vec<String> = work.journal.net().into_iter().map(|change| change.path).collect();
    let known = collect_diagnostics::known(&edits.hub).await;
    let start = with_created(&work.reports.start, &work.reports.created, &known);
    let (mut verdict, both) = compared(edits, work, start, known, &[]).await;
    comparison::doubt_coverage(&mut verdict, &files, &both.after, &[]);
    edit_guard::discount_all(&work.journal, &work.intent.consent, &mut verdict);
    verdict
}

/// Compares the reports at the start of a task with these, as far as they concern it.
async fn compared(
    edits: &EditService,
    work: &TaskWork,
    start: Snapshots,
    after: Snapshots,
    reports: &[Report],
) -> (Verdict, BeforeAndAfter) {
    let floor = edits.workspace.config.diagnostics.severity_floor;
    let both = BeforeAndAfter::new(start, after);
    let both = without_other_tasks(edits, &work.journal.task, &work.journal.files(), both).await;
    let mut both = both.without_late(&work.reports.elsewhere.late, floor);
    let mut verdict = both.compared(reports).await;
    doubt(&mut verdict, reached::unlooked(&edits.hub, &work.journal, &work.reports.elsewhere).await);
    // Lints that an old error hides are no matter of a whole task.
    let asked = work.reports.elsewhere.asked.iter().filter(|key| both.after.contains_key(*key));
    doubt(&mut verdict, stopped_compilers::unchecked(&both.before, &both.after, asked, Severity::Error));
    concurrent_edits::leave_out(&mut verdict, &work.journal, &both.after);
    (verdict, both)
}

/// Removes the reports on files that another task beside this one has changed, and this one has not.
async fn without_other_tasks(
    edits: &EditService,
    task: &str,
    own: &BTreeSet<String>,
    both: BeforeAndAfter,
) -> BeforeAndAfter {
    let history = edits.history.lock().await;
    let others = history.iter().filter(|journal| journal.task != task);
    let others: BTreeSet<String> = others.flat_map(Journal::files).collect();
    drop(history);
    both.without_others(|file| own.contains(file) || !others.contains(file), |_| true)
}

/// The same for the running task, as a list for an outside reader; `None` where it has changed nothing.
pub(crate) async fn introduced_so_far(edits: &EditService, task: &str) -> Option<Vec<QuickfixEntry>> {
    let RunningStart { files, start, created, .. } =
        Some(lock(&edits.making.running).clone()).filter(|running| running.task == task)?;
    let known = collect_diagnostics::known(&edits.hub).await;
    let both = BeforeAndAfter::new(with_created(&start, &created, &known), known);
    let verdict = without_other_tasks(edits, task, &files, both).await.compared(&[]).await;
    Some(verdict.new_from(edits.workspace.config.diagnostics.severity_floor).map(render::entry).collect())
}

/// The introduced diagnostics in the files of the workspace: those of the lists, and of the task that runs.
pub(crate) async fn introduced_by_now(edits: &EditService) -> Vec<QuickfixEntry> {
    let task = lock(&edits.making.running).task.clone();
    let running = introduced_so_far(edits, &task).await.unwrap_or_default();
    let listed = edits.hub.listed.lock().await.clone();
    let mut all: Vec<QuickfixEntry> = listed.into_iter().flat_map(|listed| listed.entries).collect();
    for entry in running {
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    all
}

/// The new diagnostics, a line for each theme, where there are more than fit a glance.
async fn themes(shown: &[LocatedDiagnostic]) -> Vec<String> {
    if shown.len() <= GLANCE {
        return Vec::new();
    }
    let lines = summed_up(shown.to_vec(), THEMES).await;
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

pub(crate) fn summary(word: &str, files: &[String], verdict: &Verdict, floor: Severity, usage: Usage) -> String {
    let (new, fixed) = (verdict.new_from(floor).count(), verdict.fixed_from(floor));
    let mut parts = Vec::new();
    if !word.is_empty() {
        parts.push(word.trim_end_matches('.').to_owned());
    }
    if files.is_empty() {
        parts.push("nothing was changed".to_owned());
    } else {
        let files = files.join(", ");
        parts.push(format!("changed {files}"));
        parts.push(delta_wording::of_task(verdict, new, fixed, verdict.unchanged_from(floor)));
        parts.extend(delta_wording::of_uncovered(verdict, floor));
        parts.extend(pending_report::way_out(&verdict.pending));
    }
    parts.extend(verdict.not_counted.first().map(|first| {
        let count = verdict.not_counted.len();
        format!("{count} not counted as fixed: {first}")
    }));
    if usage.calls > 0 && usage.prompt_tokens > 0 {
        let tokens = usage.tokens();
        let about = if usage.estimated { "about ".to_owned() } else { String::new() };
        let tokens = counted(tokens as usize, "token");
        let cached = usage.cached_tokens;
        let cached = match cached {
            0 => String::new(),
            _ => format!(" ({cached} of them cached)"),
        };
        let calls = counted(usage.calls as usize, "call");
        parts.push(format!("{about}{tokens}{cached} in {calls}"));
    }
    parts.join(". ") + "."
}
