//! Reports the progress of a long run on standard error.

use std::io::IsTerminal;

use crate::cli::terminal;

/// The reader at the terminal, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiffProgress {
    shown: bool,
}

impl DiffProgress {
    /// Shown if it is asked for, or if standard error is a terminal.
    pub(super) fn new(asked: bool) -> Self {
        Self { shown: asked || std::io::stderr().is_terminal() }
    }

    pub(super) fn say(self, text: &str) {
        if self.shown {
            terminal::complain(&format!("sextant: {text}"));
        }
    }
}
