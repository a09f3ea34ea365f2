//! Ends the run of a plan: whether it can be resumed, and which steps failed and why.

use crate::diagnostics::{reported, workspace_look};
use crate::durable;
use crate::editor::event::Event;
use crate::memory::keep;
use crate::plan::user_question::Question;
use crate::plan::work_mode::Phase;
use crate::plan::{Plan, StepState, plan_event};
use crate::planner::step_judgement::ASKS;
use crate::planner::step_result;
use crate::run::finish;
use crate::run::unfit_ending::CameTo;
use crate::state::edit_service::EditService;
use crate::state::outcome::{Ending, FailedStep, Outcome};
use crate::state::session::Session;
use crate::state::stop;
use crate::state::task::{Task, TaskWork};
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::HintCode;
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_model::step::Model;

/// Most failed steps that a summary lists; the document has them all.
const LISTED: usize = 3;

/// True if the outer cause that ended a run may pass, so that the run can go on later.
pub(crate) fn goes_on(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Cancelled | FailureKind::Limit | FailureKind::Model | FailureKind::Editor)
}

/// The failure with a hint how to go on, where that is possible.
pub(crate) fn resumable(mut failure: Failure) -> Failure {
    if matches!(failure.kind, FailureKind::Limit | FailureKind::Model | FailureKind::Editor) {
        failure.hint = failure.hint.and(HintCode::Resume);
    }
    failure
}

/// The same for the run of a plan. A stopped plan waits: it is gone on with, not asked for again.
pub(crate) fn resumable_plan(failure: Failure, changed: bool) -> Failure {
    let failure = if changed { failure } else { failure.without_change() };
    match failure.kind {
        FailureKind::Cancelled if changed => Failure { hint: failure.hint.and(HintCode::Resume), ..failure },
        FailureKind::Cancelled => Failure { hint: HintCode::Resume.into(), ..failure },
        _ => resumable(failure),
    }
}

/// The failed steps of a plan with their reasons; those before the last new plan are replaced by it.
pub(crate) fn failed_steps(plan: &Plan, replaced: usize) -> Vec<FailedStep> {
    let steps = plan.steps.iter().enumerate().filter(|(_, step)| step.state == StepState::Failed);
    steps
        .map(|(index, step)| FailedStep {
            step: index + 1,
            title: step.title.clone(),
            reason: headline(&step.result.outcome),
            replaced: index < replaced,
        })
        .collect()
}

/// A summary of a plan's progress, with the reason why it went no further.
pub(crate) fn words(done: usize, all: usize, replans: u32, failed: &[FailedStep]) -> String {
    let times = counted(replans as usize, "time");
    let steps = counted(all, "step");
    let mut out = format!("{done} of {steps} done");
    if replans > 0 {
        out.push_str(&format!(", replanned {times}"));
    }
    for FailedStep { step, title, reason, .. } in failed.iter().filter(|step| !step.replaced).take(LISTED) {
        // A question is no failure, though the step is to be done again.
        let failed = if reason.starts_with(ASKS) { "" } else { "failed: " };
        out.push_str(&format!(". Step {step} (“{title}”) {failed}{reason}"));
    }
    out
}

/// Ends or pauses a run: the document, the open question, the outcome. `stopped` means that a step could not be done
/// and nothing else is tried.
pub(crate) async fn end_run(
    edits: &EditService,
    model: &dyn Model,
    plan: &mut Plan,
    task: &mut Task,
    phase: Phase,
    stopped: bool,
    events: &mut Vec<Event>,
) -> Outcome {
    let done = plan.steps.iter().filter(|step| step.state == StepState::Done).count();
    let failed = failed_steps(plan, task.progress.course.replaced);
    let word = words(done, plan.steps.len(), task.progress.replans, &failed);
    let word = match phase {
        Phase::Completed => format!("{word}{}", says_what_is_left(edits, &mut task.work).await),
        Phase::Planning => format!("the plan waits for approval, {word}"),
        Phase::Executing | Phase::Paused | Phase::Error => word,
    };
    let fails = stopped || failed.iter().any(|step| !step.replaced) || task.progress.question.is_some();
    let came_to = match phase {
        _ if fails => CameTo::Short,
        Phase::Completed => CameTo::End,
        Phase::Planning | Phase::Executing | Phase::Paused | Phase::Error => CameTo::Waits,
    };
    let mut outcome = finish::finish(edits, &mut task.work, &task.counts, &word, came_to).await;
    // The last look may have known more than the judgement of the last step.
    let cancel = edits.hub.cancelled();
    let is_renewed = stop::soon(&cancel, step_result::take_late(edits, plan, &mut task.work)).await;
    if is_renewed == Some(true) {
        task.keep.revision = durable::keep_renewed(&edits.store, plan, task).await;
    }
    events.push(plan_event::plan_event(plan, phase.words()));
    events.extend(task.progress.question.as_ref().map(Question::event));
    if phase == Phase::Completed || phase == Phase::Error {
        workspace_look::leave_all(&edits.hub).await;
    }
    outcome.failed_steps = failed;
    let Task { work, progress, keep, .. } = task;
    let run = keep::plan_run(plan, progress, phase, &outcome);
    keep::conclude(&edits.store, model, work, progress, keep, run).await;
    outcome
}

