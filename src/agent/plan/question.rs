//! A question to the user in supervised mode: asked once, with options, and what each answer does.

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::agent::evaluate::Trigger;
use crate::agent::mode::Phase;
use crate::agent::outcome::{Ending, Outcome};
use crate::agent::plan::contract::Objection;
use crate::agent::plan::inputs::{Input, Value};
use crate::agent::plan::{State, Step, Steps, depends, ending, run};
use crate::agent::session::Session;
use crate::agent::tools::answer::{clean, headline};
use crate::agent::{durable, making, undo};
use crate::base::failure::Failure;

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
const ANSWER: &str = "answer";

impl Question {
    /// About a step as it stands: what sets the question off, and what came of the step.
    pub(super) fn new(index: usize, step: &Step, trigger: &Trigger, mark: usize) -> Self {
        let (words, came) = (trigger.words(), headline(&step.outcome));
        let failed = if step.state == State::Failed { " failed" } else { "" };
        let came = if came.is_empty() || words.contains(&came) { String::new() } else { format!("{came}; ") };
        let text = format!("Step {} (“{}”){failed}: {came}{words}. What now?", index + 1, step.title);
        let step = index;
        Self { step, text, mark, allows: Vec::new(), suggested: Vec::new() }
    }

    /// With what the model itself wants to ask.
    pub(super) fn with_objection(mut self, objection: Option<Objection>) -> Self {
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

/// Answers the open question with one of its options, counted from 1.
pub async fn answer_question(session: &Session, choice: usize, cancel: &CancellationToken) -> Ending<Outcome> {
    session.use_cancel(cancel);
    match take_answer(session, choice).await {
        Ok(true) => run::approve(session, Steps::All, cancel).await,
        Ok(false) => ending::pause(session).await,
        Err(failure) => Ending::new(Err(failure), Vec::new(), |outcome: &Outcome| (outcome.ok, String::new())),
    }
}

/// Does what the answer says to the plan; whether the plan goes on then. The question stays where it cannot.
async fn take_answer(session: &Session, choice: usize) -> Result<bool, Failure> {
    making::catch_up(session).await?;
    let mut waiting = session.plan.lock().await;
    let Some((plan, task)) = waiting.as_mut() else { return Err(no_question()) };
    let Some(question) = task.question.take() else { return Err(no_question()) };
    let options = question.options();
    let Some(answer) = choice.checked_sub(1).and_then(|index| options.get(index)) else {
        task.question = Some(question);
        return Err(Failure::user(format!("{choice} is no answer"), format!("1 to {}", options.len())));
    };
    if choice == 3
        && let Err(failure) = undo::roll_back_to(session, task, question.mark, false).await
    {
        task.question = Some(question);
        return Err(failure);
    }
    task.note_answer(&question.text, answer);
    task.course.escalations.push(format!("{} → {answer}", question.text));
    let number = question.step + 1;
    let Some(step) = plan.steps.get_mut(question.step) else { return Err(no_question()) };
    match choice {
        1 | 4 => {}
        3 => {
            step.state = State::Open;
            "taken back".clone_into(&mut step.outcome);
        }
        _ => {
            step.state = State::Open;
            task.consent.allowed.extend(question.allows);
            if let Some(chosen) = choice.checked_sub(OPTIONS.len() + 1).and_then(|at| question.suggested.get(at)) {
                step.inputs.retain(|input| input.name != ANSWER);
                let value = Value::Text(chosen.clone());
                step.inputs.push(Input { name: ANSWER.to_owned(), value });
            }
        }
    }
    if step.state == State::Open {
        step.output = None;
        depends::reopen(plan, number);
    }
    durable::keep_task(session, task, Some(plan), Phase::Paused).await;
    Ok(!matches!(choice, 3 | 4))
}

fn no_question() -> Failure {
    Failure::user("no question is open", "a plan in supervised mode asks one when it leaves its plan")
}
