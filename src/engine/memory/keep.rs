//! Writes the notes of a task: in one transaction at the end of each step, in order, without holding it up.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use tracing::Instrument;

use crate::events::fact::{PlanEndFact, PlanFact, RunFact, StepFact, TaskFact};
use crate::events::task_events::TaskEvents;
use crate::memory::{self, learn, mode_of, relevance};
use crate::plan::work_mode::Phase;
use crate::plan::{Plan, StepState};
use crate::state::durable::Keep;
use crate::state::memory_handle::Remember;
use crate::state::notes::{Approach, Counted, short};
use crate::state::outcome::{Ended, Outcome};
use crate::state::plan_service::PlanService;
use crate::state::task::{TaskProgress, TaskWork};
use crate::state::task_store::TaskStore;
use crate::state::undo_target;
use sextant_base::clock::now_ms;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::plural::counted;
use sextant_model::step::Model;
use sextant_store::memory::decision_record::{Event, TraceRecord};
use sextant_store::memory::entry::{EntryId, Kind, NewEntry, Role};
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::metrics::{self, RunRecord};
use sextant_store::memory::recall_limits;
use sextant_store::memory::store::Memory;

/// Entries of a chat from which on it is summarised as well.
const LONG_CHAT: usize = 12;
/// Tokens of the summary of a chat.
pub(crate) const SUMMARY: usize = 400;

/// The additions that the end of a task makes to its entries.
struct EntryEnding {
    run: RunRecord,
    learned: Vec<Approach>,
    recalled: TraceRecord,
    /// Recalled entries that were of use.
    used: Vec<EntryId>,
}

/// The owner of entries.
struct Of {
    task: String,
    step: usize,
}

fn write(memory: &Memory, remember: &Remember, of: Of, entries: Vec<NewEntry>, end: Option<EntryEnding>) -> Result<()> {
    if !entries.is_empty() {
        let good = |entry: &NewEntry| {
            matches!(entry.kind, Kind::Success | Kind::Pattern | Kind::Solution) || entry.role == Some(Role::Assistant)
        };
        let good: Vec<bool> = entries.iter().map(good).collect();
        let ids = memory.append_all(entries)?;
        let ids: Vec<_> = ids.into_iter().zip(good).filter_map(|(id, good)| good.then_some(id)).collect();
        if !ids.is_empty() {
            memory.add_trace(vec![relevance::entries(&remember.session, &of.task, of.step, &ids)])?;
        }
    }
    let Some(EntryEnding { run, learned, recalled, used }) = end else { return Ok(()) };
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
        memory.summarise_chat(&remember.session, SUMMARY, now_ms())?;
    }
    Ok(())
}

/// Begins a task: opens the memory, and stores the request.
pub(crate) async fn remember_start(store: &TaskStore, task_events: &TaskEvents, request: &str) {
    task_events.did(TaskFact::WorkBegan);
    if memory::remember(store).await.is_some() {
        task_events.did(TaskFact::Said { role: Role::User, text: request.to_owned() });
    }
}

/// Writes the notes collected since the last call. Returns at once.
pub(crate) async fn keep(store: &TaskStore, work: &TaskWork, keep: &mut Keep) {
    if work.notes.has_drafts() {
        put(store, work, keep, None).await;
    }
}

async fn put(store: &TaskStore, work: &TaskWork, keep: &mut Keep, end: Option<EntryEnding>) {
    let drafts = work.notes.take_drafts();
    let Some(remember) = memory::remember(store).await else { return };
    let mode = mode_of(work.mode);
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
    let before = keep.writing.take();
    let events = Arc::clone(&store.events);
    let of = Of { task: work.journal.task.clone(), step: work.step_number() };
    let begun = remember.begin_write();
    let writing = async move {
        let _begun = begun;
        if let Some(before) = before {
            let _ = before.await;
        }
        let known = Arc::clone(&remember);
        if let Err(error) = remember.run(move |memory| write(memory, &known, of, entries, end)).await {
            tracing::warn!(%error, "what a task did could not be remembered");
        }
        crate::state::memory_handle::tell(&remember, &events);
    };
    keep.writing = Some(tokio::spawn(writing.in_current_span()));
}

