//! The end of a task: what it changed, what it has introduced and not repaired, in the user's words.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::agent::baseline::doubt_late;
use crate::agent::direct::Say;
use crate::agent::ledger::{Ledger, Snaps};
use crate::agent::mode::Mode;
use crate::agent::scope::Scope;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::answer::{Line, agreed, headline};
use crate::agent::trace::Entry as TraceEntry;
use crate::agent::undo::stack;
use crate::agent::verdict::{self, Found, Status, Verdict};
use crate::agent::weigh::key;
use crate::agent::{guard, look, stop};
use crate::base::deadline::Deadline;
use crate::base::failure::Failure;
use crate::base::plural::counted;
use crate::diagnostics::grouping;
use crate::diagnostics::merge::Placed;
use crate::diagnostics::model::Severity;
use crate::editor::event::{Entry, Event};
use crate::llm::step::Usage;

/// The least time, in milliseconds, that the last look may take: the task is over, nobody waits to type.
const LAST_LOOK_MS: u64 = 5000;

/// New diagnostics that a summary only counts; more are summed up by theme.
const GLANCE: usize = 5;
/// Themes of a summary.
const THEMES: usize = 8;

#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Whether it came to its own end and no step of a plan failed. New diagnostics are told apart from this.
    pub ok: bool,
    pub summary: String,
    /// What the model said at the end; empty when it only worked.
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
    /// Which diagnostics led to what, and what was set aside and why.
    pub trace: Vec<TraceEntry>,
}

/// A step that failed, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedStep {
    pub step: usize,
    pub title: String,
    pub reason: String,
    /// Whether a new plan came in its place.
    pub replaced: bool,
}

/// What a late answer is held against after the task is over.
#[derive(Clone, Debug)]
pub struct OpenEnd {
    request: String,
    start: Snaps,
    created: BTreeSet<String>,
}

/// How a piece of work ended, and what is still to be shown: after the door is free for the next command,
/// since the user may answer at once.
#[derive(Debug)]
#[must_use = "the events are not shown yet"]
pub struct Ending<T> {
    pub result: Result<T, Failure>,
    pub events: Vec<Event>,
}

impl<T> Ending<T> {
    /// The last words come from the result itself.
    pub(crate) fn new(result: Result<T, Failure>, mut events: Vec<Event>, done: impl Fn(&T) -> (bool, String)) -> Self {
        events.push(match &result {
            Ok(outcome) => {
                let (ok, summary) = done(outcome);
                Event::Finished { ok, summary }
            }
            Err(failure) => Event::Failed { failure: failure.clone() },
        });
        Self { result, events }
    }
}

/// Ends a task: one last look where something is open, the list for the editor, the summary, the undo.
pub(crate) async fn finish(session: &Session, task: &mut Task, word: &str) -> Outcome {
    let cancel = session.cancelled();
    stop::soon(&cancel, look::take_late(session, task)).await;
    let files: Vec<String> = task.journal.net().into_iter().map(|change| change.path).collect();
    let verdict = stop::soon(&cancel, task_verdict(session, task, &files)).await;
    let verdict = verdict.unwrap_or_else(|| Verdict::without(Status::Timeout));
    if !task.journal.is_empty() {
        stack::note(&mut *session.history.lock().await, &task.journal);
    }
    let floor = session.config.diagnostics.severity_floor;
    let with_word = |found: &Found| {
        let mut found = found.clone();
        if let Some(word) = task.suggested.get(&key(&found)) {
            found.diagnostic.suggested_action = Some(word.clone());
        }
        found
    };
    let new: Vec<Found> = verdict.new_from(floor).map(with_word).collect();
    let shown: Vec<&Found> = new.iter().collect();
    introduced(session, &task.request, &shown, task.shown);
    task.shown = true;
    let open_end = (!verdict.pending.is_empty()).then(|| OpenEnd {
        request: task.request.clone(),
        start: task.start.clone(),
        created: task.created.clone(),
    });
    *session.open_end.lock().await = open_end;
    session.ledger.lock().await.forget_gone();
    let word = match task.reach {
        Some(reach) if word.is_empty() => reach.words(),
        Some(reach) => format!("{word}. {}", reach.words()),
        None => word.to_owned(),
    };
    let mut summary = summary(
        (&word, Say::to(&task.request)),
        &files,
        &verdict,
        (shown.len(), verdict.fixed_from(floor)),
        task.usage,
    );
    summary.extend(themes(&shown).iter().flat_map(|line| ["\n", line]));
    Outcome {
        ok: true,
        summary,
        answer: String::new(),
        files,
        new_diagnostics: shown.into_iter().map(Line::of).collect(),
        fixed: verdict.fixed_from(floor),
        unchanged: verdict.unchanged,
        diagnostics_status: verdict.status,
        pending: verdict.pending,
        usage: task.usage,
        failed_steps: Vec::new(),
        trace: task.trace.entries(),
    }
}

fn introduced(session: &Session, request: &str, shown: &[&Found], amend: bool) {
    session.editor.show(Event::Introduced {
        title: format!("Sextant: {request}"),
        entries: shown.iter().map(|found| entry(found)).collect(),
        open: session.config.quickfix.open,
        amend,
    });
}

/// An answer came after the task was over: its list is amended, and the user told what it is about.
pub async fn amend(session: &Session) {
    let mut nobody = Task::new("", Mode::Simple, None, Scope::Workspace);
    look::take_late(session, &mut nobody).await;
    let Some(end) = session.open_end.lock().await.clone() else { return };
    let known = look::known(session).await;
    let start = with_created(&end.start, &end.created, &known);
    let verdict = verdict::compared(&start, &known, &[]).await;
    let shown: Vec<&Found> = verdict.new_from(session.config.diagnostics.severity_floor).collect();
    introduced(session, &end.request, &shown, true);
    session.editor.show(Event::Progress {
        text: format!("a late answer came: {} in all", counted(shown.len(), "new diagnostic")),
    });
}

