//! Resumes a task that was paused, or whose process is gone, from its last acknowledged point.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::commands::ask;
use crate::diagnostics::collect_diagnostics;
use crate::durable::resumable::{self, WaitingTask};
use crate::durable::task_state::Running;
use crate::durable::{self, open_store, stored_traces};
use crate::edit::lost_edits;
use crate::edit::recover::{self, recorded};
use crate::edit::{edit_transaction, rollback};
use crate::editor::Document;
use crate::editor::event::Event;
use crate::events::fact::TaskFact;
use crate::events::stream::EventStream;
use crate::plan::plan_event::plan_event;
use crate::plan::work_mode::Phase;
use crate::plan::{Plan, StepResult, StepState, Steps};
use crate::planner::{ending, replan, run_plan, waiting_list};
use crate::run::{repair_scope, start};
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::outcome::{Ending, Outcome};
use crate::state::plan_service::PlanService;
use crate::state::session::Session;
use crate::state::span;
use crate::state::stop;
use crate::state::task::{Conversation, Task, TaskWork};
use crate::state::workspace::Workspace;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_model::step::{LastResult, Model};

/// Resumes the last task that is not over. An interrupted or stopped task runs its open steps, the running one from its
/// beginning. A task that asks shows its question. A plan that was never approved is shown and waits, unless
/// `approved`.
///
/// `which` chooses another one that waits, by its number in the list, its name or words of its title.
pub(crate) async fn resume(
    session: &Session,
    which: &str,
    approved: bool,
    cancel: &CancellationToken,
) -> Ending<Outcome> {
    let mut events = Vec::new();
    session.plans.no_plan.store(false, Ordering::Relaxed);
    let result = go_on(session, which, approved, Steps::All, cancel, &mut events).await;
    stored_traces::keep(&session.store).await;
    Ending::of_task(result, events)
}

pub(crate) async fn go_on(
    session: &Session,
    which: &str,
    approved: bool,
    steps: Steps,
    cancel: &CancellationToken,
    events: &mut Vec<Event>,
) -> Result<Outcome, Failure> {
    session.hub.use_cancel(cancel);
    if open_store::has_record(&session.store) {
        stop::unless_stopped(&session.edits.making, cancel, open_store::durable(&session.store)).await?;
    }
    recover::recover_quietly(&session.edits).await;
    edit_transaction::catch_up(&session.edits, &session.plans).await?;
    let found = waiting_list::choose(&session.edits, &session.plans, which).await?;
    let Some(waiting) = found else {
        // Without memory there is at most the plan of this process.
        if session.plans.waiting.lock().await.is_none() {
            return Err(resumable::nothing("nothing was begun here"));
        }
        span::belongs_to_plan(&session.plans).await;
        if !which.is_empty() && !approved && waiting_list::is_unapproved(&session.plans).await {
            return ending::end_waiting(session, Phase::Planning, events).await;
        }
        return Box::pin(run_plan::carry_out(session, Steps::All, cancel, events)).await;
    };
    let (phase, running) = (waiting.phase, waiting.run.running);
    let (mut task, plan) = take_up(&session.edits, &session.plans, waiting).await?;
    task.work.take_up(&session.events);
    repair_scope::look_up(&session.workspace, session.hub.needs_providers, &task.work.journal, &mut task.work.intent)
        .await;
    task.work.events.did(TaskFact::BudgetRenewed { whole: true });
    span::belongs_to(&task);
    session.events.show(Event::Started {
        request: task.work.request.clone(),
        mode: task.work.mode.to_string(),
        model: session.model.name().to_owned(),
    });
    let Some(mut plan) = plan else {
        tell_lost_edits(&session.hub, session.model.as_ref(), &mut task.conversation, &task.work.journal).await?;
        look_again(&session.hub, &mut task.work, cancel).await?;
        task.work.begun = (!task.work.journal.is_empty()).then_some(0);
        return Box::pin(ask::run_ask(&session.edits, session.model.as_ref(), &mut task, None, cancel)).await;
    };
    say_another_model(&session.events, session.model.as_ref(), &plan);
    if let Some(running) = running {
        open_running(&session.edits, &mut plan, &mut task.work, running).await?;
        task.keep.mark = None;
    }
    open_lost_steps(&session.workspace, &session.events, &mut plan, &task.work.journal).await?;
    let waits = phase == Phase::Planning && !approved;
    if waits || task.progress.question.is_some() {
        show_waiting(session, plan, task, phase, events).await
    } else {
        session.events.show(plan_event(&plan, Phase::Executing.words()));
        look_again(&session.hub, &mut task.work, cancel).await?;
        run_on(session, plan, task, steps, cancel, events).await
    }
}

