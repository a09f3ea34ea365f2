//! Gives a step's question the facts of its plan, by mode, and handles a model that objects to the plan.

use crate::plan::plan_progress::{Objection, PlanProgress};
use crate::plan::work_mode::Mode;
use crate::plan::{Plan, StepState, depends, document, next_decision};
use crate::state::outcome::Ended;
use crate::state::task::Task;
use sextant_model::plan_contract::{Contract, Deviation, PlanFacts, StepDecision, SupervisedFacts};
use sextant_model::step::StepReply;

/// The facts of a plan for the step at this index.
pub(crate) fn contract(plan: &Plan, index: usize, task: &Task) -> Contract {
    let facts = plan_facts(plan, index);
    match task.work.mode {
        Mode::Simple => Contract::Simple,
        Mode::Planner => Contract::Planner(facts),
        Mode::Supervised => Contract::Supervised(SupervisedFacts {
            plan: facts,
            adherence: adherence(plan),
            escalations: task.progress.course.escalations.clone(),
        }),
    }
}

fn plan_facts(plan: &Plan, index: usize) -> PlanFacts {
    let done = plan.steps.iter().filter(|step| step.state == StepState::Done).count();
    let left = |step: &crate::plan::Step| match step.state {
        StepState::Failed | StepState::Skipped => true,
        StepState::Done => step.result.output.as_ref().is_some_and(|output| output.deviation > 0),
        StepState::Open | StepState::Running => false,
    };
    let last = plan.steps[..index.min(plan.steps.len())].iter().rposition(left);
    let deviation = last.map(|last| Deviation {
        expected: plan.steps[last].expect.clone(),
        actual: format!("step {}: {}", last + 1, plan.steps[last].result.outcome),
        impacted: depends::leaning(plan, last + 1),
    });
    PlanFacts {
        plan: document::numbered(plan),
        step: index + 1,
        progress: if plan.steps.is_empty() { 0.0 } else { done as f64 / plan.steps.len() as f64 },
        deviation,
    }
}

/// 1 less the mean deviation of the steps that have run; 1 before the first.
pub(crate) fn adherence(plan: &Plan) -> f64 {
    let kept: Vec<f64> = plan
        .steps
        .iter()
        .filter_map(|step| match step.state {
            StepState::Done => {
                Some(1.0 - f64::from(step.result.output.as_ref().map_or(0, |output| output.deviation)) / 100.0)
            }
            StepState::Failed => Some(0.0),
            StepState::Open | StepState::Running | StepState::Skipped => None,
        })
        .collect();
    if kept.is_empty() { 1.0 } else { kept.iter().sum::<f64>() / kept.len() as f64 }
}

/// The end of a step that the model does not want to continue. `None` where it goes on.
///
/// Only the wishes of the mode's contract count: a model in simple mode has no plan to object to.
pub(crate) fn ends(course: &mut PlanProgress, reply: &StepReply, changed: bool) -> Option<Ended> {
    let wish = &reply.wish;
    let reason = |given: &str| if given.is_empty() { reply.reasoning.clone() } else { given.to_owned() };
    match course.contract {
        Contract::Simple => None,
        Contract::Planner(_) => {
            let reason = wish.replan.clone()?;
            Some(Ended::Objected(Objection { reason, ..Objection::default() }))
        }
        Contract::Supervised(_) => {
            if let Some(adherence) = wish.adherence {
                course.adherence = Some(course.adherence.map_or(adherence, |least| least.min(adherence)));
            }
            match wish.decision? {
                StepDecision::Continue => None,
                StepDecision::Complete => Some(Ended::Done { changed, answer: reply.answer.clone() }),
                StepDecision::Pause => {
                    let reason = format!("it wants to pause: {}", reason(""));
                    Some(Ended::Objected(Objection { reason, ..Objection::default() }))
                }
                StepDecision::Escalate => {
                    let asked = wish.escalation.clone().unwrap_or_default();
                    Some(Ended::Objected(Objection {
                        reason: reason(&asked.reason),
                        question: asked.question,
                        options: asked.options,
                    }))
                }
            }
        }
    }
}

