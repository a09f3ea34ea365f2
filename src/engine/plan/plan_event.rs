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
        running: plan.steps.iter().position(|step| step.state == StepState::Running).map(|index| index + 1),
    }
}