/// Ends a simple task.
pub(crate) async fn remember_end(
    store: &TaskStore,
    model: &dyn Model,
    work: &TaskWork,
    progress: &TaskProgress,
    keep: &mut Keep,
    ended: &std::result::Result<Ended, Failure>,
    outcome: &Outcome,
) {
    let how = match ended {
        Err(failure) if failure.kind == FailureKind::Cancelled => metrics::Outcome::Cancelled,
        _ if outcome.ok => metrics::Outcome::Success,
        _ => metrics::Outcome::Failure,
    };
    let said = match ended {
        // The failure of a server says nothing about the work.
        Err(failure) if !failure.kind.is_of_the_request() => String::new(),
        Ok(Ended::Done { answer, .. }) if !answer.is_empty() => answer.clone(),
        Err(failure) => failure.message.clone(),
        _ => outcome.summary.clone(),
    };
    let (summary, files) = (outcome.summary.clone(), outcome.files.clone());
    conclude(store, model, work, progress, keep, RunFact { how, said, summary, files, plan: None }).await;
}

/// The end or the pause of a plan's run: it is one run, however often it pauses.
pub(crate) fn plan_run(plan: &Plan, progress: &TaskProgress, phase: Phase, outcome: &Outcome) -> RunFact {
    let escalated = progress.question.is_some();
    let how = match phase {
        Phase::Completed if outcome.ok => metrics::Outcome::Success,
        Phase::Completed | Phase::Error => metrics::Outcome::Failure,
        Phase::Paused if escalated => metrics::Outcome::Failure,
        Phase::Paused | Phase::Planning | Phase::Executing => metrics::Outcome::Cancelled,
    };
    let (steps, over) = (titles(plan), matches!(phase, Phase::Completed | Phase::Error));
    let end = PlanEndFact { steps, replans: progress.replans, over };
    let (said, summary, files) = (outcome.summary.clone(), outcome.summary.clone(), outcome.files.clone());
    RunFact { how, said, summary, files, plan: Some(end) }
}

fn titles(plan: &Plan) -> Vec<String> {
    plan.steps.iter().map(|step| step.title.clone()).collect()
}

/// Records a new plan. A plan that waited and was never run is as good as refused.
pub(crate) async fn remember_plan(
    store: &TaskStore,
    plans: &PlanService,
    plan: &Plan,
    work: &TaskWork,
    kept: &mut Keep,
) {
    let refused = plans.waiting.lock().await.as_ref().and_then(|(old, _)| {
        let untouched = !old.steps.is_empty() && old.steps.iter().all(|step| step.state == StepState::Open);
        untouched.then(|| old.title.clone())
    });
    let files = plan.steps.iter().flat_map(|step| &step.symbols).map(|symbol| symbol.file.clone());
    let files: std::collections::BTreeSet<String> = files.collect();
    let (title, steps, files) = (plan.title.clone(), titles(plan), files.into_iter().collect());
    work.events.did(TaskFact::PlanMade { plan: PlanFact { title, steps, files, refused } });
    keep(store, work, kept).await;
}

/// Records that no plan was made: that is a run that failed.
pub(crate) async fn remember_no_plan(
    store: &TaskStore,
    model: &dyn Model,
    work: &TaskWork,
    progress: &TaskProgress,
    keep: &mut Keep,
    failure: &Failure,
) {
    let cancelled = failure.kind == FailureKind::Cancelled;
    let how = if cancelled { metrics::Outcome::Cancelled } else { metrics::Outcome::Failure };
    let is_lesson = failure.kind.is_of_the_request();
    let said = if is_lesson { failure.message.clone() } else { String::new() };
    let (summary, files) = (String::new(), Vec::new());
    conclude(store, model, work, progress, keep, RunFact { how, said, summary, files, plan: None }).await;
}

