//! Runs an approved plan: which steps may run next, how each is judged, and how the run goes on.

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::durable;
use crate::edit::edit_transaction;
use crate::editor::event::Event;
use crate::events::fact::TaskFact;
use crate::events::stream::EventStream;
use crate::events::task_events::TaskEvents;
use crate::memory::keep;
use crate::plan::next_decision::{self, Decision, PlanSoFar, StepReport, Trigger};
use crate::plan::step_errors::{StepError, Then};
use crate::plan::user_question::Question;
use crate::plan::work_mode::Phase;
use crate::plan::{Plan, Step, StepState, Steps, depends, plan_event};
use crate::planner::ending::{self, goes_on, resumable_plan};
use crate::planner::run_step::{self, Tried};
use crate::planner::step_result::{self, about, number, take};
use crate::planner::{alternatives, read_only_steps, replan, step_rollback, validate_edited_plan};
use crate::run::run_loop;
use crate::state::approvals::Approvals;
use crate::state::edit_service::EditService;
use crate::state::outcome::Outcome;
use crate::state::plan_service::PlanService;
use crate::state::session::Session;
use crate::state::span;
use crate::state::stop;
use crate::state::task::{Task, TaskProgress, TaskWork};
use crate::state::withdraw_question::withdraw_question;
use crate::state::workspace::Workspace;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::step::Model;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The phase of a plan that another process has taken.
const RUN_ELSEWHERE: &str = "run in another session";

/// How a run without a failure from outside came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanRun {
    /// No step is left to run now, or the user is asked.
    Ended,
    /// A step could not be done, and nothing else is tried.
    Stopped,
}

pub(crate) async fn carry_out(
    session: &Session,
    steps: Steps,
    cancel: &CancellationToken,
    events: &mut Vec<Event>,
) -> Result<Outcome, Failure> {
    edit_transaction::catch_up(&session.edits, &session.plans).await?;
    let Some((mut plan, mut task)) = session.plans.waiting.lock().await.take() else {
        return Err(Failure::user("there is no plan to approve", HintCode::Plan));
    };
    if !plan.steps.iter().any(|step| step.state == StepState::Open) {
        let failure = Failure::user("the plan has no open step", HintCode::Plan);
        *session.plans.waiting.lock().await = Some((plan, task));
        return Err(failure);
    }
    if let Err(failure) = consent(&session.edits.approvals, &plan, &mut task.work) {
        *session.plans.waiting.lock().await = Some((plan, task));
        return Err(failure);
    }
    session.hub.use_cancel(cancel);
    task.work.take_up(&session.events);
    if let Err(failure) = durable::claim(&session.store, &mut task, Some(&plan)).await {
        gone_elsewhere(&session.events, &session.plans, plan, task).await;
        return Err(failure);
    }
    let Task { work, keep, conversation, .. } = &mut task;
    step_rollback::take_back_unfinished(&session.edits, work, keep, &mut conversation.transcript).await?;
    task.work.events.did(TaskFact::WorkBegan);
    task.work.intent.consent.replanned = false;
    task.work.events.did(TaskFact::BudgetRenewed { whole: false });
    let ran = match stop::unless_stopped(
        &session.edits.making,
        cancel,
        say_what_is_missing(&session.workspace, &session.events, &plan),
    )
    .await
    {
        Ok(()) => run_plan(&session.edits, session.model.as_ref(), &mut plan, &mut task, steps, cancel).await,
        Err(stopped) => Err(stopped),
    };
    let phase = match &ran {
        Err(failure) if goes_on(failure.kind) => Phase::Paused,
        Err(_) => Phase::Error,
        Ok(_) if task.progress.question.is_some() => Phase::Paused,
        Ok(_) if plan.steps.iter().any(|step| step.state == StepState::Open) => Phase::Planning,
        Ok(_) => Phase::Completed,
    };
    if matches!(&ran, Err(failure) if failure.kind == FailureKind::Cancelled) {
        // The user who stops it sees the work of the step so far, and keeps it.
        task.keep.mark = None;
    }
    durable::keep_task(&session.store, &mut task, Some(&plan), phase).await;
    let stopped = matches!(ran, Ok(PlanRun::Stopped));
    let outcome =
        ending::end_run(&session.edits, session.model.as_ref(), &mut plan, &mut task, phase, stopped, events).await;
    let changed = run_loop::may_have_changed(&session.edits.making, &task);
    *session.plans.waiting.lock().await = Some((plan, task));
    ran.map(|_| outcome).map_err(|failure| resumable_plan(failure, changed))
}

