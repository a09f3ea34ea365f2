//! The stored tasks that can be resumed.

use crate::durable::task_state::RunState;
use crate::durable::{self, open_store};
use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::plan::work_mode::{Mode, Phase};
use crate::plan::{Plan, StepState};
use crate::state::durable::Durable;
use crate::state::journal::Journal;
use crate::state::plan_service::PlanService;
use crate::state::task::Task;
use crate::state::task_store::TaskStore;
use crate::state::withdraw_question::withdraw_question;
use sextant_base::failure::Failure;
use sextant_base::hint::{Hint, HintCode};
use sextant_base::one_line::headline;
use sextant_store::memory::tasks::TaskState;

/// A task as it was found.
pub(crate) struct WaitingTask {
    pub(crate) phase: Phase,
    pub(crate) run: RunState,
    pub(crate) revision: i64,
    /// When it was stored last, in milliseconds since 1970.
    pub(crate) updated: i64,
    /// True if it waits in another process that still runs.
    pub(crate) is_open_elsewhere: bool,
}

/// The tasks that are not over and that no other process works on, the last one first.
pub(crate) async fn listed(store: &TaskStore) -> Vec<WaitingTask> {
    if !open_store::has_record(store) {
        return Vec::new();
    }
    let Some(durable) = open_store::durable(store).await else { return Vec::new() };
    let name = durable.session();
    let tasks = durable.run(move |memory| memory.tasks(&name)).await;
    let tasks = open_store::or_tell(&store.events, &durable, tasks).unwrap_or_default();
    let free = tasks.into_iter().filter(|kept| !is_of_another(&durable, kept));
    let marked = |kept: TaskState| {
        let is_open_elsewhere = waits_in_another(&durable, &kept);
        resumable(kept).ok().flatten().map(|waiting| WaitingTask { is_open_elsewhere, ..waiting })
    };
    free.filter_map(marked).collect()
}

/// True if another process that still runs has stored it last.
fn waits_in_another(durable: &Durable, kept: &TaskState) -> bool {
    let own = durable.owner();
    kept.state["process"].as_str().is_some_and(|process| process != own.name() && own.is_alive(process))
}

fn is_of_another(durable: &Durable, kept: &TaskState) -> bool {
    let own = durable.owner();
    kept.owner.as_deref().is_some_and(|owner| owner != own.name() && own.is_alive(owner))
}

/// The last task that is not over, of this process or of one that is gone. `None` without a stored task.
pub(crate) async fn waiting(store: &TaskStore) -> Result<Option<WaitingTask>, Failure> {
    if !open_store::has_record(store) {
        return Ok(None);
    }
    let Some(durable) = open_store::durable(store).await else { return Ok(None) };
    let name = durable.session();
    let tasks = durable.run(move |memory| memory.tasks(&name)).await;
    let Some(tasks) = open_store::or_tell(&store.events, &durable, tasks) else { return Ok(None) };
    let mut why = "every task is done, or was never begun".to_owned();
    let mut unread = None;
    for kept in tasks {
        if is_of_another(&durable, &kept) {
            why = "another process is working on the last task".to_owned();
            continue;
        }
        match resumable(kept) {
            Ok(Some(waiting)) => {
                unread.into_iter().for_each(|text| store.events.show(Event::Progress { text }));
                return Ok(Some(waiting));
            }
            Ok(None) => {}
            Err(problem) => {
                unread.get_or_insert(problem);
            }
        }
    }
    match unread {
        Some(problem) => {
            Err(Failure::user(problem, Hint::from("what it has changed can be taken back").and(HintCode::Undo)))
        }
        None => Err(nothing(&why)),
    }
}

/// The current plan of a task, in this process or in the store.
pub(crate) async fn plan_of(store: &TaskStore, plans: &PlanService, task: &str) -> Option<Plan> {
    let is_it = |known: &(Plan, Task)| known.1.work.journal.task == task;
    if let Some((plan, _)) = plans.waiting.lock().await.as_ref().filter(|known| is_it(known)) {
        return Some(plan.clone());
    }
    if let Some((plan, _)) = plans.aside.lock().await.iter().find(|known| is_it(known)) {
        return Some(plan.clone());
    }
    let durable = open_store::durable(store).await?;
    kept(&store.events, &durable, task).await.and_then(|(run, _)| run.plan)
}

