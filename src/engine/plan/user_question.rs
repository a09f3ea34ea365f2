//! Asks the user a question in supervised mode: once, with options, and the effect of each answer.

use serde::{Deserialize, Serialize};

use crate::editor::event::{Event, QuestionKind};
use crate::plan::next_decision::Trigger;
use crate::plan::plan_progress::Objection;
use crate::plan::{Step, StepState};
use sextant_base::one_line::{clean, headline};

/// The question, and its step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Question {
    /// Index of the step.
    pub step: usize,
    pub text: String,
    /// Checkpoints of the task before the step.
    pub mark: usize,
    /// Symbols that may be deleted where the answer is to do the step again.
    pub allows: Vec<String>,
    /// Answers that the model has suggested, offered behind [`OPTIONS`].
    pub suggested: Vec<String>,
}

/// The answers, in the order in which they are offered.
pub(crate) const OPTIONS: [&str; 4] =
    ["go on with the next step", "do this step again", "take this step back and pause", "leave it and pause"];
const WHAT_NOW: &str = "What now?";

/// The input that hands the user's choice to a step.
pub(crate) const ANSWER: &str = "answer";

impl Question {
    /// A question about a step as it stands: the trigger, and the outcome of the step.
    pub(crate) fn new(index: usize, step: &Step, trigger: &Trigger, mark: usize) -> Self {
        let (words, came) = (trigger.words(), headline(&step.result.outcome));
        let failed = if step.state == StepState::Failed { " failed" } else { "" };
        let came = if came.is_empty() || words.contains(&came) { String::new() } else { format!("{came}; ") };
        let (number, title) = (index + 1, &step.title);
        let text = format!("Step {number} (“{title}”){failed}: {came}{words}. {WHAT_NOW}");
        Self { step: index, text, mark, ..Self::default() }
    }

    /// Adds the question that the model itself wants to ask.
    pub(crate) fn with_objection(mut self, objection: Option<Objection>) -> Self {
        if let Some(objection) = objection.filter(|objection| !objection.question.is_empty()) {
            let asked = clean(&objection.question);
            if let Some(before) = self.text.strip_suffix(WHAT_NOW) {
                self.text = format!("{before}It asks: {asked}");
            }
            self.suggested = objection.options.iter().map(|option| clean(option)).collect();
        }
        self
    }

    /// The question as a door shows it.
    pub(crate) fn event(&self) -> Event {
        Event::Question { text: self.text.clone(), options: self.options(), kind: QuestionKind::Plan, shows: None }
    }

    /// Everything that can be answered, counted from 1.
    pub(crate) fn options(&self) -> Vec<String> {
        let suggested = self.suggested.iter().map(|option| format!("{}: {option}", OPTIONS[1]));
        OPTIONS.iter().map(|option| (*option).to_owned()).chain(suggested).collect()
    }
}
