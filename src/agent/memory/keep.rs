//! When what a task leaves is written: in one transaction at the end of each step, in order, without holding it up.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tracing::Instrument;

use crate::agent::memory::{self, kind, learn, mode_of, project, relevance};
use crate::agent::plan::mode::Phase;
use crate::agent::plan::{Plan, StepState};
use crate::agent::state::memory::Remember;
use crate::agent::state::notes::{Approach, short};
use crate::agent::state::outcome::{Ended, Outcome};
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::base::clock::now_ms;
use crate::base::failure::{Failure, FailureKind};
use crate::base::plural::counted;
use crate::llm::ask::{self, Ask};
use crate::memory::entry::{EntryId, Kind, NewEntry, Role};
use crate::memory::error::Result;
use crate::memory::metrics::{self, RunRecord};
use crate::memory::recall;
use crate::memory::store::Memory;
use crate::memory::summary::Extract;
use crate::memory::trace::{Event, TraceRecord};

/// How long the end of a task waits for its writes; they go on after it.
const PATIENCE: Duration = Duration::from_secs(2);
/// Entries of a chat from which on it is summarised as well.
const LONG_CHAT: usize = 12;
/// Tokens of the summary of a chat.
const SUMMARY: usize = 400;
/// What a plan that worked is worth beside a step that worked (1.0): planner mode recalls by it.
const PATTERN: f64 = 1.5;

/// What the end of a task adds to its entries.
struct End {
    run: RunRecord,
    learned: Vec<Approach>,
    recalled: TraceRecord,
    /// Entries that were recalled and of use.
    used: Vec<EntryId>,
}

/// What entries are of.
struct Of {
    task: String,
    step: usize,
}

fn write(memory: &Memory, remember: &Remember, of: Of, entries: Vec<NewEntry>, end: Option<End>) -> Result<()> {
    if !entries.is_empty() {
        let good = |entry: &NewEntry| matches!(entry.kind, Kind::Success | Kind::Pattern | Kind::Solution);
        let good: Vec<bool> = entries.iter().map(good).collect();
        let ids = memory.append_all(entries)?;
        let ids: Vec<_> = ids.into_iter().zip(good).filter_map(|(id, good)| good.then_some(id)).collect();
        if !ids.is_empty() {
            memory.add_trace(vec![relevance::entries(&remember.session, &of.task, of.step, &ids)])?;
        }
    }
    let Some(End { run, learned, recalled, used }) = end else { return Ok(()) };
    relevance::was_of_use(memory, used)?;
    let done = learned.iter().filter(|approach| approach.success);
    let mut records: Vec<TraceRecord> =
        done.map(|approach| learn::record(&remember.session, &run.task, approach)).collect();
    records.push(recalled);
    memory.add_trace(records)?;
    for approach in &learned {
        memory.learn(learn::experience(approach, remember.project))?;
    }
    memory.replace_run(run)?;
    if memory.recent_chat(&remember.session, LONG_CHAT)?.len() == LONG_CHAT {
        memory.summarise_chat(&remember.session, &Extract, SUMMARY, now_ms())?;
    }
    Ok(())
}

/// A task begins: the memory is opened, the request kept, the project looked over where that is due.
pub(crate) async fn remember_start(session: &Session, task: &mut Task) {
    task.notes.start_clock();
    let Some(remember) = memory::remember(session).await else { return };
    task.notes.said(Role::User, &task.request);
    project::scan_project(session, &remember);
}

/// Writes what has come together since the last time. Returns at once.
pub(crate) async fn keep(session: &Session, task: &mut Task) {
    if !task.notes.drafts.is_empty() {
        put(session, task, None).await;
    }
}

async fn put(session: &Session, task: &mut Task, end: Option<End>) {
    let drafts = std::mem::take(&mut task.notes.drafts);
    let Some(remember) = memory::remember(session).await else { return };
    let mode = mode_of(task.mode);
    let entries: Vec<NewEntry> = drafts
        .into_iter()
        .map(|draft| NewEntry {
            role: draft.role,
            tools: draft.tools,
            files: draft.files,
            relevance: draft.relevance,
            ..NewEntry::new(remember.session.clone(), mode, draft.kind, draft.content, draft.at)
        })
        .collect();
    let before = task.notes.writing.take();
    let events = Arc::clone(&session.events);
    let of = Of { task: task.journal.task.clone(), step: task.step_number() };
    let writing = async move {
        if let Some(before) = before {
            let _ = before.await;
        }
        let known = Arc::clone(&remember);
        if let Err(error) = remember.run(move |memory| write(memory, &known, of, entries, end)).await {
            tracing::warn!(%error, "what a task did could not be remembered");
        }
        crate::agent::state::memory::tell(&remember, &events);
    };
    task.notes.writing = Some(tokio::spawn(writing.in_current_span()));
}

