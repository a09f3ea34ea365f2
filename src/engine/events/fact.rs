//! The facts of a task, for observers that count and remember: the loop sends each once, and no front end shows it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use sextant_model::step::Usage;
use sextant_store::memory::entry::{EntryId, Role};
use sextant_store::memory::metrics::Outcome;

/// One thing that a task did, or that was done to it. No fact holds a piece of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TaskFact {
    /// The agent works from here on, until it pauses. While a plan waits for its user no time counts.
    WorkBegan,
    /// The limits count from zero again: of time alone, or of everything used.
    BudgetRenewed {
        whole: bool,
    },
    /// The user was asked something for so long; the time does not count for the task.
    UserWaited {
        time: Duration,
    },
    /// The model has answered, usably or not.
    ModelAnswered {
        usage: Usage,
    },
    /// An answer was available without another call of the model or of a tool.
    CallSaved,
    Said {
        role: Role,
        text: String,
    },
    /// Codes of the diagnostics that the next question is about, the worst first. Some diagnostics have no code.
    InView {
        any: bool,
        codes: Vec<String>,
    },
    /// Memory was searched for the next question.
    Recalled {
        recall: RecallFact,
    },
    /// A tool has returned.
    ToolCalled {
        call: CallFact,
    },
    /// The user has answered a question of the plan.
    AnswerGiven {
        question: String,
        answer: String,
    },
    /// A plan is ready; the work pauses.
    PlanMade {
        plan: PlanFact,
    },
    /// The user has changed the plan, in these words.
    PlanChanged {
        words: String,
        changes: Vec<StepChange>,
    },
    /// A step of the plan has ended.
    StepEnded {
        step: StepFact,
    },
    /// The user is asked before the plan goes on.
    Escalated,
    /// A run is over, or pauses.
    RunEnded {
        run: RunFact,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallFact {
    /// The entries in the prompt.
    pub entries: Vec<EntryId>,
    pub hit: bool,
    pub took_us: u32,
    /// Tokens of the entries found, and of those that the prompt holds.
    pub found: u64,
    pub given: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFact {
    pub tool: String,
    pub ok: bool,
    /// True if it changes files: its success may repair any error before it.
    pub edits: bool,
    /// The name of its target. A search pattern may be a piece of a file, so it is left out.
    pub subject: String,
    /// The offered fix that it applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixFact>,
    /// The reason of the failure, up to the first quotation.
    pub problem: String,
    /// True if it failed by a server, the editor or a limit: no lesson about the call.
    pub is_circumstance: bool,
    /// A fix that was applied, did no good and was taken back.
    pub taken_back: bool,
    /// For an edit: its purpose, in the words of the task or of its step.
    pub goal: String,
    /// For an applied edit: its checkpoint.
    pub checkpoint: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FixFact {
    pub title: String,
    pub symbol: String,
    /// The code of the diagnostic; empty where it has none.
    pub code: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanFact {
    pub title: String,
    /// The titles of its steps.
    pub steps: Vec<String>,
    pub files: Vec<String>,
    /// The title of the plan that waited and was never run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A change of one step in the user's words, named by its title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum StepChange {
    Reworded { from: String, to: String },
    TakenOut { title: String },
    Added { title: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepFact {
    pub title: String,
    pub done: bool,
    pub outcome: String,
    pub files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFact {
    pub how: Outcome,
    /// The final message to the user.
    pub said: String,
    pub summary: String,
    /// The files that it has changed.
    pub files: Vec<String>,
    /// `None` without a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanEndFact>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanEndFact {
    /// The titles of its steps.
    pub steps: Vec<String>,
    pub replans: u32,
    /// True if the plan is over; otherwise it only pauses.
    pub over: bool,
}