pub(crate) async fn kept(events: &EventStream, durable: &Durable, task: &str) -> Option<(RunState, Phase)> {
    let name = durable.session();
    let tasks = open_store::or_tell(events, durable, durable.run(move |memory| memory.tasks(&name)).await)?;
    let kept = tasks.into_iter().find(|kept| kept.task == task)?;
    let phase = phase(&kept);
    Some((RunState::read(kept.state).ok()?, phase))
}

/// Replaces the plan after a rollback by the one that fits the files now. Returns the event that shows it.
pub(crate) async fn replace_plan(
    store: &TaskStore,
    plans: &PlanService,
    journal: &Journal,
    plan: Option<Plan>,
) -> Option<(Phase, Plan)> {
    let open = |plan: &Plan| plan.steps.iter().any(|step| step.state == StepState::Open);
    let mut known = plans.waiting.lock().await;
    let is_it = |known: &&mut (Plan, Task)| known.1.work.journal.task == journal.task;
    let is_shown = known.as_ref().is_some_and(|(_, task)| task.work.journal.task == journal.task);
    let mut aside = plans.aside.lock().await;
    if let Some((own, task)) = known.as_mut().filter(is_it).or_else(|| aside.iter_mut().find(is_it)) {
        own.clone_from(plan.as_ref()?);
        task.work.journal = journal.clone();
        if is_shown {
            withdraw_question(&store.events, &task.work, &mut task.progress, "the steps of its plan have changed");
        }
        task.progress.question = None;
        let phase = if open(own) { Phase::Planning } else { Phase::Completed };
        durable::keep_task(store, task, Some(own), phase).await;
        return Some((phase, own.clone()));
    }
    drop((known, aside));
    let durable = open_store::durable(store).await?;
    let (mut run, before) = kept(&store.events, &durable, &journal.task).await?;
    let phase = match &plan {
        Some(plan) if open(plan) => Phase::Planning,
        Some(_) => Phase::Completed,
        // The user has decided about an interrupted task: no question comes again.
        None if before == Phase::Executing => Phase::Paused,
        None => before,
    };
    (run.running, run.progress.question, run.replanning) = (None, None, None);
    run.plan.clone_from(&plan);
    durable::keep_state(store, &run, phase).await;
    plan.map(|plan| (phase, plan))
}

pub(crate) fn nothing(why: &str) -> Failure {
    Failure::user(format!("there is nothing to resume: {why}"), HintCode::Start)
}

pub(crate) fn phase(kept: &TaskState) -> Phase {
    serde_json::from_value(kept.phase.clone().into()).unwrap_or(Phase::Error)
}

/// The waiting task that can be resumed; `None` if it is completed. The error names the task and the reason.
pub(crate) fn resumable(kept: TaskState) -> Result<Option<WaitingTask>, String> {
    let (phase, revision, updated) = (phase(&kept), kept.revision, kept.updated);
    if phase == Phase::Completed {
        return Ok(None);
    }
    let request = kept.state["request"].as_str().map(|request| format!(" “{}”", headline(request))).unwrap_or_default();
    let cannot = |why: String| format!("the task{request} cannot be gone on with: {why}");
    let run = RunState::read(kept.state).map_err(cannot)?;
    if let Some(why) = &run.ends {
        return Err(cannot(why.clone()));
    }
    let rest = match &run.plan {
        Some(plan) => {
            run.progress.question.is_some()
                || phase == Phase::Executing
                || plan.steps.iter().any(|step| matches!(step.state, StepState::Open | StepState::Running))
        }
        None => run.mode == Mode::Simple,
    };
    Ok(rest.then_some(WaitingTask { phase, run, revision, updated, is_open_elsewhere: false }))
}

/// Completes a rollback whose process died before it changed the plan.
pub(crate) fn follow_rollback(journal: &Journal, plan: Option<&mut Plan>) {
    if let (Some(rolled), Some(plan)) = (journal.rolled_back(), plan) {
        let what = rolled.symbols.first().map(String::as_str).unwrap_or_default();
        crate::state::undo_target::Target::parse(what).reopen(plan);
    }
}
