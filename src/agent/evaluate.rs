//! After a step: how far it left the plan, what that sets off, and what happens next. Pure rules.

use serde::{Deserialize, Serialize};

use crate::agent::mode::Mode;

/// Above this the work has left its plan (seed 003, `shouldReplan`).
const DEVIATION: f64 = 0.4;
/// Errors of a plan that set off a new one (seed 003).
const ERRORS: u32 = 3;
/// How often one step is tried.
const ATTEMPTS: u32 = 2;
/// How often one plan is made anew by itself; more would be going round in circles.
const REPLANS: u32 = 3;

/// What is known after a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Diagnostics that the step set out to repair, and how many of them are gone.
    pub expected: usize,
    pub met: usize,
    pub new_errors: usize,
    pub new_warnings: usize,
    /// Whether the step changed any text.
    pub changed: bool,
    /// Whether the step only had to look or to answer.
    pub answered: bool,
    /// Why the step itself did not come to its end: out of steps, errors in a row.
    pub broken: Option<String>,
    /// How often this step has been tried, this time included.
    pub attempts: u32,
    /// Errors of the plan so far.
    pub errors: u32,
    /// A symbol, file or tool that the step needs and that is not there.
    pub missing: Option<String>,
    /// Open steps whose symbols are gone.
    pub invalid: Vec<String>,
    /// Plans made anew so far.
    pub replans: u32,
}

/// What made the work leave the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Deviation(f64),
    Errors(u32),
    MissingResource(String),
    InvalidStep(String),
}

impl Trigger {
    pub fn words(&self) -> String {
        match self {
            Self::Deviation(score) => format!("the step left the plan (deviation {score:.2}, limit {DEVIATION})"),
            Self::Errors(count) => format!("{count} errors in this plan"),
            Self::MissingResource(what) => format!("{what} is not there"),
            Self::InvalidStep(what) => format!("a later step is not possible any more: {what} is gone"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Continue,
    Repeat(String),
    Replan(Trigger),
    /// Pause and ask the user; the mode stays what it is.
    Ask(Trigger),
    Stop(String),
}

/// How far a step left its plan: 0 not at all, 1 altogether.
///
/// Half of it is the share of the expectation that was not met, half is what it broke; a step that was
/// to change something and did not is off by three tenths.
pub fn deviation(facts: &Facts) -> f64 {
    let unmet = if facts.expected == 0 { 0.0 } else { 1.0 - facts.met as f64 / facts.expected as f64 };
    let broke = if facts.new_errors > 0 { 0.5 } else { 0.1 * facts.new_warnings.min(3) as f64 };
    let idle = if facts.changed || facts.answered { 0.0 } else { 0.3 };
    let broken = if facts.broken.is_some() { 0.3 } else { 0.0 };
    (0.5 * unmet + broke + idle + broken).min(1.0)
}

/// The first thing that makes the work leave the plan, worst first.
pub fn trigger(facts: &Facts) -> Option<Trigger> {
    if let Some(what) = &facts.missing {
        return Some(Trigger::MissingResource(what.clone()));
    }
    if facts.errors >= ERRORS {
        return Some(Trigger::Errors(facts.errors));
    }
    if let Some(what) = facts.invalid.first() {
        return Some(Trigger::InvalidStep(what.clone()));
    }
    let score = deviation(facts);
    (score > DEVIATION).then_some(Trigger::Deviation(score))
}

/// What happens next.
pub fn decide(mode: Mode, facts: &Facts) -> Decision {
    if let Some(why) = &facts.broken
        && !facts.changed
        && facts.attempts < ATTEMPTS
        && facts.missing.is_none()
    {
        return Decision::Repeat(why.clone());
    }
    match (mode, trigger(facts)) {
        (_, None) => Decision::Continue,
        (Mode::Supervised, Some(trigger)) => Decision::Ask(trigger),
        (_, Some(trigger)) if facts.replans >= REPLANS => Decision::Stop(format!(
            "the plan was made anew {} times and still fails: {}",
            facts.replans,
            trigger.words()
        )),
        (_, Some(trigger)) => Decision::Replan(trigger),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        Facts { expected: 2, met: 2, changed: true, attempts: 1, ..Facts::default() }
    }

    #[test]
    fn a_step_that_did_what_it_said_goes_on_in_every_mode() {
        for mode in [Mode::Simple, Mode::Planner, Mode::Supervised] {
            assert_eq!(decide(mode, &good()), Decision::Continue);
        }
        let half = Facts { met: 1, ..good() };
        assert_eq!(decide(Mode::Planner, &half), Decision::Continue, "deviation {}", deviation(&half));
    }

    #[test]
    fn each_trigger_makes_a_new_plan_or_a_question() {
        let cases = [
            (Facts { new_errors: 1, ..good() }, "deviation"),
            (Facts { errors: 3, ..good() }, "errors"),
            (Facts { missing: Some("a.py::f".into()), ..good() }, "missing_resource"),
            (Facts { invalid: vec!["a.py::g".into()], ..good() }, "invalid_step"),
        ];
        for (facts, name) in cases {
            let Decision::Replan(trigger) = decide(Mode::Planner, &facts) else { panic!("{name}") };
            assert!(serde_json::to_string(&trigger).unwrap().contains(name), "{trigger:?}");
            assert_eq!(decide(Mode::Supervised, &facts), Decision::Ask(trigger), "{name}: the mode stays");
        }
    }

    #[test]
    fn repeating_and_replanning_are_bounded() {
        let broken = Facts { broken: Some("prose".into()), met: 0, changed: false, ..good() };
        assert_eq!(decide(Mode::Planner, &broken), Decision::Repeat("prose".into()));
        let again = Facts { attempts: 2, ..broken };
        assert!(matches!(decide(Mode::Planner, &again), Decision::Replan(_)));
        assert!(matches!(decide(Mode::Planner, &Facts { replans: 3, ..again }), Decision::Stop(_)));
    }
}
