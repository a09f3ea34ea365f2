//! Stores a task while it runs, so that a new process can go on with it or take it back.
//!
//! The state is stored at these points:
//! - when a plan is made, when its approval begins, and before a plan is made again
//! - when a step begins and when it is judged
//! - after every tool call of a task without a plan
//! - when a question is asked or answered
//! - at the end
//!
//! Every change of files has a checkpoint of its own ([`change_record`]). It is open from before the change until the
//! result is known.

pub(crate) mod change_record;
pub(crate) mod open_store;
pub(crate) mod plan_size;
pub(crate) mod resumable;
pub(crate) mod stack;
pub(crate) mod stored_baseline;
pub(crate) mod stored_messages;
pub(crate) mod stored_review;
pub(crate) mod stored_traces;
pub(crate) mod task_state;

use crate::durable::stored_messages::StoredConversation;
use crate::durable::task_state::RunState;
use crate::events::envelope::TaskEvent;
use crate::events::stream::EventStream;
use crate::plan::Plan;
use crate::plan::next_decision::Trigger;
use crate::plan::work_mode::{Mode, Phase};
use crate::state::agent_config::Config;
use crate::state::durable::{Durable, Keep};
use crate::state::journal::{Checkpoint, CheckpointKind, Journal};
use crate::state::task::{Conversation, Task, TaskWork};
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_store::memory::checkpoints::{Cleaned, CleanedTask};
use sextant_store::memory::decision_record::{Event as TraceEvent, TraceRecord};
use sextant_store::memory::memory_error::{MemoryError, Result};
use sextant_store::memory::store::Memory;
use sextant_store::memory::tasks::{KeptTalk, TaskState};
use sextant_store::workspace::root::Root;

/// The name of a phase in the memory file, as it is in JSON.
pub(crate) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Planning => "planning",
        Phase::Executing => "executing",
        Phase::Paused => "paused",
        Phase::Completed => "completed",
        Phase::Error => "error",
    }
}

/// Stores the state as it is. A task that is executed belongs to this process, any other to nobody.
pub(crate) async fn keep_task(store: &TaskStore, task: &mut Task, plan: Option<&Plan>, phase: Phase) {
    task.keep.phase = phase;
    // A pause in the middle of a step leaves the step to the process that goes on with it.
    if !matches!(phase, Phase::Executing | Phase::Paused) {
        task.keep.mark = None;
    }
    stored_traces::keep(store).await;
    if let Some(durable) = open_store::durable(store).await {
        stored_baseline::keep_baseline(&store.events, &durable, &task.work, &mut task.keep).await;
        let mut state = RunState::of(task, plan);
        if phase != Phase::Executing {
            state.counted.concluded();
        }
        let kept = save(&durable, &state, messages(task, phase), phase, None).await;
        if let Some(revision) = open_store::or_tell(&store.events, &durable, kept) {
            task.keep.revision = revision;
        }
        if !matches!(phase, Phase::Executing | Phase::Planning) {
            clean(&store.config, &store.events, &durable, &task.work.journal.task).await;
        }
    }
    // Written before it is reported.
    task.work.events.emit(TaskEvent::PhaseChanged { phase });
}

/// Stores the conversation of a request again, with its outcome. Returns the revision. A task that another process has
/// gone on with keeps the one of that process.
pub(crate) async fn keep_talk(store: &TaskStore, task: &Task) -> Option<i64> {
    let (Some(durable), Some(expected)) = (open_store::durable(store).await, task.keep.revision) else {
        return task.keep.revision;
    };
    let (mut state, phase) = (RunState::of(task, None), task.keep.phase);
    if phase != Phase::Executing {
        state.counted.concluded();
    }
    let kept = save(&durable, &state, messages(task, phase), phase, Some(expected)).await;
    open_store::or_tell(&store.events, &durable, kept).flatten().or(task.keep.revision)
}

/// The messages to and from a task's model, for the process that goes on with it.
fn messages(task: &Task, phase: Phase) -> KeptTalk {
    // A request without a plan can be asked on after its end.
    if phase == Phase::Completed && task.work.mode != Mode::Simple {
        return KeptTalk::Nothing;
    }
    let conversation = &task.conversation;
    serde_json::to_value(StoredConversation::of(conversation)).map_or(KeptTalk::Nothing, KeptTalk::This)
}

