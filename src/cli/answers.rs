//! How a question is answered without an editor: by what the command line says, or at the terminal.

use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal};
use std::sync::{Arc, Mutex, Weak};

use crate::agent::commands::agent::Agent;
use crate::base::lock::lock;
use crate::cli::{terminal, wording};

pub(super) struct Answers {
    given: Mutex<VecDeque<usize>>,
    terminal: bool,
}

impl Answers {
    /// A reader of JSON lines is a program, and is asked nothing.
    pub(super) fn new(given: &[usize], as_json: bool) -> Self {
        let given = Mutex::new(given.iter().copied().collect());
        Self { given, terminal: !as_json && std::io::stdin().is_terminal() }
    }

    pub(super) fn any(&self) -> bool {
        self.terminal || !self.given().is_empty()
    }

    fn given(&self) -> std::sync::MutexGuard<'_, VecDeque<usize>> {
        lock(&self.given)
    }

    /// Answers the question that the session has open, if it has one. Does not wait.
    pub(super) fn answer(self: &Arc<Self>, session: &Weak<Agent>) {
        let Some(asking) = session.upgrade().filter(|session| session.is_asking()) else { return };
        if let Some(choice) = self.given().pop_front() {
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
fn read(session: &Weak<Agent>) {
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
        match session.answer_waiting(line.trim().parse().unwrap_or(0)) {
            Some(Err(failure)) => {
                terminal::complain(&wording::failure(&failure).one_line());
            }
            _ => return,
        }
    }
}
