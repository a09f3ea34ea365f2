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
    /// Answers that the model has suggested, offered before [`OPTIONS`].
    pub suggested: Vec<String>,
}

/// The answers to any question, in the order in which they are offered.
const OPTIONS: [&str; 4] =
    ["go on with the next step", "do this step again", "take this step back and pause", "leave it and pause"];
const WHAT_NOW: &str = "What now?";

/// The input that hands the user's choice to a step.
pub(crate) const ANSWER: &str = "answer";

/// The meaning of the number of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanAnswer<'a> {
    GoOn,
    Again,
    TakeBack,
    Leave,
    /// The step is done again with this answer of the model's own.
    Suggested(&'a str),
}

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

    /// Adds the question that the model itself wants to ask. Nothing has failed where it is the only cause.
    pub(crate) fn with_objection(mut self, trigger: &Trigger, objection: Option<Objection>) -> Self {
        if let Some(objection) = objection.filter(|objection| !objection.question.is_empty()) {
            let (asked, reason) = (clean(&objection.question), clean(&objection.reason));
            let is_said = reason.is_empty() || asked.contains(reason.trim_end_matches(['.', '?']));
            let reason = if is_said { String::new() } else { format!(" Its reason: {reason}") };
            self.text = match (trigger, self.text.strip_suffix(WHAT_NOW)) {
                (Trigger::Model(_), _) | (_, None) => format!("Step {} asks: {asked}{reason}", self.step + 1),
                (_, Some(before)) => format!("{before}It asks: {asked}"),
            };
            self.suggested = objection.options.iter().map(|option| clean(option)).collect();
        }
        self
    }

    /// The question as a door shows it.
    pub(crate) fn event(&self) -> Event {
        Event::Question { text: self.text.clone(), options: self.options(), kind: QuestionKind::Plan, shows: None }
    }

    /// Everything that can be answered, counted from 1: the model's own answers, then those to any question.
    pub(crate) fn options(&self) -> Vec<String> {
        self.suggested.iter().cloned().chain(OPTIONS.map(str::to_owned)).collect()
    }

    /// The meaning of an answer by its number.
    pub(crate) fn choice(&self, number: usize) -> Option<PlanAnswer<'_>> {
        let index = number.checked_sub(1)?;
        if let Some(suggested) = self.suggested.get(index) {
            return Some(PlanAnswer::Suggested(suggested));
        }
        let choices = [PlanAnswer::GoOn, PlanAnswer::Again, PlanAnswer::TakeBack, PlanAnswer::Leave];
        choices.get(index - self.suggested.len()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(trigger: &Trigger, reason: &str) -> Question {
        let step = Step { title: "Split".into(), state: StepState::Failed, ..Step::default() };
        let options = vec![", ".to_owned(), "; ".to_owned()];
        let objection = Objection { reason: reason.into(), question: "Which separator?".into(), options };
        Question::new(1, &step, trigger, 0).with_objection(trigger, Some(objection))
    }

    #[test]
    fn a_model_s_question_is_one_and_its_answers_come_first() {
        let trigger = Trigger::Model("Which separator?".into());
        let question = asked(&trigger, "Which separator?");
        assert_eq!(question.text, "Step 2 asks: Which separator?");
        assert_eq!(asked(&trigger, "two ways").text, "Step 2 asks: Which separator? Its reason: two ways");
        let options = question.options();
        assert_eq!((options.len(), options[2].as_str()), (6, OPTIONS[0]));
        assert_eq!(question.choice(2), Some(PlanAnswer::Suggested(options[1].as_str())));
        assert_eq!((question.choice(3), question.choice(6)), (Some(PlanAnswer::GoOn), Some(PlanAnswer::Leave)));
        assert_eq!((question.choice(0), question.choice(7)), (None, None));
    }

    #[test]
    fn a_step_that_failed_says_so() {
        let step = Step { title: "Split".into(), state: StepState::Failed, ..Step::default() };
        let trigger = Trigger::Model("no".into());
        let question = Question::new(0, &step, &trigger, 0).with_objection(&trigger, None);
        assert_eq!(question.text, "Step 1 (“Split”) failed: the model objects: no. What now?");
        assert_eq!(question.choice(1), Some(PlanAnswer::GoOn));
        let both = asked(&Trigger::MissingResource("a.py::f".into()), "why");
        assert_eq!(both.text, "Step 2 (“Split”) failed: a.py::f is not there. It asks: Which separator?");
    }
}
