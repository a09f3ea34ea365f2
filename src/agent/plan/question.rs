//! A question to the user in supervised mode: asked once, with options, and what each answer does.

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::agent::evaluate::Trigger;
use crate::agent::mode::Phase;
use crate::agent::outcome::{Ending, Outcome};
use crate::agent::plan::{State, Steps};
use crate::agent::session::Session;
use crate::base::failure::Failure;

/// What was asked, and about which step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub step: usize,
    pub text: String,
    /// Checkpoints of the task before the step.
    pub mark: usize,
    /// Symbols that may be deleted where the answer is to do the step again.
    pub allows: Vec<String>,
}

/// The answers, in the order in which they are offered.
pub const OPTIONS: [&str; 4] =
    ["go on with the next step", "do this step again", "take this step back and pause", "leave it and pause"];

impl Question {
    pub(super) fn new(step: usize, title: &str, trigger: &Trigger, mark: usize) -> Self {
        let text = format!("Step {} (“{title}”): {}. What now?", step + 1, trigger.words());
        Self { step, text, mark, allows: Vec::new() }
    }
}

impl Session {
    /// Answers the open question with one of [`OPTIONS`], counted from 1.
    pub async fn answer_question(&self, choice: usize, cancel: &CancellationToken) -> Ending<Outcome> {
        let mut waiting = self.plan.lock().await;
        let question = waiting.as_mut().and_then(|(_, task)| task.question.take());
        let (Some(question), Some((plan, task))) = (question, waiting.as_mut()) else {
            drop(waiting);
            let failure =
                Failure::user("no question is open", "a plan in supervised mode asks one when it leaves its plan");
            return Ending::new(Err(failure), Vec::new(), |outcome: &Outcome| (outcome.ok, outcome.summary.clone()));
        };
        if let Some(option) = choice.checked_sub(1).and_then(|index| OPTIONS.get(index)) {
            task.note_answer(&question.text, option);
        }
        match choice {
            1 => {}
            2 => {
                task.consent.allowed.extend(question.allows);
                plan.steps[question.step].state = State::Open;
            }
            3 => {
                if let Err(failure) = self.roll_back_to(task, question.mark, false).await {
                    task.question = Some(question);
                    drop(waiting);
                    return Ending::new(Err(failure), Vec::new(), |outcome: &Outcome| {
                        (outcome.ok, outcome.summary.clone())
                    });
                }
                plan.steps[question.step].state = State::Open;
                plan.steps[question.step].outcome = "taken back".to_owned();
            }
            4 => {}
            _ => {
                task.question = Some(question);
                drop(waiting);
                let failure = Failure::user(format!("{choice} is no answer"), format!("1 to {}", OPTIONS.len()));
                return Ending::new(Err(failure), Vec::new(), |outcome: &Outcome| {
                    (outcome.ok, outcome.summary.clone())
                });
            }
        }
        self.keep_task(task, Some(plan), Phase::Paused).await;
        drop(waiting);
        if choice <= 2 { self.approve(Steps::All, cancel).await } else { self.pause().await }
    }
}
