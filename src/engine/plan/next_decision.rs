//! Evaluates a step after its run: how far it left the plan, the trigger, and the next decision. Pure rules.

use serde::{Deserialize, Serialize};

use crate::plan::plan_limits::{ATTEMPTS, ERRORS, REPLANS};
use crate::plan::step_errors::{StepError, Then};
use crate::plan::work_mode::Mode;
use sextant_base::plural::counted;
use sextant_diagnostics::policy::{Effect, Trace};

/// Above this the work has left its plan.
const DEVIATION: f64 = 0.4;

/// The facts after a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepReport {
    pub diagnosed: StepDiagnosed,
    pub checked: StepChecked,
    pub so_far: PlanSoFar,
    /// True if the step changed any text.
    pub changed: bool,
    /// True if the step only had to look or to answer.
    pub answered: bool,
    /// Why the step itself did not come to its end: out of steps, errors in a row.
    pub broken: Option<String>,
    /// A symbol, file or tool that the step needs and that is missing.
    pub missing: Option<String>,
    /// Why the step failed; `None` where it succeeded.
    pub error: Option<StepError>,
    /// True if it has a fallback that was not tried yet.
    pub fallback: bool,
    /// Why the model or the user wants another plan.
    pub objection: Option<String>,
    /// How far the model claims to have kept to the plan, 0 to 1.
    pub adherence: Option<f64>,
    /// An input of the step that could not be resolved.
    pub unresolved: Option<String>,
}

/// The effect of a step on the diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepDiagnosed {
    /// The diagnostics that it set out to repair, and how many of them are gone.
    pub expected: usize,
    pub met: usize,
    pub new_errors: usize,
    pub new_warnings: usize,
}

/// Checks of a step, and how many of them do not hold; an unknown one counts half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepChecked {
    pub checks: usize,
    pub unmet: f64,
}

/// The history of the plan so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanSoFar {
    /// How often this step has been tried, this time included.
    pub attempts: u32,
    /// Errors of the plan.
    pub errors: u32,
    /// Number of new plans.
    pub replans: u32,
    /// Open steps whose symbols are gone.
    pub invalid: Vec<String>,
}

/// The cause that made the work leave the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trigger {
    Deviation(f64),
    Errors(u32),
    MissingResource(String),
    InvalidStep(String),
    /// An input refers to something that does not exist.
    Unresolved(String),
    /// A deletion that the user has not agreed to.
    Consent,
    /// The step failed, and nobody but the user decides.
    Failed,
    /// The model asked for it.
    Model(String),
}

