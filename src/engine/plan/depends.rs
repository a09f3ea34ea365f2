//! Decides which step leans on which, which may run now, and which ones a failed step stops.

use std::collections::BTreeSet;

use crate::plan::{Plan, Step, StepState};

/// Most read-only steps that run at once.
const AT_ONCE: usize = 8;

/// Numbers (from 1) of the steps that must be done before a step.
pub(crate) fn needs(step: &Step) -> BTreeSet<usize> {
    step.after.iter().copied().chain(step.inputs.iter().filter_map(|input| input.value.step())).collect()
}

/// Numbers of the open steps that lean on this one, directly or through others.
pub(crate) fn leaning(plan: &Plan, number: usize) -> Vec<usize> {
    let mut reached = BTreeSet::from([number]);
    let mut found = Vec::new();
    for (own, step) in (1..).zip(&plan.steps) {
        if step.state == StepState::Open && needs(step).iter().any(|needed| reached.contains(needed)) {
            reached.insert(own);
            found.push(own);
        }
    }
    found
}

/// Skips every open step that leans on one that failed or was skipped, with the number of that one.
pub(crate) fn stop(plan: &mut Plan) -> Vec<usize> {
    let mut stopped = Vec::new();
    for index in 0..plan.steps.len() {
        if plan.steps[index].state != StepState::Open {
            continue;
        }
        let broken = needs(&plan.steps[index]).into_iter().find_map(|number| {
            let word = match plan.steps.get(number.checked_sub(1)?)?.state {
                StepState::Failed => "failed",
                StepState::Skipped => "was skipped",
                StepState::Open | StepState::Running | StepState::Done => return None,
            };
            Some(format!("step {number} {word}"))
        });
        if let Some(why) = broken {
            plan.steps[index].state = StepState::Skipped;
            plan.steps[index].result.outcome = why;
            stopped.push(index);
        }
    }
    stopped
}

/// Gives the steps that [`stop`] skipped because of this one another chance, since it runs again.
pub(crate) fn reopen(plan: &mut Plan, number: usize) {
    let mut back = BTreeSet::from([number]);
    for (own, step) in (1..).zip(plan.steps.iter_mut()) {
        let because = |needed: &usize| step.result.outcome.starts_with(&format!("step {needed} "));
        if step.state == StepState::Skipped && needs(step).iter().any(|needed| back.contains(needed) && because(needed))
        {
            step.state = StepState::Open;
            step.result.outcome.clear();
            back.insert(own);
        }
    }
}

/// Indices of the steps to run next: the first open step, with the read-only steps that follow it directly. None of
/// these may lean on another one of them. Empty when no step is open.
pub(crate) fn next(plan: &Plan) -> Vec<usize> {
    let Some(first) = plan.steps.iter().position(|step| step.state == StepState::Open) else { return Vec::new() };
    let mut batch = vec![first];
    if !plan.steps[first].kind.only_looks() {
        return batch;
    }
    for (index, step) in plan.steps.iter().enumerate().skip(first + 1) {
        let free = needs(step).iter().all(|number| {
            let needed = number.checked_sub(1).and_then(|index| plan.steps.get(index));
            needed.is_some_and(|needed| needed.state == StepState::Done)
        });
        if step.state != StepState::Open || !step.kind.only_looks() || !free || batch.len() == AT_ONCE {
            break;
        }
        batch.push(index);
    }
    batch
}

/// Drops the open steps and renumbers the references of the kept ones. Returns how many are kept.
pub(crate) fn keep_closed(plan: &mut Plan) -> usize {
    let mut numbers = vec![None; plan.steps.len()];
    let mut next = 0;
    for (index, step) in plan.steps.iter().enumerate() {
        if step.state != StepState::Open {
            next += 1;
            numbers[index] = Some(next);
        }
    }
    plan.steps.retain(|step| step.state != StepState::Open);
    let renumbered = |number: usize| number.checked_sub(1).and_then(|index| numbers.get(index).copied().flatten());
    for step in &mut plan.steps {
        step.after = step.after.iter().filter_map(|number| renumbered(*number)).collect();
        step.inputs.retain_mut(|input| match &mut input.value {
            crate::plan::inputs::Value::Step(number, _) => match renumbered(*number) {
                Some(new) => {
                    *number = new;
                    true
                }
                None => false,
            },
            _ => true,
        });
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{StepKind, inputs};

    fn plan(steps: &[(StepKind, StepState, &str, &[usize])]) -> Plan {
        let steps = steps.iter().map(|(kind, state, with, after)| Step {
            title: "x".into(),
            kind: *kind,
            state: *state,
            inputs: inputs::parse(with).unwrap(),
            after: after.to_vec(),
            ..Step::default()
        });
        Plan { title: "t".into(), steps: steps.collect(), ..Plan::default() }
    }

    fn states(plan: &Plan) -> Vec<StepState> {
        plan.steps.iter().map(|step| step.state).collect()
    }

    #[test]
    fn a_failed_step_stops_what_leans_on_it_and_nothing_else() {
        let mut plan = plan(&[
            (StepKind::Search, StepState::Failed, "", &[]),
            (StepKind::Edit, StepState::Open, "target = step1.symbol", &[]),
            (StepKind::Edit, StepState::Open, "", &[]),
            (StepKind::Edit, StepState::Open, "", &[2]),
        ]);
        assert_eq!(leaning(&plan, 1), [2, 4]);
        assert_eq!(stop(&mut plan), [1, 3]);
        assert_eq!(plan.steps[1].result.outcome, "step 1 failed");
        assert_eq!(plan.steps[3].result.outcome, "step 2 was skipped");
        assert_eq!(next(&plan), [2], "what is independent goes on");
        plan.steps[0].state = StepState::Open;
        reopen(&mut plan, 1);
        assert_eq!(states(&plan), [StepState::Open; 4]);
    }

    #[test]
    fn looks_that_lean_on_none_of_each_other_run_at_once() {
        fn look(with: &'static str, after: &'static [usize]) -> (StepKind, StepState, &'static str, &'static [usize]) {
            (StepKind::Examine, StepState::Open, with, after)
        }
        let plan = plan(&[
            (StepKind::Edit, StepState::Done, "", &[]),
            look("", &[1]),
            (StepKind::Search, StepState::Open, "", &[]),
            look("a = step1.output", &[]),
            look("a = step2.output", &[]),
            look("", &[]),
        ]);
        assert_eq!(next(&plan), [1, 2, 3], "the fifth leans on the second");
        let mut plan = plan;
        plan.steps[1].state = StepState::Done;
        assert_eq!(next(&plan), [2, 3, 4, 5]);
        plan.steps[2].kind = StepKind::Edit;
        assert_eq!(next(&plan), [2]);
        plan.steps.clear();
        assert_eq!(next(&plan), Vec::<usize>::new());
    }

    #[test]
    fn kept_steps_keep_their_references_under_new_numbers() {
        let mut plan = plan(&[
            (StepKind::Edit, StepState::Open, "", &[]),
            (StepKind::Search, StepState::Done, "", &[]),
            (StepKind::Edit, StepState::Done, "target = step2.symbol", &[2]),
        ]);
        assert_eq!(keep_closed(&mut plan), 2);
        assert_eq!(plan.steps[1].inputs[0].to_string(), "target = step1.symbol");
        assert_eq!(plan.steps[1].after, [1]);
    }
}