/// The words about the fixes that are left. A plan of offered fixes is done where there are none; otherwise they give
/// the number.
pub(crate) async fn says_what_is_left(edits: &EditService, work: &mut TaskWork) -> String {
    if !edits.hub.needs_providers {
        return String::new();
    }
    let cancel = edits.hub.cancelled();
    let Ok(left) =
        stop::unless_stopped(&edits.making, &cancel, reported::fixes_left(&edits.hub, &edits.store, work)).await
    else {
        return String::new();
    };
    let count = counted(left.open, "more fix");
    let mut out = match (left.open, left.more) {
        (0, false) => String::new(),
        (0, true) => ". Not everything that is still reported could be asked about: plan again".to_owned(),
        (_, false) => format!(". {count} on offer: plan again to go on"),
        (_, true) => format!(". At least {count} on offer: plan again to go on"),
    };
    if !left.unanswered.is_empty() {
        let names: Vec<String> = left.unanswered.iter().cloned().collect();
        out.push_str(&format!(". Not answered: which fixes {} still offers", names.join(" and ")));
    }
    if left.tried > 0 {
        let kept = counted(left.tried, "diagnostic");
        out.push_str(&format!(". For {kept} a fix is offered that did not help here"));
    }
    out
}

/// Ends a run where it stands, without another step.
pub(crate) async fn pause(session: &Session) -> Ending<Outcome> {
    let mut events = Vec::new();
    let result = end_waiting(session, Phase::Paused, &mut events).await;
    Ending::of_task(result, events)
}

/// Shows the plan of the session as it stands, with its results so far.
pub(crate) async fn end_waiting(session: &Session, phase: Phase, events: &mut Vec<Event>) -> Result<Outcome, Failure> {
    let mut waiting = session.plans.waiting.lock().await;
    let Some((plan, task)) = waiting.as_mut() else {
        return Err(Failure::user("there is no plan", HintCode::Plan));
    };
    durable::keep_task(&session.store, task, Some(plan), phase).await;
    Ok(end_run(&session.edits, session.model.as_ref(), plan, task, phase, false, events).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_plan_names_how_to_go_on() {
        let still = resumable_plan(Failure::cancelled(), false);
        assert_eq!(
            (still.message.as_str(), still.hint.codes()),
            ("stopped, nothing was changed", &[HintCode::Resume][..])
        );
        assert_eq!(still.hint.text(), "");
        let kept = resumable_plan(Failure::cancelled(), true);
        assert_eq!(kept.hint.codes(), [HintCode::Undo, HintCode::Resume]);
        let refused = resumable_plan(Failure::user("no such file", "name another one"), false);
        assert!(refused.hint.codes().is_empty());
    }

    #[test]
    fn a_step_that_asks_did_not_fail() {
        let step =
            |reason: &str| FailedStep { step: 2, title: "Compare".into(), reason: reason.into(), replaced: false };
        let said = words(1, 3, 0, &[step("asks: Which one?")]);
        assert_eq!(said, "1 of 3 steps done. Step 2 (“Compare”) asks: Which one?");
        let said = words(1, 3, 0, &[step("ran out of steps")]);
        assert_eq!(said, "1 of 3 steps done. Step 2 (“Compare”) failed: ran out of steps");
    }
}