impl Trigger {
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Deviation(_) => "its result is too far from what the plan expects".to_owned(),
            Self::Errors(count) => format!("{} in this plan", counted(*count, "error")),
            Self::MissingResource(what) => format!("{what} is not there"),
            Self::InvalidStep(what) => format!("a later step is not possible any more: {what} is gone"),
            Self::Unresolved(what) => format!("an input cannot be had: {what}"),
            Self::Consent => "it would delete what nobody has agreed to".to_owned(),
            Self::Failed => "its goal is not reached".to_owned(),
            Self::Model(reason) => format!("the model objects: {reason}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Continue,
    Repeat(String),
    /// The step's own fallback, once.
    Fallback(String),
    Replan(Trigger),
    /// Pause and ask the user; the mode stays what it is.
    Ask(Trigger),
    Stop(String),
}

impl Decision {
    /// The decision with its reason, for the trace.
    pub(crate) fn trace(&self, about: &str, facts: &StepReport) -> Trace {
        let score = deviation(facts);
        let (effect, words) = match self {
            Self::Continue => (Effect::Kept, "go on with the plan".to_owned()),
            Self::Repeat(why) => (Effect::Acted, format!("repeat the step: {why}")),
            Self::Fallback(why) => (Effect::Acted, format!("try the fallback: {why}")),
            Self::Replan(trigger) => (Effect::Planned, format!("plan again: {}", trigger.words())),
            Self::Ask(trigger) => (Effect::Asked, format!("ask the user: {}", trigger.words())),
            Self::Stop(why) => (Effect::Stopped, format!("stop: {why}")),
        };
        Trace::new(effect, about, "evaluation", format!("deviation {score:.2}; {words}"))
    }
}

/// How far a step left its plan: 0 not at all, 1 altogether.
///
/// Half of it is the share of unmet expectations and checks, half is the damage. A step that was to change something
/// and did not is off by three tenths. A model that admits to having left the plan is believed.
pub(crate) fn deviation(facts: &StepReport) -> f64 {
    let wanted = (facts.diagnosed.expected + facts.checked.checks) as f64;
    let missed = facts.diagnosed.expected.saturating_sub(facts.diagnosed.met) as f64 + facts.checked.unmet;
    let unmet = if wanted == 0.0 { 0.0 } else { (missed / wanted).min(1.0) };
    let broke = if facts.diagnosed.new_errors > 0 { 0.5 } else { 0.1 * facts.diagnosed.new_warnings.min(3) as f64 };
    let idle = if facts.changed || facts.answered { 0.0 } else { 0.3 };
    let broken = if facts.broken.is_some() { 0.3 } else { 0.0 };
    let admitted = facts.adherence.map_or(0.0, |adherence| 1.0 - adherence);
    (0.5 * unmet + broke + idle + broken).max(admitted).clamp(0.0, 1.0)
}

/// The first thing that makes the work leave the plan, worst first.
pub(crate) fn trigger(facts: &StepReport) -> Option<Trigger> {
    if let Some(what) = &facts.missing {
        return Some(Trigger::MissingResource(what.clone()));
    }
    if let Some(what) = &facts.unresolved {
        return Some(Trigger::Unresolved(what.clone()));
    }
    if let Some(reason) = &facts.objection {
        return Some(Trigger::Model(reason.clone()));
    }
    if facts.so_far.errors >= ERRORS {
        return Some(Trigger::Errors(facts.so_far.errors));
    }
    if let Some(what) = facts.so_far.invalid.first() {
        return Some(Trigger::InvalidStep(what.clone()));
    }
    let score = deviation(facts);
    (score > DEVIATION).then_some(Trigger::Deviation(score))
}

/// The next decision: first the table of recoveries decides for the step itself, then the rules of the mode.
pub(crate) fn decide(mode: Mode, facts: &StepReport) -> Decision {
    if let Some(error) = facts.error {
        let recovery = error.recovery();
        let why = || facts.broken.clone().unwrap_or_else(|| "it failed".to_owned());
        if recovery.retry && !facts.changed && facts.so_far.attempts < ATTEMPTS {
            return Decision::Repeat(why());
        }
        if recovery.fallback && facts.fallback {
            return Decision::Fallback(why());
        }
        if recovery.then == Then::Stop {
            return Decision::Stop(why());
        }
    }
    let needed = || Trigger::MissingResource(facts.broken.clone().unwrap_or_else(|| "what the step needs".to_owned()));
    let failed = match facts.error.map(|error| error.recovery().then) {
        Some(Then::Ask) => Some(needed()),
        // Only a plan that goes on by itself weighs how near a failed step came.
        Some(Then::Weigh) if mode == Mode::Supervised => Some(Trigger::Failed),
        _ => None,
    };
    match (mode, trigger(facts).or(failed)) {
        (_, None) => Decision::Continue,
        (Mode::Supervised, Some(trigger)) => Decision::Ask(trigger),
        (_, Some(trigger)) if facts.so_far.replans >= REPLANS => Decision::Stop(format!(
            "the plan was made again {} and still fails: {}",
            counted(facts.so_far.replans, "time"),
            trigger.words()
        )),
        (_, Some(trigger)) => Decision::Replan(trigger),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> StepReport {
        let diagnosed = StepDiagnosed { expected: 2, met: 2, ..StepDiagnosed::default() };
        let so_far = PlanSoFar { attempts: 1, ..PlanSoFar::default() };
        StepReport { diagnosed, so_far, changed: true, ..StepReport::default() }
    }

    /// The same report with one change.
    fn but(mut report: StepReport, change: impl FnOnce(&mut StepReport)) -> StepReport {
        change(&mut report);
        report
    }

    #[test]
    fn a_step_that_did_what_it_said_goes_on_in_every_mode() {
        for mode in [Mode::Simple, Mode::Planner, Mode::Supervised] {
            assert_eq!(decide(mode, &good()), Decision::Continue);
        }
        let half = but(good(), |r| r.diagnosed.met = 1);
        assert_eq!(decide(Mode::Planner, &half), Decision::Continue, "deviation {}", deviation(&half));
    }

    #[test]
    fn each_trigger_makes_a_new_plan_or_a_question() {
        let cases = [
            (but(good(), |r| r.diagnosed.new_errors = 1), "deviation"),
            (but(good(), |r| r.so_far.errors = 3), "errors"),
            (but(good(), |r| r.missing = Some("a.py::f".into())), "missing_resource"),
            (but(good(), |r| r.so_far.invalid = vec!["a.py::g".into()]), "invalid_step"),
            (but(good(), |r| r.unresolved = Some("step1.symbol".into())), "unresolved"),
            (but(good(), |r| r.objection = Some("f is generated".into())), "model"),
        ];
        for (facts, name) in cases {
            let Decision::Replan(trigger) = decide(Mode::Planner, &facts) else { panic!("{name}") };
            assert!(serde_json::to_string(&trigger).unwrap().contains(name), "{trigger:?}");
            assert_eq!(decide(Mode::Supervised, &facts), Decision::Ask(trigger), "{name}: the mode stays");
        }
    }

    #[test]
    fn repeating_and_replanning_are_bounded() {
        let error = Some(StepError::ErrorsInARow);
        let broken = but(good(), |r| {
            r.broken = Some("prose".into());
            r.diagnosed.met = 0;
            r.changed = false;
            r.error = error;
        });
        assert_eq!(decide(Mode::Planner, &broken), Decision::Repeat("prose".into()));
        let again = but(broken, |r| r.so_far.attempts = 2);
        assert!(matches!(decide(Mode::Planner, &again), Decision::Replan(_)));
        assert!(matches!(decide(Mode::Planner, &but(again, |r| r.so_far.replans = 3)), Decision::Stop(_)));
    }

    #[test]
    fn a_fallback_is_tried_once_after_the_repeats_and_before_the_plan_is_left() {
        let error = Some(StepError::OutOfSteps);
        let failed = but(good(), |r| {
            r.broken = Some("no end".into());
            r.diagnosed.met = 0;
            r.changed = false;
            r.error = error;
            r.fallback = true;
        });
        assert!(matches!(decide(Mode::Supervised, &failed), Decision::Repeat(_)));
        let again = but(failed, |r| r.so_far.attempts = 2);
        assert!(matches!(decide(Mode::Supervised, &again), Decision::Fallback(_)));
        assert!(matches!(decide(Mode::Supervised, &but(again, |r| r.fallback = false)), Decision::Ask(_)));
        let broke = but(good(), |r| {
            r.diagnosed.new_errors = 1;
            r.error = Some(StepError::BrokeSomething);
            r.fallback = true;
        });
        assert!(
            matches!(decide(Mode::Planner, &broke), Decision::Fallback(_)),
            "what changed something is not repeated"
        );
        let model = but(good(), |r| {
            r.error = Some(StepError::ModelFailed);
            r.fallback = true;
        });
        assert!(matches!(decide(Mode::Planner, &model), Decision::Stop(_)));
    }

    #[test]
    fn unmet_checks_and_a_model_that_says_so_count_as_leaving_the_plan() {
        let score = |facts: StepReport| (deviation(&facts) * 100.0).round() / 100.0;
        assert_eq!(score(but(good(), |r| r.checked.checks = 2)), 0.0);
        assert_eq!(
            score(but(good(), |r| {
                r.checked.checks = 2;
                r.checked.unmet = 2.0;
            })),
            0.25
        );
        assert_eq!(
            score(but(good(), |r| {
                r.diagnosed.expected = 0;
                r.diagnosed.met = 0;
                r.checked.checks = 1;
                r.checked.unmet = 1.0;
            })),
            0.5
        );
        assert_eq!(
            score(but(good(), |r| {
                r.diagnosed.expected = 0;
                r.diagnosed.met = 0;
                r.checked.checks = 1;
                r.checked.unmet = 0.5;
            })),
            0.25,
            "an unknown check"
        );
        assert_eq!(score(but(good(), |r| r.adherence = Some(0.3))), 0.7);
        assert_eq!(score(but(good(), |r| r.adherence = Some(1.0))), 0.0);
        let all = but(good(), |r| {
            r.diagnosed.new_errors = 9;
            r.checked.unmet = 9.0;
            r.checked.checks = 9;
            r.diagnosed.met = 0;
            r.changed = false;
            r.broken = Some("x".into());
        });
        assert_eq!(score(all), 1.0);
    }

    #[test]
    fn every_decision_says_why() {
        let facts = but(good(), |r| {
            r.checked.checks = 1;
            r.checked.unmet = 1.0;
        });
        let trigger = Trigger::Model("no".into());
        for (decision, wanted) in [
            (Decision::Continue, "deviation 0.17; go on"),
            (Decision::Repeat("a".into()), "repeat the step: a"),
            (Decision::Fallback("b".into()), "try the fallback: b"),
            (Decision::Replan(trigger.clone()), "plan again: the model objects: no"),
            (Decision::Ask(trigger), "ask the user: the model objects: no"),
            (Decision::Stop("c".into()), "stop: c"),
        ] {
            let trace = decision.trace("step 1", &facts);
            assert!(trace.reason.contains(wanted), "{trace:?}");
        }
    }

    #[test]
    fn each_error_goes_the_way_that_the_table_says() {
        for (error, recovery) in crate::plan::step_errors::TABLE {
            let facts = but(good(), |r| {
                r.error = Some(error);
                r.changed = false;
                r.answered = true;
                r.fallback = true;
            });
            let first = decide(Mode::Planner, &facts);
            assert_eq!(matches!(first, Decision::Repeat(_)), recovery.retry, "{error:?}: {first:?}");
            let again = decide(Mode::Planner, &but(facts.clone(), |r| r.so_far.attempts = 2));
            assert_eq!(matches!(again, Decision::Fallback(_)), recovery.fallback, "{error:?}: {again:?}");
            let last = but(facts, |r| {
                r.so_far.attempts = 2;
                r.fallback = false;
            });
            let (planner, supervised) = (decide(Mode::Planner, &last), decide(Mode::Supervised, &last));
            let as_said = match recovery.then {
                // This step came as near to the plan as possible.
                Then::Weigh => planner == Decision::Continue && supervised == Decision::Ask(Trigger::Failed),
                Then::Ask => matches!(planner, Decision::Replan(_)) && matches!(supervised, Decision::Ask(_)),
                Then::Stop => matches!(planner, Decision::Stop(_)) && matches!(supervised, Decision::Stop(_)),
            };
            assert!(as_said, "{error:?}: {planner:?}, {supervised:?}");
        }
    }
}
