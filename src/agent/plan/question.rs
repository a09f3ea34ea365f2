//! A question to the user in supervised mode: asked once, with options, and what each answer does.

use serde::{Deserialize, Serialize};

use crate::agent::plan::evaluate::Trigger;
use crate::agent::plan::progress::Objection;
use crate::agent::plan::{Step, StepState};
use crate::base::message::{clean, headline};
use crate::editor::event::{Event, QuestionKind};

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
    /// Whether the plan was asked for in Spanish.
    pub spanish: bool,
}

/// The answers, in the order in which they are offered.
pub const OPTIONS: [&str; 4] =
    ["go on with the next step", "do this step again", "take this step back and pause", "leave it and pause"];
const OPCIONES: [&str; 4] =
    ["seguir con el paso siguiente", "repetir este paso", "deshacer este paso y parar", "dejarlo y parar"];
const WHAT_NOW: (&str, &str) = ("What now?", "¿Qué hacemos?");

/// The input under which a step is told what the user has chosen.
pub(crate) const ANSWER: &str = "answer";

fn of<'a>(spanish: bool, english: &'a str, other: &'a str) -> &'a str {
    if spanish { other } else { english }
}

impl Question {
    /// About a step as it stands: what sets the question off, and what came of the step.
    pub(crate) fn new(spanish: bool, index: usize, step: &Step, trigger: &Trigger, mark: usize) -> Self {
        let (words, came) = (trigger.words(), headline(&step.result.outcome));
        let failed =
            if step.state == StepState::Failed { of(spanish, " failed", " falló").to_owned() } else { String::new() };
        let came = if came.is_empty() || words.contains(&came) { String::new() } else { format!("{came}; ") };
        let (number, title) = (index + 1, &step.title);
        let text = if spanish {
            format!("El paso {number} («{title}»){failed}: {came}{words}. {}", WHAT_NOW.1)
        } else {
            format!("Step {number} (“{title}”){failed}: {came}{words}. {}", WHAT_NOW.0)
        };
        Self { step: index, text, mark, spanish, ..Self::default() }
    }

    /// With what the model itself wants to ask.
    pub(crate) fn with_objection(mut self, objection: Option<Objection>) -> Self {
        if let Some(objection) = objection.filter(|objection| !objection.question.is_empty()) {
            let asked = clean(&objection.question);
            let of = |english, other| of(self.spanish, english, other);
            let (what_now, asks) = (of(WHAT_NOW.0, WHAT_NOW.1), of("It asks:", "Pregunta:"));
            if let Some(before) = self.text.strip_suffix(what_now) {
                self.text = format!("{before}{asks} {asked}");
            }
            self.suggested = objection.options.iter().map(|option| clean(option)).collect();
        }
        self
    }

    /// The question as a door shows it.
    pub fn event(&self) -> Event {
        Event::Question { text: self.text.clone(), options: self.options(), kind: QuestionKind::Plan, shows: None }
    }

    /// Everything that can be answered, counted from 1.
    pub fn options(&self) -> Vec<String> {
        let options = if self.spanish { OPCIONES } else { OPTIONS };
        let suggested = self.suggested.iter().map(|option| format!("{}: {option}", options[1]));
        options.iter().map(|option| (*option).to_owned()).chain(suggested).collect()
    }
}