/// Leaves a plan that another process has taken in its window, which shows that. Each further approval is refused too.
async fn gone_elsewhere(events: &EventStream, plans: &PlanService, plan: Plan, task: Task) {
    events.show(plan_event::plan_event(&plan, RUN_ELSEWHERE));
    *plans.waiting.lock().await = Some((plan, task));
}

/// Widens the scope by the steps outside of it, which the user has seen and approved.
///
/// # Errors
/// Nobody has read the plan: its approval is no consent to more than the request.
fn consent(approvals: &Approvals, plan: &Plan, work: &mut TaskWork) -> Result<(), Failure> {
    let outside = validate_edited_plan::outside(&work.scope, plan);
    if outside.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = outside.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    if !approvals.is_read() {
        let message = format!("the plan changes {names}, outside the scope of the request; nothing was run");
        let hint = Hint::from("read the plan and approve it, or name these in the request").and(HintCode::Plan);
        return Err(Failure::user(message, hint));
    }
    let why = format!("the approved plan names {names}");
    work.events.trace(1, Trace::new(Effect::Understood, "the scope", "named", why));
    work.scope = work.scope.with_places(&outside);
    Ok(())
}

/// Names the symbols that a change of the project has removed since the plan was made. The user sees them before
/// anything runs; the rules decide how the run handles them.
async fn say_what_is_missing(workspace: &Workspace, events: &EventStream, plan: &Plan) {
    for what in invalid_steps(workspace, plan).await {
        events.show(Event::Progress { text: format!("before the start: {what} is not there any more") });
    }
}

async fn run_plan(
    edits: &EditService,
    model: &dyn Model,
    plan: &mut Plan,
    task: &mut Task,
    steps: Steps,
    cancel: &CancellationToken,
) -> Result<PlanRun, Failure> {
    withdraw_question(&edits.hub.events, &task.work, &mut task.progress, "the plan goes on");
    loop {
        stop_leaning(&edits.hub.events, plan, &task.work.events);
        let late = step_result::take_late(edits, plan, &mut task.work);
        stop::soon(cancel, late).await;
        let mut batch = depends::next(plan);
        if steps == Steps::One {
            batch.truncate(1);
        }
        let Some(first) = batch.first().copied() else { return Ok(PlanRun::Ended) };
        let decisions = if plan.steps[first].kind.only_looks() {
            run_looks(edits, model, plan, &batch, task, cancel).await?
        } else {
            vec![(first, run_edit(edits, model, plan, first, task, cancel).await?)]
        };
        for (index, (decision, question)) in decisions {
            match decision {
                Decision::Continue | Decision::Repeat(_) | Decision::Fallback(_) => {}
                Decision::Replan(trigger) => {
                    if !replan::replan(edits, model, plan, task, &trigger, cancel).await? {
                        return Ok(PlanRun::Ended);
                    }
                    // The new plan already counts the steps that ran beside it.
                    break;
                }
                Decision::Ask(_) => {
                    task.progress.question = question;
                    task.work.events.did(TaskFact::Escalated);
                    say_what_leans(&edits.hub.events, plan, index);
                    return Ok(PlanRun::Ended);
                }
                Decision::Stop(why) => {
                    edits.hub.events.show(Event::Progress { text: why });
                    return Ok(PlanRun::Stopped);
                }
            }
        }
        if steps == Steps::One {
            return Ok(PlanRun::Ended);
        }
    }
}

