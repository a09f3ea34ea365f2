//! What a step's question and answer hold besides the simple ones, by mode.

use serde::{Deserialize, Serialize};

/// Under which contract a step is asked for. The user's mode decides it, never the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// No plan: one request, one symbol at a time.
    #[default]
    Simple,
    /// A step of a plan that is made anew where it does not hold.
    Planner(PlanFacts),
    /// A step of a plan that was agreed with the user, who is asked where it does not hold.
    Supervised(SupervisedFacts),
}

/// Where a plan stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFacts {
    /// One line a step: number, state, title.
    pub plan: Vec<String>,
    /// Number of the step at hand, from 1.
    pub step: usize,
    /// Share of the steps that are done, 0 to 1.
    pub progress: f64,
    /// What went otherwise than planned so far; `None` where nothing did.
    pub deviation: Option<Deviation>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    pub expected: String,
    pub actual: String,
    /// Numbers of the open steps that lean on what went wrong.
    pub impacted: Vec<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SupervisedFacts {
    pub plan: PlanFacts,
    /// How far the work has kept to the plan so far, 0 to 1.
    pub adherence: f64,
    /// What the user was asked before, and what came of it.
    pub escalations: Vec<String>,
}

impl Contract {
    /// The plan's part, where there is a plan.
    pub fn plan(&self) -> Option<&PlanFacts> {
        match self {
            Self::Simple => None,
            Self::Planner(facts) => Some(facts),
            Self::Supervised(facts) => Some(&facts.plan),
        }
    }
}

/// What a model says of the plan beside its action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFeedback {
    /// Planner: why the plan must be made anew.
    #[serde(default)]
    pub replan: Option<String>,
    /// Supervised: how it wants to go on.
    #[serde(default)]
    pub decision: Option<StepDecision>,
    /// Supervised: how far it keeps to the plan, 0 to 1.
    #[serde(default)]
    pub adherence: Option<f64>,
    /// Supervised: what the user is to decide.
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
