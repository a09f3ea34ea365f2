//! Selects the entries of memory for a prompt: which ones by mode, and how they are kept under the limit.

use std::time::Instant;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::memory::entries::{RECALLED, known_session};
use crate::memory::entry::{COLUMNS, Entry, Mode, from_row};
use crate::memory::memory_error::Result;
use crate::memory::recall_limits::{CUT, ENTRIES, WINDOW_MS, limit};
use crate::memory::store::{self, Memory};
use sextant_base::token_estimate::estimate;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    pub entry: Entry,
    /// The line that the prompt carries.
    pub line: String,
    /// The line holds only the beginning of the content.
    pub cut: bool,
}

/// The memory part of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recall {
    /// In the mode's order.
    pub entries: Vec<Recalled>,
    /// Tokens of [`Recall::text`], by the given counter.
    pub tokens: usize,
    /// Tokens of the contents before anything was cut or left out, by the same counter.
    pub tokens_found: usize,
    /// Entries that were found and did not fit.
    pub left_out: usize,
    /// Microseconds that the search took.
    pub retrieval_us: u64,
}

impl Recall {
    pub fn text(&self) -> String {
        self.entries.iter().map(|recalled| recalled.line.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Memory {
    /// The newest or most relevant entries of the session and mode, from the 24 hours before `now_ms`:
    /// simple takes errors and solutions, newest first; planner successes and patterns by relevance;
    /// supervised everything, newest first. What was undone is left out. At most [`ENTRIES`], and never more tokens than the mode's
    /// [`limit`] or the budget, whichever is less.
    pub fn recall(&self, mode: Mode, session: &str, now_ms: i64, budget_tokens: usize) -> Result<Recall> {
        self.recall_counted(mode, session, now_ms, budget_tokens, &estimate)
    }

    /// As [`Memory::recall`], with the model's own way of counting tokens.
    pub fn recall_counted(
        &self,
        mode: Mode,
        session: &str,
        now_ms: i64,
        budget_tokens: usize,
        count: &dyn Fn(&str) -> usize,
    ) -> Result<Recall> {
        let start = Instant::now();
        let entries = self.read(|conn| find(conn, mode, session, now_ms))?;
        let retrieval_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Recall { retrieval_us, ..fit(entries, budget_tokens.min(limit(mode)), count) })
    }
}

fn find(conn: &Connection, mode: Mode, session: &str, now_ms: i64) -> Result<Vec<Entry>> {
    let Some(session) = known_session(conn, session)? else { return Ok(Vec::new()) };
    let chosen = chosen(mode);
    // The name is fetched after the ten are chosen, so that the order comes from the index.
    let sql =
        format!("SELECT {COLUMNS} FROM ({chosen}) AS entries CROSS JOIN sessions ON sessions.id = entries.session");
    let since = now_ms.saturating_sub(WINDOW_MS);
    store::all(conn, &sql, (session, mode, since, ENTRIES as i64), from_row)
}

fn chosen(mode: Mode) -> String {
    // The conditions match the partial indices word for word: SQLite uses them only then.
    let (index, kinds, order) = match mode {
        Mode::Simple => ("entries_simple", "AND kind IN ('error', 'solution')", "timestamp DESC, id DESC"),
        Mode::Planner => {
            ("entries_planner", "AND kind IN ('success', 'pattern')", "relevance DESC, timestamp DESC, id DESC")
        }
        Mode::Supervised => ("entries_newest", "", "timestamp DESC, id DESC"),
    };
    format!(
        "SELECT * FROM entries INDEXED BY {index} WHERE session = ?1 AND mode = ?2 AND timestamp > ?3 {kinds} \
         AND relevance >= {RECALLED:?} ORDER BY {order} LIMIT ?4"
    )
}

/// Takes entries in order while they fit, counting the text as a whole.
///
/// The first that does not fit is cut at a word if [`CUT`] tokens are left for it. Otherwise it is left out, and
/// shorter ones behind it may still come. After a cut nothing more is taken.
fn fit(entries: Vec<Entry>, limit: usize, count: &dyn Fn(&str) -> usize) -> Recall {
    let mut out =
        Recall { tokens_found: entries.iter().map(|entry| count(&entry.entry.content)).sum(), ..Recall::default() };
    let mut text = String::new();
    let mut full = false;
    for entry in entries {
        let words: Vec<&str> = entry.entry.content.split_whitespace().collect();
        let with = |kept: usize| {
            let mark = if kept < words.len() { " …" } else { "" };
            let line = format!("[{}] {}{mark}", entry.entry.kind.name(), words[..kept].join(" "));
            let whole = if text.is_empty() { line.clone() } else { format!("{text}\n{line}") };
            (count(&whole), line, whole)
        };
        let mut kept = words.len();
        let (mut tokens, mut line, mut whole) = with(kept);
        if tokens > limit && !full {
            kept = most(words.len(), |kept| with(kept).0 <= limit);
            (tokens, line, whole) = with(kept);
            let worth = kept > 0 && tokens.saturating_sub(out.tokens) >= CUT;
            full = worth && tokens <= limit;
            if !full {
                kept = 0;
            }
        } else if full {
            kept = 0;
        }
        if kept == 0 && !words.is_empty() || tokens > limit {
            out.left_out += 1;
            continue;
        }
        (text, out.tokens) = (whole, tokens);
        out.entries.push(Recalled { cut: kept < words.len(), entry, line });
    }
    out
}

/// The largest number below `words` that fits; 0 if none fits.
fn most(words: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, words.saturating_sub(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

#[cfg(test)]
#[path = "recall/tests.rs"]
mod tests;
