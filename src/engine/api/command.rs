//! Lists the commands of a door to a session, as data. Each is one piece of work in the session's turn.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::api::engine::Engine;
use crate::api::turn::{self, Origin, TurnHeld};
use crate::commands::answer_question::no_question;
use crate::commands::block_edit::BlockRequest;
use crate::commands::intents;
use crate::commands::undo::{UndoRequest, Undone};
use crate::editor::event::Event;
use crate::plan::{Plan, Steps};
use crate::state::approvals::UserAnswer;
use crate::state::outcome::{Ending, Outcome};
use crate::state::request::Request;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::HintCode;

/// A command to a session. A session carries out one command at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Answers a request. A request that only means stop stops the running command.
    Ask(Request),
    /// Applies a block of code of the conversation to a symbol.
    Apply(BlockRequest),
    /// Makes a plan for a request. A request that begins with `change:` changes the plan that waits, where there is
    /// one.
    Plan(Request),
    /// Changes the plan that waits, by the user's words.
    ChangePlan(String),
    /// Takes a document that the user has written for the plan that waits.
    WritePlan(String),
    /// Shows the plan that waits, without taking it up.
    ShowPlan,
    /// Carries out the plan that waits. `is_read` is false where no user has read it: its names are then no permission
    /// to change files that run.
    Approve { steps: Steps, is_read: bool },
    /// Answers a question. The running task's question comes before the one of the paused plan.
    Answer(UserAnswer),
    /// Resumes the work that was left open: the last, or the one that `which` means. `approved` carries out a plan that
    /// waits for its approval.
    Resume { which: String, approved: bool },
    /// Discards a plan or task that waits.
    Discard(String),
    /// Takes back the standing changes of the last task, or a part of them.
    Undo(UndoRequest),
    /// Takes back one task after the other, down to this one.
    UndoTo(String),
    /// Brings back the last undo.
    Redo,
    /// Forgets the entries that hold a text. Asks first where that costs an undo.
    Forget(String),
    /// Stops the running command.
    Stop,
}

/// Outcome of a command.
#[derive(Clone, Debug)]
pub enum CommandOutcome {
    Worked(Outcome),
    Planned(Plan),
    TakenBack(Undone),
    TakenBackTo(Vec<Undone>),
    /// The forgotten entries, for a reader.
    Forgotten(String),
    /// The command only shows something, which is in the events.
    Shown,
    /// The task that waited for the answer goes on.
    Answered,
    Stopped,
}

/// An accepted command. It has the session's turn, and begins with [`Self::start`] or [`Self::outcome`].
#[must_use = "it is given up where it is not started"]
pub enum Submitted {
    Done(CommandOutcome),
    Taken { engine: Arc<Engine>, held: TurnHeld, command: Command },
}

impl Submitted {
    /// Carries it out, and leaves its end to the session's events.
    pub fn start(self) {
        tokio::spawn(self.outcome());
    }

    /// Carries it out to its end, even when the caller drops this future.
    ///
    /// # Errors
    /// The command failed, was stopped, or broke down.
    pub async fn outcome(self) -> Result<CommandOutcome, Failure> {
        match self {
            Self::Done(outcome) => Ok(outcome),
            Self::Taken { engine, held, command } => {
                let (session, cancel) = (Arc::clone(engine.session()), held.cancel.clone());
                turn::run(session, held, Box::pin(async move { engine.carry_out(command, &cancel).await })).await
            }
        }
    }
}

impl CommandOutcome {
    /// # Errors
    /// The command was another one.
    pub fn worked(self) -> Result<Outcome, Failure> {
        if let Self::Worked(outcome) = self { Ok(outcome) } else { Err(another()) }
    }

    /// # Errors
    /// The command was another one.
    pub fn planned(self) -> Result<Plan, Failure> {
        if let Self::Planned(plan) = self { Ok(plan) } else { Err(another()) }
    }

    /// # Errors
    /// The command was another one.
    pub fn taken_back(self) -> Result<Undone, Failure> {
        if let Self::TakenBack(undone) = self { Ok(undone) } else { Err(another()) }
    }

    /// # Errors
    /// The command was another one.
    pub fn taken_back_to(self) -> Result<Vec<Undone>, Failure> {
        if let Self::TakenBackTo(undone) = self { Ok(undone) } else { Err(another()) }
    }

    /// # Errors
    /// The command was another one.
    pub fn forgotten(self) -> Result<String, Failure> {
        if let Self::Forgotten(text) = self { Ok(text) } else { Err(another()) }
    }
}

fn another() -> Failure {
    Failure::new(FailureKind::Internal, "the outcome is of another command", "see the log")
}

