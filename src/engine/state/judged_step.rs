//! The last judged step of a plan, with the state for another judgement: answers that come late renew its outcome.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::{Plan, Step};
use crate::state::snapshots::Snapshots;

/// A step that was done, as it was judged.
#[derive(Clone, Debug)]
pub(crate) struct JudgedStep {
    pub(crate) title: String,
    /// Its outcome in the plan.
    pub(crate) outcome: String,
    /// The words about its checks, behind those about its diagnostics.
    pub(crate) checks: String,
    /// The reports before it.
    pub(crate) before: Snapshots,
    /// Checkpoints of the task before it, and behind it.
    pub(crate) mark: usize,
    pub(crate) end: usize,
    /// The texts of its files and of all other loaded files when it was judged.
    pub(crate) texts: BTreeMap<String, Arc<str>>,
    /// The last judgement, where it differs from the outcome in the plan.
    pub(crate) renewed: Option<RenewedOutcome>,
}

/// The outcome of a step by all answers so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RenewedOutcome {
    pub(crate) words: String,
    pub(crate) fixed: usize,
    pub(crate) new: usize,
    /// Those of the new ones that are errors.
    pub(crate) errors: usize,
}

impl JudgedStep {
    /// Enters the last judgement into the plan, and returns the index of the changed step. A step that was
    /// taken back or run again since has another outcome, and stays.
    pub(crate) fn enter(&mut self, plan: &mut Plan) -> Option<usize> {
        let renewed = self.renewed.take().filter(|renewed| renewed.words != self.outcome)?;
        let is_it = |step: &Step| step.title == self.title && step.result.outcome == self.outcome;
        let index = plan.steps.iter().position(is_it)?;
        let result = &mut plan.steps[index].result;
        if let Some(output) = &mut result.output {
            (output.fixed, output.new) = (renewed.fixed, renewed.new);
            if let Some(rest) = output.text.strip_suffix(&self.outcome) {
                output.text = format!("{rest}{}", renewed.words);
            }
        }
        result.outcome.clone_from(&renewed.words);
        result.late_errors = renewed.errors;
        self.outcome = renewed.words;
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::StepState;
    use crate::plan::output::StepOutput;

    fn judged(words: &str) -> JudgedStep {
        JudgedStep {
            title: "one".into(),
            outcome: "0 fixed, 0 new".into(),
            checks: String::new(),
            before: Snapshots::new(),
            mark: 0,
            end: 1,
            texts: BTreeMap::new(),
            renewed: Some(RenewedOutcome { words: words.into(), fixed: 0, new: 1, errors: 1 }),
        }
    }

    fn plan(outcome: &str) -> Plan {
        let step = |title: &str, outcome: &str| {
            let mut step = Step { title: title.into(), state: StepState::Done, ..Step::default() };
            step.result.outcome = outcome.into();
            step.result.output = Some(StepOutput::new(&format!("said\n{outcome}"), Vec::new()));
            step
        };
        Plan { steps: vec![step("other", "0 fixed, 0 new"), step("one", outcome)], ..Plan::default() }
    }

    #[test]
    fn a_renewed_outcome_is_entered_once_and_with_its_output() {
        let (mut judged, mut plan) = (judged("0 fixed, 1 new"), plan("0 fixed, 0 new"));
        assert_eq!(judged.enter(&mut plan), Some(1));
        let result = &plan.steps[1].result;
        let output = result.output.as_ref().unwrap();
        assert_eq!((result.outcome.as_str(), output.text.as_str()), ("0 fixed, 1 new", "said\n0 fixed, 1 new"));
        assert_eq!((output.fixed, output.new, result.late_errors), (0, 1, 1));
        assert_eq!(plan.steps[0].result.outcome, "0 fixed, 0 new");
        assert_eq!(judged.enter(&mut plan), None);
    }

    #[test]
    fn a_step_that_was_taken_back_or_runs_again_keeps_its_outcome() {
        for outcome in ["taken back", ""] {
            let (mut judged, mut plan) = (judged("0 fixed, 1 new"), plan(outcome));
            let before = plan.clone();
            assert_eq!((judged.enter(&mut plan), &plan), (None, &before));
        }
        assert_eq!(judged("0 fixed, 0 new").enter(&mut plan("0 fixed, 0 new")), None);
    }
}
