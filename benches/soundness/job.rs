//! Defines the data that the measuring process, Neovim and the process inside it pass to each other.

use serde::{Deserialize, Serialize};
use sextant::diagnostics::model::{Freshness, Report, Severity};

use crate::text::Expected;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub server: String,
    pub command: Vec<String>,
    pub filetype: String,
    /// The server's settings, or null.
    pub settings: serde_json::Value,
    /// This program; Neovim starts it in place of the binary.
    pub binary: String,
    pub root: String,
    pub file: String,
    pub trials: usize,
    pub seed: u64,
    /// The time limit of an answer, in milliseconds.
    pub budget_ms: u64,
    /// True if the server is killed now and then.
    pub kills: bool,
    /// True if whole sessions edit files first that no editor has opened.
    pub first: bool,
    /// True if each task makes two edits, and the server is killed between them.
    pub between: bool,
    /// The file for the trials, one JSON object a line.
    pub out: String,
    /// The file for Neovim's client capabilities.
    pub capabilities: String,
}

/// A diagnostic in the form for comparison. Hints are left out: a pull need not have them.
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
    /// True if an earlier edit went out without waiting for its answer.
    pub hurried: bool,
    pub text: String,
    pub expected: Vec<Expected>,
    pub answers: Vec<Answer>,
    /// The answers after the deadline, for this exact text.
    pub late: Vec<Answer>,
    /// The number of unasked changes by the server to its earlier answer for this exact text.
    pub amended: usize,
    /// The number of repeated late answers: more than there were open questions.
    pub twice: usize,
    /// Milliseconds from the edit until Neovim's own display showed the change, both in Neovim; Sextant got no
    /// question.
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
