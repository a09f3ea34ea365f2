//! What a task did, as those need it who count and remember: told once by the loop, shown to nobody.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use sextant_model::step::Usage;
use sextant_store::memory::entry::{EntryId, Role};
use sextant_store::memory::metrics::Outcome;

/// One thing that a task did, or that was done to it. No fact holds a piece of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TaskFact {
    /// The agent works from here on, until it pauses: while a plan waits for its user no time counts.
    WorkBegan,
    /// The limits count anew: of time alone, or of all that was used.
    BudgetRenewed {
        whole: bool,
    },
    /// The user was asked something for so long; it is not the task's time.
    UserWaited {
        time: Duration,
    },
    /// The model has answered, usably or not.
    ModelAnswered {
        usage: Usage,
    },
    /// An answer was had without asking the model, or a tool, once more.
    CallSaved,
    Said {
        role: Role,
        text: String,
    },
    /// Codes of the diagnostics that the next question is about, the worst first.
    InView {
        codes: Vec<String>,
    },
    /// Memory was asked for the next question.
    Recalled {
        recall: RecallFact,
    },
    /// A tool has come back.
    ToolCalled {
        call: CallFact,
    },
    /// The user has answered a question of the plan.
    AnswerGiven {
        question: String,
        answer: String,
    },
    /// A plan is made; the work pauses.
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
    /// What the prompt carries.
    pub entries: Vec<EntryId>,
    pub hit: bool,
    pub took_us: u32,
    /// Tokens of what was found, and of what the prompt has got of it.
    pub found: u64,
    pub given: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFact {
    pub tool: String,
    pub ok: bool,
    /// Whether it changes files: its success may repair any error before it.
    pub edits: bool,
    /// What it was done to, by name. What was looked for may be a piece of a file, and is not in it.
    pub subject: String,
    /// The offered fix that it applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixFact>,
    /// Why it failed, up to what that quotes.
    pub problem: String,
    /// A fix that was applied and did no good.
    pub taken_back: bool,
    /// Of an edit: what it was made for, the words of the task or of its step.
    pub goal: String,
    /// Of an edit that was made: its checkpoint.
    pub checkpoint: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FixFact {
    pub title: String,
    pub symbol: String,
    /// The diagnostic's; empty where it has none.
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

/// What became of a step in the user's words, by its title.
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
    /// The last word to the user.
    pub said: String,
    pub summary: String,
    /// What it has changed.
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
    /// Whether it only pauses otherwise.
    pub over: bool,
}
