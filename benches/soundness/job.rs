//! What the measuring process, Neovim and the process inside it hand to each other.

use serde::{Deserialize, Serialize};
use sextant::diagnostics::model::{Freshness, Report, Severity};

use crate::text::Expected;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub server: String,
    pub command: Vec<String>,
    pub filetype: String,
    /// This program; Neovim starts it in place of the binary.
    pub binary: String,
    pub root: String,
    pub file: String,
    pub trials: usize,
    pub seed: u64,
    /// Milliseconds that an answer may take.
    pub budget_ms: u64,
    /// Whether the server is killed now and then.
    pub kills: bool,
    /// Whether files are edited first that nobody has opened, by whole sessions.
    pub first: bool,
    /// Whether each task makes two edits, and the server is killed between them.
    pub between: bool,
    /// Where the trials are written, one JSON object a line.
    pub out: String,
    /// Where Neovim writes its client capabilities.
    pub capabilities: String,
}

/// A diagnostic as it is compared. Hints are left out: a pull need not have them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Item {
    pub line: u32,
    pub column: u32,
    pub severity: u8,
    pub code: String,
    pub message: String,
}

/// One answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub freshness: Freshness,
    /// Milliseconds from before the edit to the answer, both in the process that asks; of a `plain` trial both in
    /// Neovim.
    pub ms: f64,
    pub items: Vec<Item>,
    pub note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trial {
    pub number: usize,
    pub kind: String,
    /// An edit went before that nobody waited for.
    pub hurried: bool,
    pub text: String,
    pub expected: Vec<Expected>,
    pub answers: Vec<Answer>,
    /// What came after the deadline, of this very text.
    pub late: Vec<Answer>,
    /// How often the server changed, unasked, what it had answered for this very text.
    pub amended: usize,
    /// How often a late answer came again: more often than there were questions open.
    pub twice: usize,
    /// Milliseconds from the edit until Neovim's own display showed the change, both in Neovim; nothing was asked of us.
    pub default_ms: Option<f64>,
}

impl Answer {
    pub fn of(report: &Report, ms: f64) -> Self {
        let items = report.diagnostics.iter().filter(|item| item.severity != Severity::Hint).filter_map(|item| {
            let start = item.location.range()?.start;
            Some(Item {
                line: start.line,
                column: start.character,
                severity: item.severity as u8,
                code: item.code.clone().unwrap_or_default(),
                message: crate::truth::common(&item.message),
            })
        });
        let mut items: Vec<Item> = items.collect();
        items.sort();
        Self { freshness: report.freshness, ms, items, note: report.note.clone() }
    }
}
