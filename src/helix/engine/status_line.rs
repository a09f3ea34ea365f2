//! Shows one line on the editor's status line: a message, or the refusal of a command.

use crate::engine::links::{ERROR, EngineLink};
use crate::engine::{EngineHost, helix_wording};
use sextant_base::failure::{Failure, FailureKind};

impl EngineHost {
    /// Shows one line on the status line of the editor that was used last.
    pub(super) fn say(&self, kind: u8, text: &str) {
        if let Some(link) = self.buffers.links.used_last() {
            link.message(kind, &helix_wording::line(text));
        }
    }

    /// Reports that a command was not taken on.
    pub(super) fn refuse(&self, link: Option<&EngineLink>, failure: &Failure) {
        let asked = (failure.kind == FailureKind::Busy).then(|| self.question.busy()).flatten();
        let text = helix_wording::line(&helix_wording::failure_line(asked.as_ref().unwrap_or(failure)));
        match link {
            Some(link) => link.message(ERROR, &text),
            None => self.say(ERROR, &text),
        }
    }
}
