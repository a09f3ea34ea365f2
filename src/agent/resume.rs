//! Going on with a task that was paused, or whose process is gone, from where it was acknowledged last.

use tokio_util::sync::CancellationToken;

use crate::agent::durable::recover::{self, recorded};
use crate::agent::durable::state::RunState;
use crate::agent::durable::{self, Durable};
use crate::agent::journal::Journal;
use crate::agent::mode::{Mode, Phase};
use crate::agent::outcome::{Ending, Outcome};
use crate::agent::plan::make::plan_event;
use crate::agent::plan::{Plan, State, Steps, anew, ending, run};
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::{look, making, simple, start, stop, traces, undo};
use crate::base::failure::Failure;
use crate::editor::Document;
use crate::editor::event::Event;
use crate::memory::tasks::TaskState;

/// A task as it was found.
pub(crate) struct Waiting {
    pub(crate) phase: Phase,
    pub(crate) run: RunState,
    revision: i64,
}

/// Goes on with the last task that is not over: one that was interrupted or stopped runs its open steps, the
/// running one from its beginning; one that asks shows its question; a plan that was never approved is shown
/// and waits, unless `approved`.
pub async fn resume(session: &Session, approved: bool, cancel: &CancellationToken) -> Ending<Outcome> {
    let mut events = Vec::new();
    let result = go_on(session, approved, Steps::All, cancel, &mut events).await;
    traces::keep(session).await;
    Ending::new(result, events, |outcome| (outcome.ok, outcome.summary.clone()))
}