impl Command {
    /// Its title while it is carried out.
    fn title(&self) -> &str {
        match self {
            Self::Ask(request) | Self::Plan(request) => &request.text,
            Self::Apply(_) => "a code block",
            Self::ChangePlan(_) | Self::WritePlan(_) => "a change of the plan",
            Self::ShowPlan => "a look at the plan",
            // While a task asks, its question takes the answer: here a plan goes on with one.
            Self::Approve { .. } | Self::Answer(_) => "the plan",
            Self::Resume { .. } => "the task that waits",
            Self::Discard(_) => "what is to be discarded",
            Self::Undo(_) | Self::UndoTo(_) => "an undo",
            Self::Redo => "a redo",
            Self::Forget(_) => "what is to be forgotten",
            Self::Stop => "a stop",
        }
    }
}

impl Engine {
    /// Accepts a command, which then has the session's turn. Its progress is in the session's events.
    ///
    /// # Errors
    /// The command is not accepted: another command is carried out, or no command runs that could be stopped. Or no
    /// plan waits that could be changed, or the question that waits has no such option.
    pub fn submit(self: &Arc<Self>, command: Command, origin: Origin) -> Result<Submitted, Failure> {
        match &command {
            Command::Stop if self.turn().stop() => return Ok(Submitted::Done(CommandOutcome::Stopped)),
            Command::Stop => return Err(Failure::user("nothing is running", "")),
            Command::Ask(request) if intents::is_stop(&request.text) && self.turn().stop() => {
                return Ok(Submitted::Done(CommandOutcome::Stopped));
            }
            Command::Answer(answer) => {
                if let Some(answered) = self.answer_waiting(answer.clone()) {
                    return answered.map(|()| Submitted::Done(CommandOutcome::Answered));
                }
                // A task runs that asks nothing, and no plan waits with a question.
                if !self.turn().is_free() && !self.has_plan() {
                    return Err(no_question());
                }
            }
            Command::ChangePlan(_) | Command::WritePlan(_) if !self.has_plan() => {
                return Err(Failure::user("no plan waits here that could be changed", HintCode::Plan));
            }
            _ => {}
        }
        let held = self.begin(&self.title(&command), origin)?;
        Ok(Submitted::Taken { engine: Arc::clone(self), held, command })
    }

    /// The title of a command; a plan that goes on is named.
    fn title(&self, command: &Command) -> String {
        let plan = matches!(command, Command::Approve { .. } | Command::Answer(_)).then(|| self.plan_now()).flatten();
        match plan.filter(|plan| !plan.title.is_empty()) {
            Some(plan) => format!("{}: {}", command.title(), plan.title),
            None => command.title().to_owned(),
        }
    }

    /// Each command has a future of its own on the heap: the largest would else be part of all the stacks.
    async fn carry_out(&self, command: Command, cancel: &CancellationToken) -> Ending<CommandOutcome> {
        use CommandOutcome::{Planned, TakenBack, TakenBackTo, Worked};
        match command {
            Command::Ask(request) => Box::pin(self.ask(&request, cancel)).await.map(Worked),
            Command::Apply(request) => Box::pin(self.apply_block(&request, cancel)).await.map(Worked),
            Command::Plan(request) => Box::pin(self.plan(&request, cancel)).await.map(Planned),
            Command::ChangePlan(words) => Box::pin(self.change_plan(&words, cancel)).await.map(Planned),
            Command::WritePlan(text) => match self.edit_plan(&text, None).await {
                Ok(edited) => Ending { result: Ok(Planned(edited.plan)), events: vec![edited.event] },
                Err(refused) => Ending { result: Err(refused.into()), events: Vec::new() },
            },
            Command::ShowPlan => match self.waiting_plan().await {
                Ok(events) => Ending { result: Ok(CommandOutcome::Shown), events },
                Err(failure) => Ending { result: Err(failure.clone()), events: vec![Event::refused(failure)] },
            },
            Command::Approve { steps, is_read: true } => Box::pin(self.approve(steps, cancel)).await.map(Worked),
            Command::Approve { steps, is_read: false } => {
                Box::pin(self.approve_unseen(steps, cancel)).await.map(Worked)
            }
            Command::Answer(answer) => Box::pin(self.answer_question(answer, cancel)).await.map(Worked),
            Command::Resume { which, approved } => {
                Box::pin(self.resume_chosen(&which, approved, cancel)).await.map(Worked)
            }
            Command::Discard(which) => match self.discard(&which).await {
                Ok(events) => Ending { result: Ok(CommandOutcome::Shown), events },
                Err(failure) => Ending { result: Err(failure.clone()), events: vec![Event::refused(failure)] },
            },
            Command::Undo(wish) => self.take_back(&wish).await.map(TakenBack),
            Command::UndoTo(task) => self.take_back_to(&task, cancel).await.map(TakenBackTo),
            Command::Redo => self.bring_back().await.map(TakenBack),
            Command::Forget(text) => {
                let result = self.forget(&text, cancel).await.map(CommandOutcome::Forgotten);
                Ending { result, events: Vec::new() }
            }
            Command::Stop => Ending { result: Ok(CommandOutcome::Stopped), events: Vec::new() },
        }
    }
}