/// A simple task is over.
pub(crate) async fn remember_end(
    session: &Session,
    task: &mut Task,
    ended: &std::result::Result<Ended, Failure>,
    outcome: &Outcome,
) {
    let how = match ended {
        Ok(Ended::Done { .. }) if fell_short(task, outcome) || declines(session, task) => metrics::Outcome::Failure,
        Ok(Ended::Done { .. }) => metrics::Outcome::Success,
        Err(failure) if failure.kind == FailureKind::Cancelled => metrics::Outcome::Cancelled,
        Ok(Ended::OutOfSteps | Ended::TooManyErrors(_) | Ended::Objected(_)) | Err(_) => metrics::Outcome::Failure,
    };
    let said = match ended {
        Ok(Ended::Done { answer, .. }) if !answer.is_empty() => answer.clone(),
        Err(failure) => failure.message.clone(),
        _ => outcome.summary.clone(),
    };
    if how == metrics::Outcome::Success && !outcome.files.is_empty() {
        let content = format!("“{}”: {}", short(&task.request, 100), outcome.summary);
        task.notes.add(Kind::Success, &content).files.clone_from(&outcome.files);
    }
    conclude(session, task, how, &said, &outcome.files).await;
}

/// A plan's run is over, or pauses: it is one run, however often it pauses.
pub(crate) async fn remember_run(session: &Session, plan: &Plan, task: &mut Task, phase: Phase, outcome: &Outcome) {
    let escalated = task.progress.question.is_some();
    let worked = outcome.ok && !new_errors(outcome);
    let how = match phase {
        Phase::Completed if worked => metrics::Outcome::Success,
        Phase::Completed | Phase::Error => metrics::Outcome::Failure,
        Phase::Paused if escalated => metrics::Outcome::Failure,
        Phase::Paused | Phase::Planning | Phase::Executing => metrics::Outcome::Cancelled,
    };
    if how == metrics::Outcome::Success {
        let titles: Vec<String> = plan.steps.iter().map(|step| short(&step.title, 60)).collect();
        let kind = kind::plan_kind(&task.request);
        let content = format!("{kind}: {} worked: {}", counted(titles.len(), "step"), titles.join("; "));
        let draft = task.notes.add(Kind::Pattern, &content);
        draft.files.clone_from(&outcome.files);
        draft.relevance = if task.progress.replans == 0 { PATTERN } else { 1.0 };
    }
    if matches!(phase, Phase::Completed | Phase::Error) {
        let approach = format!("{}, {} planned anew", counted(plan.steps.len(), "step"), task.progress.replans);
        let (kind, success) = (kind::plan_kind(&task.request), how == metrics::Outcome::Success);
        let (note, checkpoint) = (String::new(), String::new());
        task.notes.approaches.push(Approach { kind, approach, success, note, checkpoint });
    }
    let summary = outcome.summary.clone();
    conclude(session, task, how, &summary, &outcome.files).await;
}

/// A plan is made. One that waited and was never run is as good as refused.
pub(crate) async fn remember_plan(session: &Session, plan: &Plan, task: &mut Task) {
    let refused = session.plan.lock().await.as_ref().and_then(|(old, _)| {
        let untouched = !old.steps.is_empty() && old.steps.iter().all(|step| step.state == StepState::Open);
        untouched.then(|| short(&old.title, 100))
    });
    if let Some(title) = refused {
        task.notes.add(Kind::UserFeedback, &format!("The user did not run the plan “{title}”."));
    }
    let titles: Vec<String> = plan.steps.iter().map(|step| short(&step.title, 60)).collect();
    let files = plan.steps.iter().flat_map(|step| &step.symbols).map(|symbol| symbol.file.clone());
    let files: std::collections::BTreeSet<String> = files.collect();
    let draft = task.notes.add(Kind::Plan, &format!("Plan “{}”: {}", short(&plan.title, 80), titles.join("; ")));
    draft.files = files.into_iter().collect();
    task.notes.stop_clock();
    keep(session, task).await;
}

/// No plan came of it: that is a run that failed.
pub(crate) async fn remember_no_plan(session: &Session, task: &mut Task, failure: &Failure) {
    let cancelled = failure.kind == FailureKind::Cancelled;
    let how = if cancelled { metrics::Outcome::Cancelled } else { metrics::Outcome::Failure };
    conclude(session, task, how, &failure.message, &[]).await;
}

