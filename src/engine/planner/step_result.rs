//! Enters the outcome of a step into its plan and the trace, and the one that an answer renews later.

use crate::diagnostics::{collect_diagnostics, step_verdict};
use crate::durable;
use crate::plan::{Plan, Step, StepState, plan_event};
use crate::planner::run_step::Tried;
use crate::state::edit_service::EditService;
use crate::state::plan_service::PlanService;
use crate::state::task::{Task, TaskProgress, TaskWork};
use sextant_diagnostics::policy::{Effect, Trace};

/// Enters the outcome of a try. The step before it has its last outcome, from before the first edit of this one.
pub(crate) fn take(plan: &mut Plan, index: usize, progress: &mut TaskProgress, work: &mut TaskWork, tried: &Tried) {
    enter_renewed(plan, work);
    let step = &mut plan.steps[index];
    (step.state, step.result.outcome) = (tried.state, tried.outcome.clone());
    (step.result.parts, step.result.output) = (tried.parts.clone(), tried.output.clone());
    (step.result.begun, step.result.late_errors) = (None, 0);
    if tried.judged.is_some() {
        work.reports.late.judged.clone_from(&tried.judged);
    }
    if tried.state == StepState::Failed {
        progress.plan_errors += 1;
        let failed = format!("failed: {}", step.result.outcome);
        work.events.trace(number(index), Trace::new(Effect::Acted, about(index, step), "outcome", failed));
    }
    for part in &step.result.parts {
        let ok = if part.state == StepState::Done { "done" } else { "failed" };
        let trace = Trace::new(Effect::Acted, format!("step {}: {}", index + 1, part.title), step.kind.name(), ok);
        work.events.trace_step(number(index), trace);
    }
}

/// Enters the outcome of the last judged step, where answers have renewed it since. Returns whether they have.
fn enter_renewed(plan: &mut Plan, work: &mut TaskWork) -> bool {
    let Some(index) = work.reports.late.judged.as_mut().and_then(|judged| judged.enter(plan)) else { return false };
    let step = &plan.steps[index];
    let trace = Trace::new(Effect::Acted, about(index, step), "late answer", &step.result.outcome);
    work.events.trace_step(number(index), trace);
    true
}

/// Takes the answers that have come since the last step, and renews its outcome by them. Returns whether it has
/// changed.
pub(crate) async fn take_late(edits: &EditService, plan: &mut Plan, work: &mut TaskWork) -> bool {
    if work.reports.late.judged.is_none() {
        return false;
    }
    collect_diagnostics::take_late(&edits.hub, work).await;
    step_verdict::renew_last(edits, work).await;
    enter_renewed(plan, work)
}

/// Renews the outcome of the last step after an answer that came when its run was over, and shows the plan again.
pub(crate) async fn amend(edits: &EditService, plans: &PlanService) {
    let judged = |task: &Task| Some((task.work.reports.late.judged.clone()?, task.work.journal.clone()));
    let found = plans.waiting.lock().await.as_ref().and_then(|(_, task)| judged(task));
    let Some((mut judged, journal)) = found else { return };
    // The plan stays where it is meanwhile, for a request that begins.
    step_verdict::renew(edits, &mut judged, &journal).await;
    let mut waiting = plans.waiting.lock().await;
    let Some((plan, task)) = waiting.as_mut().filter(|(_, task)| task.work.journal == journal) else { return };
    task.work.reports.late.judged = Some(judged);
    if !enter_renewed(plan, &mut task.work) {
        return;
    }
    task.keep.revision = durable::keep_renewed(&edits.store, plan, task).await;
    edits.hub.events.show(plan_event::amended(plan, task.keep.phase.words()));
}

pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

pub(super) fn about(index: usize, step: &Step) -> String {
    format!("step {} “{}”", index + 1, step.title)
}