/// Hundredths, for an output.
pub(crate) fn hundredths(facts: &next_decision::StepReport) -> u8 {
    (next_decision::deviation(facts) * 100.0).round().clamp(0.0, 100.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::output::StepOutput;
    use crate::plan::{Step, StepResult};
    use crate::state::task_scope::Scope;
    use sextant_model::plan_contract::{Escalation, PlanFeedback};

    fn plan() -> Plan {
        let step = |state, deviation, after: &[usize]| Step {
            title: "x".into(),
            expect: "no error".into(),
            result: StepResult {
                outcome: "2 new errors".into(),
                output: (state == StepState::Done).then(|| StepOutput { deviation, ..StepOutput::default() }),
                ..StepResult::default()
            },
            state,
            after: after.to_vec(),
            ..Step::default()
        };
        let steps = vec![
            step(StepState::Done, 0, &[]),
            step(StepState::Failed, 0, &[]),
            step(StepState::Running, 0, &[]),
            step(StepState::Open, 0, &[2]),
        ];
        Plan { title: "t".into(), steps, ..Plan::default() }
    }

    fn task(mode: Mode) -> Task {
        let mut task = Task::new("x", mode, None, Scope::Workspace);
        task.progress.course.contract = contract(&plan(), 2, &task);
        task
    }

    #[test]
    fn each_mode_gets_the_state_of_its_plan() {
        assert_eq!(contract(&plan(), 2, &task(Mode::Simple)), Contract::Simple);
        let Contract::Planner(facts) = contract(&plan(), 2, &task(Mode::Planner)) else { panic!("planner") };
        assert_eq!((facts.step, facts.progress, facts.plan.len()), (3, 0.25, 4));
        let deviation = facts.deviation.unwrap();
        assert_eq!((deviation.actual.as_str(), deviation.impacted.as_slice()), ("step 2: 2 new errors", &[4][..]));
        let Contract::Supervised(facts) = contract(&plan(), 2, &task(Mode::Supervised)) else { panic!("supervised") };
        assert_eq!(facts.adherence, 0.5);
        assert_eq!(plan_facts(&plan(), 1).deviation, None, "step 1 kept to the plan");
    }

    #[test]
    fn a_model_ends_its_step_only_as_its_contract_allows() {
        let wish = PlanFeedback {
            replan: Some("wrong".into()),
            decision: Some(StepDecision::Escalate),
            adherence: Some(0.4),
            escalation: Some(Escalation { reason: "two ways".into(), question: "Which?".into(), options: vec![] }),
        };
        let reply = StepReply { reasoning: "hm".into(), wish, ..StepReply::default() };
        assert_eq!(ends(&mut task(Mode::Simple).progress.course, &reply, false), None);
        let Some(Ended::Objected(planner)) = ends(&mut task(Mode::Planner).progress.course, &reply, false) else {
            panic!("planner")
        };
        assert_eq!((planner.reason.as_str(), planner.question.as_str()), ("wrong", ""));
        let mut supervised = task(Mode::Supervised);
        let Some(Ended::Objected(asked)) = ends(&mut supervised.progress.course, &reply, false) else {
            panic!("supervised")
        };
        assert_eq!((asked.reason.as_str(), asked.question.as_str()), ("two ways", "Which?"));
        assert_eq!(supervised.progress.course.adherence, Some(0.4));
        let with = |decision| StepReply { wish: PlanFeedback { decision, ..PlanFeedback::default() }, ..reply.clone() };
        assert_eq!(ends(&mut supervised.progress.course, &with(Some(StepDecision::Continue)), false), None);
        assert_eq!(ends(&mut supervised.progress.course, &with(None), false), None);
        assert!(matches!(
            ends(&mut supervised.progress.course, &with(Some(StepDecision::Complete)), true),
            Some(Ended::Done { changed: true, .. })
        ));
        let Some(Ended::Objected(pause)) =
            ends(&mut supervised.progress.course, &with(Some(StepDecision::Pause)), false)
        else {
            panic!("pause")
        };
        assert_eq!(pause.reason, "it wants to pause: hm");
    }
}