async fn save(
    durable: &Durable,
    state: &RunState,
    talk: KeptTalk,
    phase: Phase,
    expected: Option<i64>,
) -> Result<Option<i64>> {
    let mut kept = serde_json::to_value(state).map_err(MemoryError::from)?;
    if state.origin.process.is_empty() {
        kept["process"] = durable.owner().name().into();
    }
    let new = TaskState {
        task: state.id.clone(),
        session: durable.session(),
        owner: (phase == Phase::Executing).then(|| durable.owner().name().to_owned()),
        phase: phase_name(phase).to_owned(),
        state: kept,
        revision: 0,
        updated: now_ms(),
    };
    durable.run(move |memory| memory.save_task(new, &talk, expected)).await
}

/// Stores the task of a client outside: whole after each of its edits, so that nobody has to go on with it.
pub(crate) async fn keep_outside(store: &TaskStore, task: &Task, cleans: bool) {
    let Some(durable) = open_store::durable(store).await else { return };
    let kept = save(&durable, &RunState::of(task, None), KeptTalk::Nothing, Phase::Completed, None).await;
    open_store::or_tell(&store.events, &durable, kept);
    if cleans {
        clean(&store.config, &store.events, &durable, &task.work.journal.task).await;
    }
}

/// Stores the state of a task that is in no session: after a rollback.
pub(crate) async fn keep_state(store: &TaskStore, state: &RunState, phase: Phase) {
    let Some(durable) = open_store::durable(store).await else { return };
    let kept = save(&durable, state, KeptTalk::AsItWas, phase, None).await;
    open_store::or_tell(&store.events, &durable, kept);
}

/// Stores a plan with an outcome that a late answer has renewed; the phase stays. Returns the revision. A task that
/// another process has gone on with keeps the state of that one.
pub(crate) async fn keep_renewed(store: &TaskStore, plan: &Plan, task: &Task) -> Option<i64> {
    let (Some(durable), Some(expected)) = (open_store::durable(store).await, task.keep.revision) else {
        return task.keep.revision;
    };
    let mut state = RunState::of(task, Some(plan));
    if task.keep.phase != Phase::Executing {
        state.counted.concluded();
    }
    let kept = save(&durable, &state, KeptTalk::AsItWas, task.keep.phase, Some(expected)).await;
    open_store::or_tell(&store.events, &durable, kept).flatten().or(task.keep.revision)
}

/// Takes a waiting task for this process. Refused where another process has gone on with it meanwhile.
pub(crate) async fn claim(store: &TaskStore, task: &mut Task, plan: Option<&Plan>) -> std::result::Result<(), Failure> {
    let Some(durable) = open_store::durable(store).await else { return Ok(()) };
    let Some(expected) = task.keep.revision else { return Ok(()) };
    let state = RunState::of(task, plan);
    match save(&durable, &state, KeptTalk::AsItWas, Phase::Executing, Some(expected)).await {
        Ok(Some(revision)) => task.keep.revision = Some(revision),
        Ok(None) => {
            let what = format!("another process has gone on with “{}”", task.work.request);
            return Err(Failure::user(what, HintCode::ShowWaiting));
        }
        Err(error) => {
            open_store::or_tell::<()>(&store.events, &durable, Err(error));
        }
    }
    Ok(())
}

/// Records the start of a plan's step.
pub(crate) async fn keep_step(store: &TaskStore, plan: &Plan, task: &mut Task, index: usize) {
    task.work.plan_step = index + 1;
    task.keep.mark = Some(task.work.journal.checkpoints.len());
    task.keep.replanning = None;
    keep_task(store, task, Some(plan), Phase::Executing).await;
    task.work.events.step_began(index + 1);
}

/// Records the judgement of a plan's step. From here on the step is not run again.
pub(crate) async fn keep_judged(store: &TaskStore, plan: &Plan, task: &mut Task) {
    task.keep.mark = None;
    keep_task(store, task, Some(plan), Phase::Executing).await;
}

/// Records that a plan is about to be made again: a checkpoint of its own, without files.
pub(crate) async fn keep_replan(store: &TaskStore, plan: &Plan, task: &mut Task, trigger: &Trigger) {
    task.keep.replanning = Some(trigger.clone());
    task.work.events.planning();
    let id = store.next_checkpoint();
    let kind = CheckpointKind::Replan;
    let mut checkpoint = Checkpoint { id, kind, step: task.work.plan_step, ..Checkpoint::default() };
    change_record::keep_mark(store, &task.work.journal.task, &mut checkpoint, &RunState::of(task, Some(plan))).await;
    task.work.journal.checkpoints.push(checkpoint);
    keep_task(store, task, Some(plan), Phase::Executing).await;
}

/// Records that a plan was made and waits.
pub(crate) async fn keep_plan(store: &TaskStore, plan: &Plan, task: &mut Task) {
    let mut checkpoint = Checkpoint { id: store.next_checkpoint(), ..Checkpoint::default() };
    change_record::keep_mark(store, &task.work.journal.task, &mut checkpoint, &RunState::of(task, Some(plan))).await;
    keep_task(store, task, Some(plan), Phase::Planning).await;
}

