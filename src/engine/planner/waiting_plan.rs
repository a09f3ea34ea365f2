//! Shows the plan that waits, of this process or of one before it, without taking it up.

use std::sync::atomic::Ordering;

use crate::durable::resumable;
use crate::edit::recover;
use crate::editor::event::Event;
use crate::plan::StepState;
use crate::plan::plan_event::plan_event;
use crate::plan::user_question::Question;
use crate::plan::work_mode::Phase;
use crate::state::edit_service::EditService;
use crate::state::plan_service::PlanService;
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;

/// True if a kept plan can be resumed.
pub(crate) async fn is_kept(store: &TaskStore) -> bool {
    resumable::waiting(store).await.is_ok_and(|waiting| waiting.is_some_and(|waiting| waiting.run.plan.is_some()))
}

/// The events that show the waiting plan: the document, its open question, and how to go on.
///
/// # Errors
/// There is no waiting plan.
pub(crate) async fn show(edits: &EditService, plans: &PlanService) -> Result<Vec<Event>, Failure> {
    recover::recover_quietly(edits).await;
    let none = || Failure::user("no plan waits here", HintCode::Plan);
    if let Some((plan, task)) = plans.waiting.lock().await.as_ref() {
        let over = plan.steps.iter().all(|step| step.state != StepState::Open);
        let question = task.progress.question.as_ref().map(Question::event);
        let phase = match (over, &question) {
            (true, _) => Phase::Completed,
            (false, Some(_)) => Phase::Paused,
            (false, None) => plan.resting_phase(),
        };
        let mut events = vec![plan_event(plan, phase.words())];
        events.extend(question);
        return Ok(events);
    }
    let waiting = resumable::waiting(&edits.store).await.map_err(|_| none())?.ok_or_else(none)?;
    let Some(plan) = waiting.run.plan else { return Err(none()) };
    plans.no_plan.store(false, Ordering::Relaxed);
    let phase = if waiting.phase == Phase::Planning { Phase::Planning } else { Phase::Paused };
    let done = plan.steps.iter().filter(|step| step.state == StepState::Done).count();
    edits.store.note_offered(&waiting.run.id);
    let waits = Event::Waiting { request: waiting.run.request, done, of: plan.steps.len() };
    Ok(vec![plan_event(&plan, phase.words()), waits])
}
