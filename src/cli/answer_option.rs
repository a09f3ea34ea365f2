//! Answers a question without an editor: by the answers of the command line, or at the terminal.

use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal};
use std::str::FromStr;
use std::sync::{Arc, Mutex, Weak};

use crate::cli::{cli_wording, terminal};
use sextant_base::lock::lock;
use sextant_engine::api::{Engine, QuestionKind};

/// An answer of the command line: to a question of this kind, or without a kind to one that a bare number may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenAnswer {
    kind: Option<QuestionKind>,
    choice: usize,
}

impl GivenAnswer {
    /// True if the answer may go to a question. A bare number was written down before the question was there. It never
    /// consents to a command, to a file that runs, or to more than was asked for.
    fn fits(self, kind: QuestionKind) -> bool {
        let bare = [QuestionKind::Plan, QuestionKind::Ask, QuestionKind::Forget].contains(&kind);
        self.kind.map_or(bare, |own| own == kind)
    }
}

impl FromStr for GivenAnswer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, number) = match text.split_once('=') {
            None => (None, text),
            Some((kind, number)) => (Some(kind_of(kind)?), number),
        };
        let choice = number.parse().ok().filter(|choice| *choice > 0);
        let choice = choice.ok_or_else(|| format!("{number:?} is not the number of an option"))?;
        Ok(Self { kind, choice })
    }
}

fn kind_of(name: &str) -> Result<QuestionKind, String> {
    Ok(match name {
        "plan" => QuestionKind::Plan,
        "ask" => QuestionKind::Ask,
        "scope" => QuestionKind::Scope,
        "edit" => QuestionKind::Edit,
        "forget" => QuestionKind::Forget,
        "command" => return Err("no command is answered for beforehand; name it in `commands_allowed`".to_owned()),
        "file" => return Err("no file that runs is answered for beforehand; name it with --allow-file PATH".to_owned()),
        _ => return Err(format!("{name:?} is not a kind of question: plan, ask, scope, edit and forget are")),
    })
}

/// The answers that are left.
pub(super) struct GivenAnswers(VecDeque<GivenAnswer>);

impl GivenAnswers {
    pub(super) fn new(given: &[GivenAnswer]) -> Self {
        Self(given.iter().copied().collect())
    }

    /// The first one that fits a question.
    pub(super) fn take(&mut self, kind: QuestionKind) -> Option<usize> {
        let at = self.0.iter().position(|given| given.fits(kind))?;
        self.0.remove(at).map(|given| given.choice)
    }
}

pub(super) struct Answers {
    given: Mutex<GivenAnswers>,
    terminal: bool,
}

impl Answers {
    /// A reader of JSON lines is a program and gets no questions.
    pub(super) fn new(given: &[GivenAnswer], as_json: bool) -> Self {
        Self { given: Mutex::new(GivenAnswers::new(given)), terminal: !as_json && std::io::stdin().is_terminal() }
    }

    pub(super) fn any(&self) -> bool {
        self.terminal || !self.given().0.is_empty()
    }

    fn given(&self) -> std::sync::MutexGuard<'_, GivenAnswers> {
        lock(&self.given)
    }

    /// Answers the open question of the session, if it has one. Does not wait.
    pub(super) fn answer(self: &Arc<Self>, session: &Weak<Engine>, kind: QuestionKind) {
        let Some(asking) = session.upgrade().filter(|session| session.is_asking()) else { return };
        if let Some(choice) = self.given().take(kind) {
            if let Some(Err(_)) = asking.answer_waiting(choice) {
                asking.nobody_answers();
            }
        } else if self.terminal {
            let session = Weak::clone(session);
            tokio::task::spawn_blocking(move || read(&session));
        } else {
            asking.nobody_answers();
        }
    }
}

/// Reads lines until one is an answer, or there are no more.
fn read(session: &Weak<Engine>) {
    let mut line = String::new();
    loop {
        // The prompt belongs to the terminal, not to the output.
        terminal::note("> ");
        line.clear();
        let read = std::io::stdin().lock().read_line(&mut line);
        let Some(session) = session.upgrade().filter(|session| session.is_asking()) else { return };
        if !matches!(read, Ok(1..)) {
            return session.nobody_answers();
        }
        match session.answer_waiting(line.trim().parse::<usize>().unwrap_or(0)) {
            Some(Err(failure)) => {
                terminal::complain(&cli_wording::failure(&failure).one_line());
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(texts: &[&str]) -> GivenAnswers {
        let given: Vec<GivenAnswer> = texts.iter().map(|text| text.parse().unwrap()).collect();
        GivenAnswers::new(&given)
    }

    #[test]
    fn an_answer_meets_the_kind_that_it_names_and_a_bare_one_only_plans_and_the_model() {
        use QuestionKind::*;
        let mut answers = given(&["3", "plan=2", "1"]);
        assert_eq!(
            (answers.take(Command), answers.take(File), answers.take(Scope), answers.take(Edit)),
            (None, None, None, None)
        );
        assert_eq!((answers.take(Plan), answers.take(Plan), answers.take(Plan)), (Some(3), Some(2), Some(1)));
        let mut answers = given(&["plan=2", "1", "edit=1"]);
        assert_eq!((answers.take(Ask), answers.take(Ask), answers.take(Edit)), (Some(1), None, Some(1)));
        for wrong in ["0", "x", "command=1", "file=1", "plan=", "=1", "plan=0"] {
            assert!(wrong.parse::<GivenAnswer>().is_err(), "{wrong}");
        }
    }
}