/// Skips the steps that lean on one without result.
fn stop_leaning(events: &EventStream, plan: &mut Plan, task_events: &TaskEvents) {
    let stopped = depends::stop(plan);
    for index in &stopped {
        let step = &plan.steps[*index];
        let trace = Trace::new(Effect::SetAside, about(*index, step), "dependency", &step.result.outcome);
        task_events.trace_step(number(*index), trace);
    }
    if !stopped.is_empty() {
        events.show(plan_event::plan_event(plan, Phase::Executing.words()));
    }
}

/// Names the leaning steps, which stay open while the user is asked.
fn say_what_leans(events: &EventStream, plan: &Plan, index: usize) {
    let leaning = depends::leaning(plan, index + 1);
    if !leaning.is_empty() {
        let names: Vec<String> = leaning.iter().map(ToString::to_string).collect();
        let text = format!("steps that lean on step {}: {}", index + 1, names.join(", "));
        events.show(Event::Progress { text });
    }
}

/// Runs several steps that only look, at once. Each is judged when all have ended.
async fn run_looks(
    edits: &EditService,
    model: &dyn Model,
    plan: &mut Plan,
    batch: &[usize],
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Vec<(usize, (Decision, Option<Question>))>, Failure> {
    batch.iter().for_each(|index| plan.steps[*index].state = StepState::Running);
    durable::keep_step(&edits.store, plan, task, batch[0]).await;
    edits.hub.events.show(plan_event::plan_event(plan, Phase::Executing.words()));
    let mark = task.work.journal.checkpoints.len();
    let looked = stop::unless_stopped(
        &edits.making,
        cancel,
        read_only_steps::look_steps(edits, model, plan, batch, &mut task.work, cancel),
    )
    .await;
    let tried = match looked.and_then(|tried| tried) {
        Ok(tried) => tried,
        Err(failure) => {
            batch.iter().for_each(|index| plan.steps[*index].state = StepState::Open);
            return Err(failure);
        }
    };
    for (index, tried) in batch.iter().zip(&tried) {
        take(plan, *index, &mut task.progress, &mut task.work, tried);
        keep::remember_step(&edits.store, plan, *index, &task.work, &mut task.keep).await;
    }
    durable::keep_judged(&edits.store, plan, task).await;
    edits.hub.events.show(plan_event::plan_event(plan, Phase::Executing.words()));
    let mut decisions = Vec::new();
    for (index, tried) in batch.iter().zip(tried) {
        let decision = decide(
            edits,
            plan,
            *index,
            &task.work,
            &task.progress,
            tried,
            StepTries { attempts: 1, mark, fallback: true },
        )
        .await;
        decisions.push((*index, decision));
    }
    Ok(decisions)
}

/// Runs one step that edits: its tries, then its fallback, until the way is clear.
async fn run_edit(
    edits: &EditService,
    model: &dyn Model,
    plan: &mut Plan,
    index: usize,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<(Decision, Option<Question>), Failure> {
    let done = task.work.journal.checkpoints.len();
    let mark = plan.steps[index].result.begun.map_or(done, |begun| begun.min(done));
    let (mut attempts, mut fallback) = (1, false);
    // The outcome of an earlier run, or of its rollback, is not one of this run.
    plan.steps[index].result.outcome.clear();
    loop {
        plan.steps[index].state = StepState::Running;
        durable::keep_step(&edits.store, plan, task, index).await;
        edits.hub.events.show(plan_event::plan_event(plan, Phase::Executing.words()));
        task.work.intent.consent.withheld.clear();
        task.work.intent.consent.foreseen.clear();
        let (scope, request) = (task.work.scope.clone(), task.work.request.clone());
        let tried = Box::pin(run_step::try_step(edits, model, plan, index, task, fallback, cancel));
        let tried = stop::unless_stopped(&edits.making, cancel, tried).instrument(span::plan_step(index)).await;
        // A stop drops the try wherever it stands.
        (task.work.scope, task.work.request) = (scope, request);
        let tried = match tried.and_then(|tried| tried) {
            Ok(tried) => tried,
            Err(failure) if StepError::of(failure.kind).recovery().then == Then::Stop => {
                cut_off(&mut plan.steps[index], &failure, mark, task.work.journal.checkpoints.len());
                return Err(failure);
            }
            Err(failure) => {
                let facts = StepReport { missing: Some(failure.message.clone()), ..StepReport::default() };
                Tried::failed(StepError::of(failure.kind), failure.message, facts)
            }
        };
        take(plan, index, &mut task.progress, &mut task.work, &tried);
        keep::remember_step(&edits.store, plan, index, &task.work, &mut task.keep).await;
        durable::keep_judged(&edits.store, plan, task).await;
        let step = &plan.steps[index];
        if let Some(question) = task.work.intent.consent.question(index, &step.title, step.state, mark) {
            return Ok((Decision::Ask(Trigger::Consent), Some(question)));
        }
        edits.hub.events.show(plan_event::plan_event(plan, Phase::Executing.words()));
        let decided =
            decide(edits, plan, index, &task.work, &task.progress, tried, StepTries { attempts, mark, fallback }).await;
        match decided.0 {
            Decision::Repeat(_) => attempts += 1,
            Decision::Fallback(_) => {
                fallback = true;
                let text = format!("its fallback: {}", plan.steps[index].fallback);
                edits.hub.events.show(Event::Progress { text });
                let transcript = &mut task.conversation.transcript;
                step_rollback::clear_for_fallback(edits, &mut task.work, transcript, mark).await;
            }
            _ => return Ok(decided),
        }
    }
}

/// Marks a step that an outer cause ended before its own end. Its work stays where it was stopped, and belongs to the
/// step when it is resumed. `mark` are the checkpoints before it, `now` the present ones.
fn cut_off(step: &mut Step, failure: &Failure, mark: usize, now: usize) {
    if failure.kind == FailureKind::Cancelled {
        let begun = step.result.begun.unwrap_or(mark);
        step.result.begun = (now > begun).then_some(begun);
    }
    step.state = if goes_on(failure.kind) { StepState::Open } else { StepState::Failed };
    step.result.outcome = format!("not finished: {}", failure.message);
}

/// The tries of a step so far.
struct StepTries {
    attempts: u32,
    /// Checkpoints of the task before the step.
    mark: usize,
    /// True if its fallback was tried.
    fallback: bool,
}

async fn decide(
    edits: &EditService,
    plan: &Plan,
    index: usize,
    work: &TaskWork,
    progress: &TaskProgress,
    tried: Tried,
    tries: StepTries,
) -> (Decision, Option<Question>) {
    let mut facts = tried.facts;
    let cancel = edits.hub.cancelled();
    let invalid = stop::unless_stopped(&edits.making, &cancel, invalid_steps(&edits.workspace, plan)).await;
    facts.so_far = PlanSoFar {
        attempts: tries.attempts,
        errors: progress.plan_errors,
        replans: progress.replans,
        invalid: invalid.unwrap_or_default(),
    };
    let step = &plan.steps[index];
    facts.fallback = !tries.fallback && !step.fallback.is_empty();
    let decision = next_decision::decide(work.mode, &facts);
    work.events.trace_step(number(index), decision.trace(&about(index, step), &facts));
    let question = match &decision {
        Decision::Ask(trigger) => {
            Some(Question::new(index, step, trigger, tries.mark).with_objection(trigger, tried.objection))
        }
        _ => None,
    };
    (decision, question)
}

/// The missing symbols of open steps.
async fn invalid_steps(workspace: &Workspace, plan: &Plan) -> Vec<String> {
    let mut gone = Vec::new();
    for (index, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.state == StepState::Open) {
        let made_before = |path: &SymbolPath| {
            plan.steps[..index].iter().any(|step| {
                matches!(step.state, StepState::Open | StepState::Running)
                    && step.extent.creates.iter().any(|new| {
                        new.file == path.file && (new.names.is_empty() || path.names.starts_with(&new.names))
                    })
            })
        };
        let missing = alternatives::missing(workspace, step).await.filter(|missing| !made_before(missing));
        gone.extend(missing.map(|missing| missing.to_string()));
    }
    gone
}
