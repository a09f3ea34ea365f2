//! Refuses a plan that is larger than what is kept of a task: nobody could resume it.

use crate::durable::task_state::{LARGEST, RunState};
use crate::plan::{Plan, plan_limits};
use crate::state::task::Task;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;

/// The plan of a task, if it can be kept.
///
/// # Errors
/// It has more steps than a plan may have, or is larger than what is kept.
pub(crate) fn check(task: &Task, plan: Plan) -> Result<Plan, Failure> {
    let (steps, most) = (plan.steps.len(), plan_limits::STEPS);
    let message = if steps > most {
        format!("the plan has {}, and a plan has at most {most}", counted(steps, "step"))
    } else if RunState::of(task, Some(&plan)).ends.is_some() {
        format!("the plan and what it may edit take more than the {} KB that are kept of a task", LARGEST >> 10)
    } else {
        return Ok(plan);
    };
    Err(Failure::user(message, "ask for a part of it, and for the rest after that"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Step;
    use crate::plan::work_mode::Mode;
    use crate::state::task_scope::Scope;

    #[test]
    fn a_plan_that_could_not_be_resumed_is_refused_with_the_limit() {
        let task = Task::new("change f", Mode::Planner, None, Scope::Workspace);
        let plan = |steps: usize, title: &str| {
            let step = Step { title: title.to_owned(), ..Step::default() };
            Plan { title: "Plan".to_owned(), steps: vec![step; steps], ..Plan::default() }
        };
        assert!(check(&task, plan(50, "change f")).is_ok());
        let message = |plan: Plan| check(&task, plan).unwrap_err().message;
        assert_eq!(message(plan(201, "change f")), "the plan has 201 steps, and a plan has at most 200");
        assert!(message(plan(1, &"x".repeat(70_000))).contains("64 KB"), "{}", message(plan(1, &"x".repeat(70_000))));
    }
}