pub(crate) async fn go_on(
    session: &Session,
    approved: bool,
    steps: Steps,
    cancel: &CancellationToken,
    events: &mut Vec<Event>,
) -> Result<Outcome, Failure> {
    session.use_cancel(cancel);
    if durable::has_record(session) {
        stop::unless_stopped(session, cancel, durable::durable(session)).await?;
    }
    recover::recover_quietly(session).await;
    making::catch_up(session).await?;
    let Some(waiting) = waiting(session).await? else {
        // Without memory there is at most the plan of this process.
        if session.plan.lock().await.is_none() {
            return Err(nothing("nothing was begun here"));
        }
        return run::carry_out(session, Steps::All, cancel, events).await;
    };
    let (phase, running) = (waiting.phase, waiting.run.running);
    let (mut task, plan) = take_up(session, waiting).await?;
    task.spent.resume(task.usage);
    session.use_trace(&task.trace);
    session.editor.show(Event::Started {
        request: task.request.clone(),
        mode: task.mode.to_string(),
        model: session.model.name().to_owned(),
    });
    let Some(mut plan) = plan else {
        look_again(session, &mut task, cancel).await?;
        return simple::run_ask(session, &mut task, cancel).await;
    };
    if let Some(running) = running {
        let left = undo::roll_back_to(session, &mut task, running.mark, true).await?;
        if !left.is_empty() {
            let text = format!("left as you changed it since: {}", left.join(", "));
            session.editor.show(Event::Progress { text });
        }
        if let Some(step) = plan.steps.get_mut(running.step.saturating_sub(1)) {
            (step.state, step.outcome) = (State::Open, String::new());
        }
        task.keep.mark = None;
    }
    let waits = phase == Phase::Planning && !approved;
    if waits || task.question.is_some() {
        show_waiting(session, plan, task, phase, events).await
    } else {
        session.editor.show(plan_event(&plan, Phase::Executing.words()));
        look_again(session, &mut task, cancel).await?;
        run_on(session, plan, task, steps, cancel, events).await
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
        && let Err(failure) = anew::replan(session, &mut plan, &mut task, &trigger, cancel).await
    {
        durable::keep_task(session, &mut task, Some(&plan), Phase::Paused).await;
        *session.plan.lock().await = Some((plan, task));
        return Err(failure);
    }
    let more = plan.steps.iter().any(|step| step.state == State::Open);
    *session.plan.lock().await = Some((plan, task));
    if more {
        return run::carry_out(session, steps, cancel, events).await;
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
    let asks = task.question.is_some();
    *session.plan.lock().await = Some((plan, task));
    ending::end_waiting(session, if asks { Phase::Paused } else { phase }, events).await
}

/// What the providers say of the task's files now: a new process knows nothing yet.
async fn look_again(session: &Session, task: &mut Task, cancel: &CancellationToken) -> Result<(), Failure> {
    let unknown = task.start.is_empty();
    let mut documents: Vec<Document> = Vec::new();
    let mut files = task.scope.files();
    files.extend(task.journal.net().into_iter().map(|change| change.path));
    files.sort();
    files.dedup();
    for file in files {
        documents.extend(recover::look_at(session, &file).await?);
    }
    start::first_look(session, &documents, cancel).await?;
    if unknown && !task.journal.is_empty() {
        let text = "what was introduced before the interruption is not known any more".to_owned();
        session.editor.show(Event::Progress { text });
    }
    task.remember_start(&look::known(session).await, !task.journal.is_empty());
    Ok(())
}

/// The last task that is not over, of this process or of one that is gone. `None` where nothing is kept.
pub(crate) async fn waiting(session: &Session) -> Result<Option<Waiting>, Failure> {
    if !durable::has_record(session) {
        return Ok(None);
    }
    let Some(durable) = durable::durable(session).await else { return Ok(None) };
    let name = durable.session();
    let tasks = durable.run(move |memory| memory.tasks(&name)).await;
    let Some(tasks) = durable::or_tell(session, &durable, tasks) else { return Ok(None) };
    let mut why = "every task is done, or was never begun".to_owned();
    for kept in tasks {
        if kept.owner.as_deref().is_some_and(|owner| owner != durable.owner().name() && durable.owner().is_alive(owner))
        {
            why = "another process is working on the last task".to_owned();
            continue;
        }
        match resumable(kept) {
            Ok(Some(waiting)) => return Ok(Some(waiting)),
            Ok(None) => {}
            Err(problem) => why = problem,
        }
    }
    Err(nothing(&why))
}

/// The task and its plan in this process, ready to run.
async fn take_up(session: &Session, waiting: Waiting) -> Result<(Task, Option<Plan>), Failure> {
    let mut known = session.plan.lock().await;
    // This process has more of its own plan than was kept.
    if let Some((plan, task)) =
        known.take_if(|(_, task)| task.id == waiting.run.id && task.keep.revision == Some(waiting.revision))
    {
        return Ok((task, Some(plan)));
    }
    drop(known);
    waiting.run.paths().into_iter().try_for_each(|path| recorded(&session.root, path))?;
    let (mut task, mut plan) = waiting.run.into_task();
    task.keep.revision = Some(waiting.revision);
    if let Some(durable) = durable::durable(session).await {
        let loaded = durable::load(session, &durable, &mut task).await;
        durable::or_tell(session, &durable, loaded);
        durable::claim(session, &mut task, plan.as_ref()).await?;
    }
    follow_rollback(&task.journal, plan.as_mut());
    Ok((task, plan))
}

/// The plan of a task as it stands, in this process or as it is kept.
pub(crate) async fn plan_of(session: &Session, task: &str) -> Option<Plan> {
    if let Some((plan, _)) = session.plan.lock().await.as_ref().filter(|(_, known)| known.id == task) {
        return Some(plan.clone());
    }
    let durable = durable::durable(session).await?;
    kept(session, &durable, task).await.and_then(|(run, _)| run.plan)
}

pub(crate) async fn kept(session: &Session, durable: &Durable, task: &str) -> Option<(RunState, Phase)> {
    let name = durable.session();
    let tasks = durable::or_tell(session, durable, durable.run(move |memory| memory.tasks(&name)).await)?;
    let kept = tasks.into_iter().find(|kept| kept.task == task)?;
    let phase = phase(&kept);
    Some((RunState::read(kept.state).ok()?, phase))
}

/// After a rollback: the plan that goes with the files now. Answers with what is shown of it.
pub(crate) async fn replace_plan(session: &Session, journal: &Journal, plan: Option<Plan>) -> Option<(Phase, Plan)> {
    let open = |plan: &Plan| plan.steps.iter().any(|step| step.state == State::Open);
    let mut known = session.plan.lock().await;
    if let Some((own, task)) = known.as_mut().filter(|(_, task)| task.id == journal.task) {
        own.clone_from(plan.as_ref()?);
        task.journal = journal.clone();
        task.question = None;
        let phase = if open(own) { Phase::Planning } else { Phase::Completed };
        durable::keep_task(session, task, Some(own), phase).await;
        return Some((phase, own.clone()));
    }
    drop(known);
    let durable = durable::durable(session).await?;
    let (mut run, before) = kept(session, &durable, &journal.task).await?;
    let phase = match &plan {
        Some(plan) if open(plan) => Phase::Planning,
        Some(_) => Phase::Completed,
        // An interrupted task was decided about: it is not asked about again.
        None if before == Phase::Executing => Phase::Paused,
        None => before,
    };
    (run.running, run.question, run.replanning) = (None, None, None);
    run.plan.clone_from(&plan);
    durable::keep_state(session, &run, phase).await;
    plan.map(|plan| (phase, plan))
}

fn nothing(why: &str) -> Failure {
    Failure::user(format!("there is nothing to resume: {why}"), ":AgentAsk or :AgentPlan starts something")
}

fn phase(kept: &TaskState) -> Phase {
    serde_json::from_value(kept.phase.clone().into()).unwrap_or(Phase::Error)
}

/// Whether there is something to go on with.
fn resumable(kept: TaskState) -> Result<Option<Waiting>, String> {
    let (phase, revision) = (phase(&kept), kept.revision);
    if phase == Phase::Completed {
        return Ok(None);
    }
    let run = RunState::read(kept.state)?;
    let rest = match &run.plan {
        Some(plan) => {
            run.question.is_some()
                || phase == Phase::Executing
                || plan.steps.iter().any(|step| matches!(step.state, State::Open | State::Running))
        }
        None => run.mode == Mode::Simple,
    };
    Ok(rest.then_some(Waiting { phase, run, revision }))
}

/// A rollback whose process died before the plan was told of it.
fn follow_rollback(journal: &Journal, plan: Option<&mut Plan>) {
    if let (Some(rolled), Some(plan)) = (journal.rolled_back(), plan) {
        let what = rolled.symbols.first().map(String::as_str).unwrap_or_default();
        crate::agent::undo::Target::parse(what).reopen(plan);
    }
}
