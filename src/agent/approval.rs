//! A question to the user in the middle of a run: one at a time, answered by number, refused where nobody can answer.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::agent::session::Session;
use crate::base::failure::Failure;
use crate::editor::event::Event;

/// The open question, and what the user has allowed for the session.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    /// Whether a door brings answers.
    someone: AtomicBool,
    /// Held by whoever asks, so that a second question waits for its turn.
    turn: tokio::sync::Mutex<()>,
    waiting: Mutex<Option<Waiting>>,
    /// Commands that were allowed for the session, argument by argument.
    commands: Mutex<BTreeSet<Vec<String>>>,
    /// Files that run by being there, which may be changed for the session.
    files: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
struct Waiting {
    options: usize,
    answer: oneshot::Sender<usize>,
}

/// Takes the question back when nobody waits for its answer any more.
struct Withdraw<'a>(&'a Approvals);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.0.open().take();
    }
}

impl Approvals {
    fn open(&self) -> std::sync::MutexGuard<'_, Option<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn can_ask(&self) -> bool {
        self.someone.load(Ordering::Relaxed)
    }

    pub(crate) fn allowed(&self, command: &[String]) -> bool {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }

    pub(crate) fn allowed_file(&self, path: &str) -> bool {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    pub(crate) fn allow_file(&self, path: &str) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    pub(crate) fn allow(&self, command: &[String]) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).insert(command.to_vec());
    }
}

/// Says that a door brings the user's answers: without one a question is a refusal.
pub fn answers_come(session: &Session) {
    session.approvals.someone.store(true, Ordering::Relaxed);
}

/// Whether a question is waiting for [`answer_waiting`].
pub fn is_asking(session: &Session) -> bool {
    session.approvals.open().is_some()
}

/// Asks the user, and waits for the number of an option, counted from 1. Dropping the future withdraws the
/// question.
pub(crate) async fn ask_user(session: &Session, text: &str, options: &[String]) -> Result<usize, Failure> {
    if !session.approvals.can_ask() {
        return Err(Failure::user(
            format!("this needs an answer from you, and there is no way to give one: {text}"),
            "run it in a terminal or in the editor, or answer beforehand with --answer N",
        ));
    }
    let _turn = session.approvals.turn.lock().await;
    let (answer, answered) = oneshot::channel();
    *session.approvals.open() = Some(Waiting { options: options.len(), answer });
    let _withdraw = Withdraw(&session.approvals);
    session.editor.show(Event::Question { text: text.to_owned(), options: options.to_vec() });
    answered.await.map_err(|_| Failure::user(format!("nobody answered: {text}"), "answer with the number of an option"))
}

/// Answers the question that waits. `None` where none does; a number that is no option leaves it open.
pub fn answer_waiting(session: &Session, choice: usize) -> Option<Result<(), Failure>> {
    let mut open = session.approvals.open();
    let waiting = open.take()?;
    if !(1..=waiting.options).contains(&choice) {
        let failure = Failure::user(format!("{choice} is no answer"), format!("1 to {}", waiting.options));
        *open = Some(waiting);
        return Some(Err(failure));
    }
    // Whoever asked may have left in this very moment; then nothing hangs on the answer.
    let _ = waiting.answer.send(choice);
    Some(Ok(()))
}

/// The question that a paused run ends with, taken out of its last events where the user can be asked at once.
pub(crate) fn open_question(session: &Session, events: &mut Vec<Event>) -> Option<(String, Vec<String>)> {
    let at = events.iter().position(|event| matches!(event, Event::Question { .. }))?;
    if !session.approvals.can_ask() {
        return None;
    }
    match events.remove(at) {
        Event::Question { text, options } => Some((text, options)),
        _ => None,
    }
}

/// Ends the question that waits without an answer: nobody is there any more.
pub fn nobody_answers(session: &Session) {
    session.approvals.open().take();
}