/// A step of a plan has ended.
pub(crate) async fn remember_step(session: &Session, plan: &Plan, index: usize, task: &mut Task) {
    let step = &plan.steps[index];
    let (kind, word) = match step.state {
        StepState::Done => (Kind::Success, "done"),
        StepState::Failed => (Kind::Error, "failed"),
        StepState::Open | StepState::Running | StepState::Skipped => return,
    };
    let content = format!("Step “{}” {word}: {}", short(&step.title, 100), step.result.outcome);
    let draft = task.notes.add(kind, &content);
    draft.files = step.symbols.iter().map(|symbol| symbol.file.clone()).collect();
    draft.files.dedup();
    keep(session, task).await;
}

async fn conclude(session: &Session, task: &mut Task, how: metrics::Outcome, said: &str, files: &[String]) {
    let worked = task.notes.stop_clock();
    let Some(remember) = memory::remember(session).await else { return };
    task.notes.said(Role::Assistant, said);
    let run = run_of(session, task, &remember, how, worked);
    let learned = std::mem::take(&mut task.notes.approaches);
    // What an unfinished or failed task did well is not known to be good.
    let learned = learned.into_iter().filter(|one| !one.success || how == metrics::Outcome::Success).collect();
    let tally = std::mem::take(&mut task.notes.tally);
    let recalled = TraceRecord {
        session: remember.session.clone(),
        task: task.journal.task.clone(),
        step: 0,
        event: Event::Recall,
        subject: counted(tally.lookups, "lookup"),
        reason: format!("{} of them found something", tally.hits),
        detail: json!({"found": tally.found, "given": tally.given, "limit": recall::limit(mode_of(task.mode))}),
        timestamp: now_ms(),
    };
    let set = |name: &str, value| remember.memory.set_variable(&remember.session, name, value);
    set("last_request", json!(short(&task.request, 200)));
    set("last_answer", json!(short(said, 200)));
    set("last_files", json!(files));
    let used = std::mem::take(&mut task.notes.recalled);
    let used = used.into_iter().filter(|_| how == metrics::Outcome::Success).collect();
    put(session, task, Some(End { run, learned, recalled, used })).await;
    if let Some(writing) = task.notes.writing.take() {
        // Whoever asks next should find it; a file that is held by another process is not waited for.
        let _ = tokio::time::timeout(PATIENCE, writing).await;
    }
}

/// Whether the model could only say that it takes another one: it serves repairs alone.
fn declines(session: &Session, task: &Task) -> bool {
    session.model.needs_providers() && ask::classify(&task.request) != Ask::Repair
}

fn run_of(
    session: &Session,
    task: &mut Task,
    remember: &Remember,
    outcome: metrics::Outcome,
    worked: Duration,
) -> RunRecord {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let sum = &mut task.notes.total;
    sum.lookups += task.notes.tally.lookups;
    sum.hits += task.notes.tally.hits;
    sum.retrieval_us = sum.retrieval_us.saturating_add(task.notes.tally.retrieval_us);
    let (notes, usage) = (&task.notes, &task.counts.usage);
    RunRecord {
        session: remember.session.clone(),
        task: task.journal.task.clone(),
        mode: mode_of(task.mode),
        model: session.model.name().to_owned(),
        outcome,
        started: notes.started,
        duration_ms: u32::try_from(worked.as_millis()).unwrap_or(u32::MAX),
        steps: notes.steps,
        errors: notes.errors,
        replans: task.progress.replans,
        escalations: notes.escalations,
        lookups: notes.total.lookups,
        hits: notes.total.hits,
        retrieval_us: notes.total.retrieval_us,
        tokens_in: small(usage.prompt_tokens),
        tokens_out: small(usage.completion_tokens),
        cost_micros: small(session.model.price().map_or(0, |price| price.micros(usage))),
        calls: usage.calls,
        calls_saved: notes.calls_saved,
    }
}

fn new_errors(outcome: &Outcome) -> bool {
    outcome.new_diagnostics.iter().any(|line| line.severity == "error")
}

/// Ended by itself and yet no success: it left new errors, or was to repair something and repaired nothing.
fn fell_short(task: &Task, outcome: &Outcome) -> bool {
    let idle = task.notes.had_work && outcome.files.is_empty() && ask::classify(&task.request) == Ask::Repair;
    new_errors(outcome) || idle
}
