//! The additions of each mode to a step's question and answer.

use serde::{Deserialize, Serialize};

/// The contract of a step. The user's mode decides it, never the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// No plan: one request, one symbol at a time.
    #[default]
    Simple,
    /// A step of a plan that is made again if it does not hold.
    Planner(PlanFacts),
    /// A step of a plan that was agreed with the user, who is asked if it does not hold.
    Supervised(SupervisedFacts),
}

/// The state of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFacts {
    /// One line a step: number, state, title.
    pub plan: Vec<String>,
    /// Number of the step at hand, from 1.
    pub step: usize,
    /// Share of the steps that are done, 0 to 1.
    pub progress: f64,
    /// The deviation from the plan so far; `None` without one.
    pub deviation: Option<Deviation>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    pub expected: String,
    pub actual: String,
    /// Numbers of the open steps that depend on the deviation.
    pub impacted: Vec<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SupervisedFacts {
    pub plan: PlanFacts,
    /// The adherence of the work to the plan so far, 0 to 1.
    pub adherence: f64,
    /// Earlier questions to the user, and their outcomes.
    pub escalations: Vec<String>,
}

impl Contract {
    /// The plan's part, if there is a plan.
    pub fn plan(&self) -> Option<&PlanFacts> {
        match self {
            Self::Simple => None,
            Self::Planner(facts) => Some(facts),
            Self::Supervised(facts) => Some(&facts.plan),
        }
    }
}

/// A model's words on the plan beside its action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFeedback {
    /// Planner: the reason why the plan must be made again.
    #[serde(default)]
    pub replan: Option<String>,
    /// Supervised: how it wants to go on.
    #[serde(default)]
    pub decision: Option<StepDecision>,
    /// Supervised: how far it keeps to the plan, 0 to 1.
    #[serde(default)]
    pub adherence: Option<f64>,
    /// Supervised: the decision that the user has to make.
    #[serde(default)]
    pub escalation: Option<Escalation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepDecision {
    Continue,
    Escalate,
    Pause,
    Complete,
}

impl StepDecision {
    pub const WORDS: [(&'static str, Self); 4] = [
        ("continue", Self::Continue),
        ("escalate", Self::Escalate),
        ("pause", Self::Pause),
        ("complete", Self::Complete),
    ];
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    pub reason: String,
    pub question: String,
    pub options: Vec<String>,
}