async fn task_verdict(session: &Session, task: &mut Task, files: &[String]) -> Verdict {
    if !session.config.diagnostics.on_edit {
        return Verdict::without(Status::Off);
    }
    if files.is_empty() {
        return Verdict::without(Status::Complete);
    }
    let mut documents = Vec::new();
    for file in files {
        if let Ok(document) = session.editor.read(file).await {
            documents.push(document);
        }
    }
    let bystanders = look::bystanders(session, files).await;
    let budget = session.config.diagnostics.timeout_ms.max(LAST_LOOK_MS);
    let open = task.pending.is_some();
    let deadline = Deadline::after_ms(budget);
    let reports = if open {
        look::look(session, &documents, &bystanders, deadline).await
    } else {
        look::ensure_baseline(session, &documents, &bystanders, deadline).await
    };
    let unfresh: BTreeSet<(String, String)> = reports
        .iter()
        .filter(|report| !report.freshness.is_fresh())
        .map(|report| (report.file.clone(), report.provider.clone()))
        .collect();
    let known = look::known(session).await;
    let start = with_created(&task.start, &task.created, &known);
    let after: Snaps = known.into_iter().filter(|(key, _)| !unfresh.contains(key)).collect();
    let mut verdict = verdict::compared(&start, &after, &reports).await;
    if reports.is_empty() && verdict.status == Status::Skipped && !start.is_empty() {
        verdict.status = if verdict.pending.is_empty() { Status::Complete } else { Status::Partial };
    }
    verdict::doubt_syntax(&mut verdict, files, &after);
    doubt_late(&mut verdict, &task.late_start, &start, &after, session.config.diagnostics.severity_floor);
    guard::discount_all(task, &mut verdict);
    verdict
}

/// In a file that the task created nothing is old.
pub(crate) fn with_created(start: &Snaps, created: &BTreeSet<String>, known: &Snaps) -> Snaps {
    let mut start = start.clone();
    for (file, provider) in known.keys().filter(|(file, _)| created.contains(file)) {
        start.extend(Ledger::absent(file, [provider.clone()]));
    }
    start
}

fn entry(found: &Found) -> Entry {
    let kind = match found.diagnostic.severity {
        Severity::Error => "E",
        Severity::Warning => "W",
        Severity::Info => "I",
        Severity::Hint => "N",
    };
    let symbol = if found.symbol.names.is_empty() { String::new() } else { format!("{}: ", found.symbol.names) };
    let code = found.diagnostic.code.as_deref().map(|code| format!(" [{code}]")).unwrap_or_default();
    Entry {
        path: found.symbol.file.clone(),
        line: found.line,
        column: found.column,
        kind: kind.to_owned(),
        text: format!(
            "{symbol}{}{code}{}",
            headline(&found.diagnostic.message),
            agreed(&found.sources, found.diagnostic.confidence)
        ),
    }
}

/// What is new in a line for each theme, where it is more than is taken in at a glance.
fn themes(shown: &[&Found]) -> Vec<String> {
    if shown.len() <= GLANCE {
        return Vec::new();
    }
    let items: Vec<Placed> =
        shown.iter().map(|found| Placed { diagnostic: &found.diagnostic, symbol: &found.symbol }).collect();
    let lines = grouping::lines(&grouping::by_theme(&items), THEMES);
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// What is known of the diagnostics after a change.
fn known(say: Say, verdict: &Verdict, new: usize, fixed: usize) -> String {
    let (all, pending) = (verdict.unchanged, verdict.pending.join(", "));
    let count = say.counted(new, "new diagnostic", "diagnóstico nuevo", "diagnósticos nuevos");
    match verdict.status {
        Status::Complete => say.of(
            format!("{count}, {fixed} fixed, {all} unchanged"),
            format!("{count}, {fixed} arreglados, {all} sin cambios"),
        ),
        Status::Partial if new == 0 => say.of(
            format!("whether anything is new is not known yet: {pending}"),
            format!("aún no se sabe si hay algo nuevo: {pending}"),
        ),
        Status::Partial => say.of(
            format!("{count} so far, not known yet: {pending}"),
            format!("{count} hasta ahora, aún no se sabe: {pending}"),
        ),
        status => say.of(
            format!("diagnostics {}: what the change did is not known", status.name()),
            format!("diagnósticos {}: no se sabe qué hizo el cambio", status.name()),
        ),
    }
}

fn summary(
    (word, say): (&str, Say),
    files: &[String],
    verdict: &Verdict,
    (new, fixed): (usize, usize),
    usage: Usage,
) -> String {
    let mut parts = Vec::new();
    if !word.is_empty() {
        parts.push(word.trim_end_matches('.').to_owned());
    }
    if files.is_empty() {
        parts.push(say.of("nothing was changed", "no se ha cambiado nada"));
    } else {
        let files = files.join(", ");
        parts.push(say.of(format!("changed {files}"), format!("cambiado: {files}")));
        parts.push(known(say, verdict, new, fixed));
    }
    parts.extend(verdict.not_counted_line());
    if usage.calls > 0 && usage.prompt_tokens > 0 {
        let tokens = usage.prompt_tokens + usage.completion_tokens;
        let about = if usage.estimated { say.of("about ", "unos ") } else { String::new() };
        let calls = say.counted(usage.calls as usize, "call", "llamada", "llamadas");
        parts.push(say.of(format!("{about}{tokens} tokens in {calls}"), format!("{about}{tokens} tokens en {calls}")));
    }
    parts.join(". ") + "."
}
