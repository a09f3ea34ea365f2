//! Shows one line on the editor's status line: a message, or the refusal of a command.

use crate::engine::links::{ERROR, EngineLink};
use crate::engine::{EngineHost, helix_wording};
use crate::message_line::{self, ALL};
use sextant_base::failure::{Failure, FailureKind};

impl EngineHost {
    /// Shows one line on the status line of the editor that was used last.
    pub(super) fn say(&self, kind: u8, text: &str) {
        if let Some(link) = self.buffers.links.used_last() {
            self.tell(&link, kind, text);
        }
    }

    /// Shows one line on the status line of an editor. The conversation has the whole of a line that is too long.
    pub(super) fn tell(&self, link: &EngineLink, kind: u8, text: &str) {
        let line = message_line::fit(text, ALL);
        if line != message_line::line(text) {
            self.answers.note(&self.buffers, &format!("**{}**", message_line::line(text)));
        }
        link.message(kind, &line);
    }

    /// Reports that a command was not taken on.
    pub(super) fn refuse(&self, link: Option<&EngineLink>, failure: &Failure) {
        let asked = (failure.kind == FailureKind::Busy).then(|| self.question.busy()).flatten();
        let failure = asked.as_ref().unwrap_or(failure);
        let (line, whole) = (helix_wording::failure_line(failure), helix_wording::failure(failure).one_line());
        if line != message_line::line(&whole) {
            self.answers.note(&self.buffers, &format!("**{}**", message_line::line(&whole)));
        }
        match link {
            Some(link) => link.message(ERROR, &line),
            None => self.say(ERROR, &line),
        }
    }
}
