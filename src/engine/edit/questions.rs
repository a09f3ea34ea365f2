//! A question to the user in the middle of a run: one at a time, answered by number or in words, refused where nobody can answer.

use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use crate::editor::event::{Event, QuestionKind};
use crate::events::envelope::TaskEvent;
use crate::state::approvals::{Approvals, OpenQuestion, UserAnswer};
use sextant_base::failure::Failure;

/// Records that a door brings the user's answers: without one a question is a refusal.
pub(crate) fn answers_come(approvals: &Approvals) {
    approvals.someone.store(true, Ordering::Relaxed);
}

/// True if a question is waiting for [`answer_waiting`].
pub(crate) fn is_asking(approvals: &Approvals) -> bool {
    approvals.open().is_some()
}

/// A question, with its options and details.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserQuestion<'a> {
    pub(crate) kind: QuestionKind,
    pub(crate) text: &'a str,
    pub(crate) options: &'a [String],
    /// The text to be written.
    pub(crate) shows: Option<&'a str>,
}

impl<'a> UserQuestion<'a> {
    pub(crate) fn of(kind: QuestionKind, text: &'a str, options: &'a [String]) -> Self {
        Self { kind, text, options, shows: None }
    }
}

/// The way to allow a kind of question where nobody is asked.
fn way_out(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Command => "run it in a terminal or in the editor, or name the command in `commands_allowed`",
        QuestionKind::File => "run it in a terminal or in the editor, or name the file with --allow-file PATH",
        QuestionKind::Scope => "run it in a terminal or in the editor, or answer beforehand with --answer scope=N",
        QuestionKind::Edit => "run it in a terminal or in the editor, or answer beforehand with --answer edit=N",
        QuestionKind::Plan | QuestionKind::Ask | QuestionKind::Forget => {
            "run it in a terminal or in the editor, or answer beforehand with --answer N"
        }
    }
}

/// Asks the user, and waits for the answer. Dropping the future withdraws the question.
pub(crate) async fn ask_user(approvals: &Approvals, asking: UserQuestion<'_>) -> Result<UserAnswer, Failure> {
    let UserQuestion { kind, text, options, shows } = asking;
    if !approvals.can_ask() {
        return Err(Failure::user(
            format!("this needs an answer from you, and there is no way to give one: {text}"),
            way_out(kind),
        ));
    }
    let _turn = approvals.turn.lock().await;
    let (answer, answered) = oneshot::channel();
    *approvals.open() = Some(OpenQuestion { kind, options: options.to_vec(), answer });
    let mut asked = ShownQuestion { approvals, answer: None };
    let shows = shows.map(str::to_owned);
    approvals.events.show(Event::Question { text: text.to_owned(), options: options.to_vec(), kind, shows });
    asked.answer = answered.await.ok();
    let nobody = || Failure::user(format!("nobody answered: {text}"), way_out(kind));
    asked.answer.clone().ok_or_else(nobody)
}

/// A question to the user. It closes when nobody waits for its answer any more, and the front end that showed it gets
/// an event.
struct ShownQuestion<'a> {
    approvals: &'a Approvals,
    answer: Option<UserAnswer>,
}

impl Drop for ShownQuestion<'_> {
    fn drop(&mut self) {
        self.approvals.open().take();
        let choice = self.answer.as_ref().map(UserAnswer::choice);
        let words = self.answer.as_ref().and_then(UserAnswer::words);
        self.approvals.events.emit(None, TaskEvent::Answered { choice, words });
    }
}

/// Answers the question that waits. `None` without an open question; a number that is no option leaves it open.
pub(crate) fn answer_waiting(approvals: &Approvals, answer: UserAnswer) -> Option<Result<(), Failure>> {
    let mut open = approvals.open();
    let waiting = open.take()?;
    let answer = match answer {
        UserAnswer::Words(words) if says_yes(&words) && is_consent(waiting.kind, &waiting.options) => {
            UserAnswer::Option(1)
        }
        answer => answer,
    };
    if let UserAnswer::Option(choice) = &answer
        && !(1..=waiting.options.len()).contains(choice)
    {
        let failure = Failure::user(format!("{choice} is not an answer"), format!("1 to {}", waiting.options.len()));
        *open = Some(waiting);
        return Some(Err(failure));
    }
    // The asking task may have left in this very moment; then nothing depends on the answer.
    let _ = waiting.answer.send(answer);
    Some(Ok(()))
}

/// Words that say yes and nothing else.
const YES: &str = "y yes sí si ok okay 1";

fn says_yes(words: &str) -> bool {
    let word = words.trim().trim_end_matches(['.', '!']).to_lowercase();
    YES.split(' ').any(|yes| yes == word)
}

/// Recognizes a question whose first option is the one that yes means. A question for consent has its narrowest consent first and its
/// refusal last; any other question only where there is nothing else to choose.
fn is_consent(kind: QuestionKind, options: &[String]) -> bool {
    let refuses = |option: &String| {
        let first = option.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase();
        ["no", "not", "leave", "keep", "stop"].contains(&first.as_str())
    };
    let Some((last, others)) = options.split_last() else { return false };
    let asks_consent = match kind {
        QuestionKind::Command | QuestionKind::File | QuestionKind::Scope | QuestionKind::Edit => !others.is_empty(),
        QuestionKind::Plan | QuestionKind::Ask | QuestionKind::Forget => others.len() == 1,
    };
    asks_consent && refuses(last) && !others.iter().any(refuses)
}

/// The question that a paused run ends with, taken out of its last events where the user can be asked at once.
pub(crate) fn open_question(approvals: &Approvals, events: &mut Vec<Event>) -> Option<(String, Vec<String>)> {
    let at = events.iter().position(|event| matches!(event, Event::Question { .. }))?;
    if !approvals.can_ask() {
        return None;
    }
    match events.remove(at) {
        Event::Question { text, options, .. } => Some((text, options)),
        _ => None,
    }
}

/// Ends the question that waits without an answer: nobody is there any more.
pub(crate) fn nobody_answers(approvals: &Approvals) {
    approvals.open().take();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_yes_means_the_narrowest_consent_and_no_other_option() {
        for words in ["y", "Yes", "yes.", " sí ", "ok", "1"] {
            assert!(says_yes(words), "{words}");
        }
        for words in ["yes, but only once", "no", "okay then", "2", ""] {
            assert!(!says_yes(words), "{words}");
        }
        let is_yes =
            |kind, options: &[&str]| is_consent(kind, &options.iter().map(|o| (*o).to_owned()).collect::<Vec<_>>());
        assert!(is_yes(QuestionKind::Command, &["run it once", "allow exactly this for the session", "no"]));
        assert!(is_yes(QuestionKind::Ask, &["yes", "no"]));
        assert!(is_yes(QuestionKind::File, &["put the text before it back", "leave it"]));
        assert!(!is_yes(QuestionKind::Ask, &["sqlite", "postgres"]));
        assert!(!is_yes(QuestionKind::Ask, &["now", "later", "no"]));
        assert!(!is_yes(QuestionKind::Plan, &["keep it", "no"]) && !is_yes(QuestionKind::Edit, &["no"]));
    }
}
