//! A question to the user in supervised mode: asked once, with options, and what each answer does.

use serde::{Deserialize, Serialize};

use crate::agent::plan::evaluate::Trigger;
use crate::agent::plan::progress::Objection;
use crate::agent::plan::{State, Step};
use crate::base::text::{clean, headline};

/// What was asked, and about which step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// Index of the step.
    pub step: usize,
    pub text: String,
    /// Checkpoints of the task before the step.
    pub mark: usize,
    /// Symbols that may be deleted where the answer is to do the step again.
    pub allows: Vec<String>,
    /// Answers that the model has thought of, offered behind [`OPTIONS`].
    pub suggested: Vec<String>,
}

/// The answers, in the order in which they are offered.
pub const OPTIONS: [&str; 4] =
    ["go on with the next step", "do this step again", "take this step back and pause", "leave it and pause"];

/// The input under which a step is told what the user has chosen.
pub(crate) const ANSWER: &str = "answer";

impl Question {
    /// About a step as it stands: what sets the question off, and what came of the step.
    pub(crate) fn new(index: usize, step: &Step, trigger: &Trigger, mark: usize) -> Self {
        let (words, came) = (trigger.words(), headline(&step.outcome));
        let failed = if step.state == State::Failed { " failed" } else { "" };
        let came = if came.is_empty() || words.contains(&came) { String::new() } else { format!("{came}; ") };
        let text = format!("Step {} (“{}”){failed}: {came}{words}. What now?", index + 1, step.title);
        let step = index;
        Self { step, text, mark, allows: Vec::new(), suggested: Vec::new() }
    }

    /// With what the model itself wants to ask.
    pub(crate) fn with_objection(mut self, objection: Option<Objection>) -> Self {
        if let Some(objection) = objection.filter(|objection| !objection.question.is_empty()) {
            let asked = clean(&objection.question);
            self.text = self.text.replacen(". What now?", &format!(". It asks: {asked}"), 1);
            self.suggested = objection.options.iter().map(|option| clean(option)).collect();
        }
        self
    }

    /// Everything that can be answered, counted from 1.
    pub fn options(&self) -> Vec<String> {
        let suggested = self.suggested.iter().map(|option| format!("do this step again: {option}"));
        OPTIONS.iter().map(|option| (*option).to_owned()).chain(suggested).collect()
    }
}