/// Takes back the changes of the step that was running, and opens it again.
async fn open_running(
    edits: &EditService,
    plan: &mut Plan,
    work: &mut TaskWork,
    running: Running,
) -> Result<(), Failure> {
    let left = rollback::roll_back_to(edits, work, running.mark, true).await?;
    if !left.is_empty() {
        let text = format!("left as you changed it since: {}", left.join(", "));
        edits.hub.events.show(Event::Progress { text });
    }
    if let Some(step) = plan.steps.get_mut(running.step.saturating_sub(1)) {
        (step.state, step.result.outcome) = (StepState::Open, String::new());
    }
    Ok(())
}

/// Opens steps again whose edits are lost. A step is done only as long as its edits are in the files. Edits in a buffer
/// that is gone are lost.
async fn open_lost_steps(
    workspace: &Workspace,
    events: &EventStream,
    plan: &mut Plan,
    journal: &Journal,
) -> Result<(), Failure> {
    for (number, files) in lost_edits::in_files(workspace, journal).await?.lost {
        let Some(step) = plan.steps.get_mut(number.saturating_sub(1)).filter(|step| step.state == StepState::Done)
        else {
            continue;
        };
        (step.state, step.result) = (StepState::Open, StepResult::default());
        let files: Vec<String> = files.into_iter().collect();
        let files = files.join(", ");
        let text = format!("step {number} was done, and its edit is not in {files} any more: it is run again");
        events.show(Event::Progress { text });
    }
    Ok(())
}

/// Names the edits that are no longer in the files, to the user and to the model. The model relies on its own record.
async fn tell_lost_edits(
    hub: &DiagnosticsHub,
    model: &dyn Model,
    conversation: &mut Conversation,
    journal: &Journal,
) -> Result<(), Failure> {
    let files: BTreeSet<String> =
        lost_edits::in_files(&hub.workspace, journal).await?.lost.into_values().flatten().collect();
    if files.is_empty() {
        return Ok(());
    }
    let files: Vec<String> = files.into_iter().collect();
    let text = format!("what was edited in {} before the interruption is not there any more", files.join(", "));
    hub.events.show(Event::Progress { text: text.clone() });
    conversation.results.push(LastResult { tool: "resume".to_owned(), ok: false, text: text.clone() });
    if conversation.transcript.is_open() {
        conversation.transcript.take_up(model.name());
        conversation.transcript.tell(format!("Note: {text}. Read the files again."));
    }
    Ok(())
}

/// Notes that a plan of one model goes on with another, where the configuration names it now. The work must not look
/// like that of the first.
fn say_another_model(events: &EventStream, model: &dyn Model, plan: &Plan) {
    let (before, now) = (plan.model.as_str(), model.name());
    if !before.is_empty() && before != now {
        let text = format!("the plan was made with {before}; it goes on with {now}");
        events.show(Event::Progress { text });
    }
}

async fn run_on(
    session: &Session,
    mut plan: Plan,
    mut task: Task,
    steps: Steps,
    cancel: &CancellationToken,
    events: &mut Vec<Event>,
) -> Result<Outcome, Failure> {
    if let Some(trigger) = task.keep.replanning.take()
        && let Err(failure) =
            replan::replan(&session.edits, session.model.as_ref(), &mut plan, &mut task, &trigger, cancel).await
    {
        durable::keep_task(&session.store, &mut task, Some(&plan), Phase::Paused).await;
        session.plans.put(plan, task).await;
        return Err(failure);
    }
    let more = plan.steps.iter().any(|step| step.state == StepState::Open);
    session.plans.put(plan, task).await;
    if more {
        return Box::pin(run_plan::carry_out(session, steps, cancel, events)).await;
    }
    // It was interrupted between its last step and its end.
    ending::end_waiting(session, Phase::Completed, events).await
}