/// Records the end of a tool call of a task without a plan.
pub(crate) async fn keep_call(store: &TaskStore, task: &mut Task) {
    if task.work.mode == Mode::Simple {
        keep_task(store, task, None, Phase::Executing).await;
    }
}

/// Removes checkpoints above the limit: those of the least recently used tasks that are over. Never removes those of
/// this task, of the last one that changed something, or of one that can be resumed.
async fn clean(config: &Config, events: &EventStream, durable: &Durable, task: &str) {
    let limit = config.memory.checkpoints_mb.saturating_mul(1 << 20);
    let (owner, task) = (durable.session(), task.to_owned());
    let ended = [phase_name(Phase::Completed), phase_name(Phase::Error)];
    let cleaned = durable
        .run(move |memory| {
            // Every task and every content is looked at only where something may have to go.
            if memory.bytes()? <= limit {
                memory.prune_tasks(&ended)?;
                return Ok(Cleaned::default());
            }
            let tasks = memory.tasks(&owner)?;
            let open = tasks.iter().filter(|other| !ended.contains(&other.phase.as_str()));
            let mut kept: Vec<&str> = open.map(|other| other.task.as_str()).collect();
            kept.push(&task);
            for other in &tasks {
                if memory.checkpoints(&owner, Some(&other.task))?.iter().any(|info| info.reason == change_record::EDIT)
                {
                    kept.push(&other.task);
                    break;
                }
            }
            let cleaned = memory.clean_checkpoints(limit, &kept)?;
            memory.add_trace(cleaned.tasks.iter().map(removed).collect())?;
            memory.prune_tasks(&ended)?;
            Ok(cleaned)
        })
        .await;
    if let Some(cleaned) = open_store::or_tell(events, durable, cleaned)
        && !cleaned.dropped.is_empty()
    {
        tracing::info!(dropped = cleaned.dropped.len(), bytes = cleaned.bytes_after, "checkpoints cleaned");
    }
}

/// Loads the task's journal, its messages and its baseline from the store into the task.
pub(crate) async fn load(
    store: &TaskStore,
    root: &Root,
    durable: &Durable,
    work: &mut TaskWork,
    conversation: &mut Conversation,
    keep: &mut Keep,
) -> Result<()> {
    work.journal = load_journal(store, durable, &work.journal.task, &work.request).await?;
    let edits = work.journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit);
    let made = edits.flat_map(|row| &row.files).filter(|file| file.before.is_none());
    work.reports.created.extend(made.map(|file| file.path.clone()));
    let name = work.journal.task.clone();
    if let Some(talk) = durable.run(move |memory| memory.said(&name)).await? {
        StoredConversation::read(talk).into_task(conversation);
    }
    stored_baseline::load_baseline(root, durable, work, keep).await
}

/// A journal as it is stored.
pub(crate) async fn load_journal(store: &TaskStore, durable: &Durable, task: &str, request: &str) -> Result<Journal> {
    let (name, owned) = (durable.session(), task.to_owned());
    let checkpoints = durable.run(move |memory| change_record::read_all(memory, &name, &owned)).await?;
    store.skip_checkpoints(&checkpoints);
    Ok(Journal { checkpoints, ..Journal::new(task, request) })
}

/// The most records of one task's trace that are searched, the newest.
const TRACE: usize = 10_000;

/// The subject of a trace record that a task's checkpoints were removed to make room.
const REMOVED: &str = "checkpoints";

fn removed(gone: &CleanedTask) -> TraceRecord {
    let edits = gone.checkpoints.iter().filter(|(_, reason)| reason == change_record::EDIT);
    let last = edits.map(|(id, _)| *id).max();
    TraceRecord {
        session: gone.session.clone(),
        task: gone.task.clone(),
        step: 0,
        event: TraceEvent::Note,
        subject: REMOVED.to_owned(),
        reason: "removed to make room".to_owned(),
        detail: serde_json::json!({"last": last}),
        timestamp: now_ms(),
    }
}

/// The last change of a task whose checkpoints were removed to make room; `None` where they were not. Blocks.
pub(crate) fn was_removed(memory: &Memory, session: &str, task: &str) -> Result<Option<i64>> {
    let records = memory.trace(session, Some(task), TRACE)?;
    let removed = records.iter().find(|record| record.event == TraceEvent::Note && record.subject == REMOVED);
    Ok(removed.map(|record| record.detail["last"].as_i64().unwrap_or(0)))
}
