//! Turns a plan into the event that shows it.

use crate::editor::event::Event;
use crate::plan::{Plan, StepState, document};

pub(crate) fn plan_event(plan: &Plan, phase: &str) -> Event {
    let of = |state: StepState| plan.steps.iter().filter(|step| step.state == state).count();
    Event::Plan {
        markdown: document::write(plan),
        phase: phase.to_owned(),
        steps: plan.steps.len(),
        done: of(StepState::Done),
        failed: of(StepState::Failed),
        amend: false,
        running: plan.steps.iter().position(|step| step.state == StepState::Running).map(|index| index + 1),
    }
}

/// The same for a plan in which a late answer has changed an outcome.
pub(crate) fn amended(plan: &Plan, phase: &str) -> Event {
    let mut event = plan_event(plan, phase);
    if let Event::Plan { amend, .. } = &mut event {
        *amend = true;
    }
    event
}