/// Records the end of a plan's step.
pub(crate) async fn remember_step(store: &TaskStore, plan: &Plan, index: usize, work: &TaskWork, kept: &mut Keep) {
    let step = &plan.steps[index];
    let done = match step.state {
        StepState::Done => true,
        StepState::Failed => false,
        StepState::Open | StepState::Running | StepState::Skipped => return,
    };
    let mut files: Vec<String> = step.symbols.iter().map(|symbol| symbol.file.clone()).collect();
    files.dedup();
    let (title, outcome) = (step.title.clone(), step.result.outcome.clone());
    work.events.did(TaskFact::StepEnded { step: StepFact { title, done, outcome, files } });
    keep(store, work, kept).await;
}

pub(crate) async fn conclude(
    store: &TaskStore,
    model: &dyn Model,
    work: &TaskWork,
    progress: &TaskProgress,
    keep: &mut Keep,
    run: RunFact,
) {
    let (how, said, files) = (run.how, run.said.clone(), run.files.clone());
    work.events.did(TaskFact::RunEnded { run });
    let Some(remember) = memory::remember(store).await else { return };
    let left = work.notes.take_run();
    let run = run_of(model, work, progress, &remember, how, &left.counted);
    let standing: BTreeSet<&str> = undo_target::standing(&work.journal).map(|pick| pick.edit.id.as_str()).collect();
    // Good results of an unfinished or failed task are not known to be good; an edit that a step took back is not one.
    let is_good = |one: &Approach| {
        how == metrics::Outcome::Success && (one.checkpoint.is_empty() || standing.contains(one.checkpoint.as_str()))
    };
    let learned = left.approaches.into_iter().filter(|one| !one.success || is_good(one)).collect();
    let tally = left.tally;
    let recalled = TraceRecord {
        session: remember.session.clone(),
        task: work.journal.task.clone(),
        step: 0,
        event: Event::Recall,
        subject: counted(tally.lookups, "lookup"),
        reason: format!("{} of them found something", tally.hits),
        detail: json!({"found": tally.found, "given": tally.given, "limit": recall_limits::limit(mode_of(work.mode))}),
        timestamp: now_ms(),
    };
    let set = |name: &str, value| remember.memory.set_variable(&remember.session, name, value);
    set("last_request", json!(short(&work.request, 200)));
    set("last_answer", json!(short(&said, 200)));
    set("last_files", json!(files));
    let used = left.recalled.into_iter().filter(|_| how == metrics::Outcome::Success).collect();
    put(store, work, keep, Some(EntryEnding { run, learned, recalled, used })).await;
    remember.written().await;
}

fn run_of(
    model: &dyn Model,
    work: &TaskWork,
    progress: &TaskProgress,
    remember: &Remember,
    outcome: metrics::Outcome,
    notes: &Counted,
) -> RunRecord {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let usage = &work.spent.now().used;
    RunRecord {
        session: remember.session.clone(),
        task: work.journal.task.clone(),
        mode: mode_of(work.mode),
        model: model.name().to_owned(),
        outcome,
        started: notes.started,
        duration_ms: u32::try_from(work.notes.worked().as_millis()).unwrap_or(u32::MAX),
        steps: notes.steps,
        errors: notes.errors,
        replans: progress.replans,
        escalations: notes.escalations,
        lookups: notes.total.lookups,
        hits: notes.total.hits,
        retrieval_us: notes.total.retrieval_us,
        tokens: metrics::RunTokens {
            prompt: small(usage.prompt_tokens),
            answer: small(usage.completion_tokens),
            cached: small(usage.cached_tokens),
        },
        cost_micros: small(model.price().map_or(0, |price| price.micros(usage))),
        calls: usage.calls,
        calls_saved: notes.calls_saved,
    }
}
