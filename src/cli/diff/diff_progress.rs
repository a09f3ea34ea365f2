//! What a long run says on standard error while it works.

use std::io::IsTerminal;

use crate::cli::terminal;

/// Whoever looks at the terminal, or nobody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    shown: bool,
}

impl Progress {
    /// Shown where it is asked for or where standard error is a terminal.
    pub(super) fn new(asked: bool) -> Self {
        Self { shown: asked || std::io::stderr().is_terminal() }
    }

    pub(super) fn say(self, text: &str) {
        if self.shown {
            terminal::complain(&format!("sextant: {text}"));
        }
    }
}
