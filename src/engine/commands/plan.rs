//! Turns a request into a plan that waits for its approval.

use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::diagnostics::workspace_look;
use crate::durable::{self, open_store, plan_size, stored_traces};
use crate::edit::recover;
use crate::editor::event::Event;
use crate::memory::keep;
use crate::plan::user_question::Question;
use crate::plan::work_mode::{Mode, Phase};
use crate::plan::{Plan, plan_event};
use crate::planner::make::{self, PlanRequest};
use crate::planner::{replan, waiting_list};
use crate::run::{requested, start};
use crate::state::outcome::Ending;
use crate::state::plan_service::PlanService;
use crate::state::request::Request;
use crate::state::session::Session;
use crate::state::stop;
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;

/// Makes a plan, or changes the one that waits (`change: …`). It waits for approval; no file is changed.
pub(crate) async fn plan(session: &Session, request: &Request, cancel: &CancellationToken) -> Ending<Plan> {
    let result = make_or_change(session, request, cancel).await;
    ended(&session.store, &session.plans, result).await
}

/// Changes the plan that waits, by the user's words.
pub(crate) async fn change(session: &Session, words: &str, cancel: &CancellationToken) -> Ending<Plan> {
    let request = Request { text: words.to_owned(), ..Request::default() };
    let result = match requested::refuse_long(&request) {
        Ok(()) => replan::change_plan(session, words, cancel).await,
        Err(failure) => Err(failure),
    };
    ended(&session.store, &session.plans, result).await
}

/// The end of a plan that was made or changed. The question of one that was not changed is asked again: a request that
/// begins closes it at every door.
async fn ended(store: &TaskStore, plans: &PlanService, result: Result<Plan, Failure>) -> Ending<Plan> {
    stored_traces::keep(store).await;
    let events = match &result {
        Ok(plan) => vec![plan_event::plan_event(plan, Phase::Planning.words())],
        Err(failure) => {
            let waiting = plans.waiting.lock().await;
            let question = waiting.as_ref().and_then(|(_, task)| task.progress.question.as_ref());
            let failed = Event::Failed { failure: failure.clone() };
            std::iter::once(failed).chain(question.map(Question::event)).collect()
        }
    };
    Ending { result, events }
}

async fn make_or_change(session: &Session, request: &Request, cancel: &CancellationToken) -> Result<Plan, Failure> {
    requested::refuse_long(request)?;
    if let Some(words) = replan::change_of(&session.plans, request).await {
        return replan::change_plan(session, &words, cancel).await;
    }
    session.events.leave_task();
    let made = make_plan(session, request, cancel).await.map_err(Failure::without_change);
    // The earlier plan does not belong to the last request: the user must not approve it by mistake.
    let none = !made.as_ref().is_ok_and(|plan| !plan.steps.is_empty());
    session.plans.no_plan.store(none, Ordering::Relaxed);
    if none {
        session.plans.lay_aside().await;
        workspace_look::leave_all(&session.hub).await;
    }
    made
}

pub(crate) async fn make_plan(
    session: &Session,
    request: &Request,
    cancel: &CancellationToken,
) -> Result<Plan, Failure> {
    stop::unless_stopped(&session.edits.making, cancel, open_store::durable(&session.store)).await?;
    recover::recover(&session.edits).await;
    let scope =
        stop::unless_stopped(&session.edits.making, cancel, requested::scope(&session.workspace, request)).await??;
    let earlier = request.earlier.as_ref().and_then(|earlier| earlier.mode);
    let mode = earlier.map_or_else(|| session.plans.mode(), Mode::from);
    let mut task = stop::unless_stopped(
        &session.edits.making,
        cancel,
        start::begin(&session.edits, session.model.as_ref(), request, mode, scope, cancel),
    )
    .await??;
    let (edits, model) = (&session.edits, session.model.as_ref());
    let wanted = PlanRequest { is_shown: true, ..PlanRequest::default() };
    let made = make::propose(edits, model, &mut task, wanted, cancel).await;
    let plan = match made.and_then(|plan| plan_size::check(&task, plan)) {
        Ok(plan) => plan,
        Err(failure) => {
            let (work, progress) = (&task.work, &task.progress);
            keep::remember_no_plan(&session.store, model, work, progress, &mut task.keep, &failure).await;
            return Err(failure);
        }
    };
    start::tell_risk(&session.hub, &mut task.work, Some(plan.steps.len())).await;
    keep::remember_plan(&session.store, &session.plans, &plan, &task.work, &mut task.keep).await;
    // A plan without steps cannot be approved, changed or resumed.
    if !plan.steps.is_empty() {
        durable::keep_plan(&session.store, &plan, &mut task).await;
        session.plans.put(plan.clone(), task).await;
        waiting_list::say_others(&session.edits, &session.plans).await;
    }
    Ok(plan)
}