async fn show_waiting(
    session: &Session,
    plan: Plan,
    task: Task,
    phase: Phase,
    events: &mut Vec<Event>,
) -> Result<Outcome, Failure> {
    let asks = task.progress.question.is_some();
    session.plans.put(plan, task).await;
    ending::end_waiting(session, if asks { Phase::Paused } else { phase }, events).await
}

/// Reads the current reports of the task's files: a new process knows nothing yet.
async fn look_again(hub: &DiagnosticsHub, work: &mut TaskWork, cancel: &CancellationToken) -> Result<(), Failure> {
    let unknown = work.reports.start.is_empty();
    let mut documents: Vec<Document> = Vec::new();
    let mut files = work.scope.files();
    files.extend(work.journal.net().into_iter().map(|change| change.path));
    files.sort();
    files.dedup();
    for file in files {
        documents.extend(recover::look_at(&hub.workspace, &file).await?);
    }
    start::first_look(hub, &documents, cancel).await?;
    if unknown && !work.journal.is_empty() {
        let text = "what was introduced before the interruption is not known any more".to_owned();
        hub.events.show(Event::Progress { text });
    }
    work.remember_start(&collect_diagnostics::known(hub).await, !work.journal.is_empty());
    Ok(())
}

/// Makes the plan that an earlier process has left the one that waits, as it was stored. One that waits here already
/// stays.
///
/// # Errors
/// The plan was interrupted while it ran, or another process has it.
pub(crate) async fn take_up_plan(edits: &EditService, plans: &PlanService) -> Result<(), Failure> {
    if plans.waiting.lock().await.is_some() {
        return Ok(());
    }
    recover::recover_quietly(edits).await;
    let left = resumable::waiting(&edits.store).await.ok().flatten();
    let Some(waiting) = left.filter(|waiting| waiting.run.plan.is_some()) else { return Ok(()) };
    if waiting.phase == Phase::Executing || waiting.run.running.is_some() {
        let message = "the plan was interrupted while it ran, so its text cannot be changed yet";
        return Err(Failure::user(message, HintCode::Resume));
    }
    if let (task, Some(plan)) = take_up(edits, plans, waiting).await? {
        plans.put(plan, task).await;
    }
    Ok(())
}

/// The task and its plan in this process, ready to run.
async fn take_up(
    edits: &EditService,
    plans: &PlanService,
    waiting: WaitingTask,
) -> Result<(Task, Option<Plan>), Failure> {
    let mut known = plans.waiting.lock().await;
    // This process holds more of its own plan than was kept.
    if let Some((plan, task)) = known
        .take_if(|(_, task)| task.work.journal.task == waiting.run.id && task.keep.revision == Some(waiting.revision))
    {
        return Ok((task, Some(plan)));
    }
    drop(known);
    waiting.run.paths().into_iter().try_for_each(|path| recorded(&edits.workspace.root, path))?;
    let (mut task, mut plan) = waiting.run.into_task();
    task.keep.revision = Some(waiting.revision);
    task.work.intent.consent.restored = true;
    if let Some(durable) = open_store::durable(&edits.store).await {
        let loaded = durable::load(
            &edits.store,
            &edits.workspace.root,
            &durable,
            &mut task.work,
            &mut task.conversation,
            &mut task.keep,
        )
        .await;
        open_store::or_tell(&edits.hub.events, &durable, loaded);
        durable::claim(&edits.store, &mut task, plan.as_ref()).await?;
    }
    resumable::follow_rollback(&task.work.journal, plan.as_mut());
    Ok((task, plan))
}
