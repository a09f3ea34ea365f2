//! Full-text search whose cost does not grow with the number of entries that hold a common word.
//!
//! The index's own ranking reads every hit of every word, so a common word costs hundreds of milliseconds
//! on a million entries. Here each word is first asked for its newest [`DEPTH`] holders. A word with fewer
//! is rare, and all its holders are known; for combinations of words the search goes back as far as the
//! rarest word's newest [`DEPTH`] holders reach. Entries that hold all words are looked for first, then
//! all but the commonest, then each word alone, until there are enough. What was found is ranked by
//! [`rank`]: more of the words, then BM25, then the newest. So every hit of a rare word is considered, and
//! of common words the newest.

mod rank;
mod words;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::memory::entries::known_session;
use crate::memory::entry::{COLUMNS, Entry, Kind, Mode, from_row};
use crate::memory::error::Result;
use crate::memory::search::rank::Candidate;
use crate::memory::search::words::Term;
use crate::memory::store::{self, Memory};

/// So many of the newest holders of a word are considered (see the module's text); measured by
/// `benches/recall.rs`.
pub const DEPTH: usize = 200;

/// The most hits that one search brings.
pub const HITS: usize = 100;

/// What a hit must be, besides holding words; empty means anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filters {
    pub session: Option<String>,
    pub mode: Option<Mode>,
    pub kinds: Vec<Kind>,
    /// Not before this time, in milliseconds since 1970.
    pub since: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    pub entry: Entry,
    /// BM25 over the candidates; comparable within one search only.
    pub score: f64,
    /// How many parts of the question it holds.
    pub terms: u32,
}

/// A condition in the index's language, and its newest holders.
struct Condition {
    expression: String,
    newest: Vec<i64>,
}

impl Condition {
    fn ask(conn: &Connection, expression: String) -> Result<Self> {
        let newest = matching(conn, &expression, 0)?;
        Ok(Self { expression, newest })
    }

    /// Back to this number, the search sees at most [`DEPTH`] holders.
    fn reach(&self) -> i64 {
        if self.newest.len() < DEPTH { 0 } else { self.newest.last().copied().unwrap_or(0) }
    }

    /// How many of the entries up to `last` hold it: exact when they are few, else as dense as the newest.
    fn holders(&self, last: i64) -> f64 {
        let seen = self.newest.len() as f64;
        if self.newest.len() < DEPTH { seen } else { seen * last as f64 / (last - self.reach() + 1) as f64 }
    }
}

impl Memory {
    /// Entries that hold words of the text, best first, [`HITS`] at most. A text without words finds nothing.
    pub fn search(&self, text: &str, filters: &Filters, limit: usize) -> Result<Vec<Hit>> {
        let terms = words::terms(text);
        let limit = limit.min(HITS);
        if terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        self.read(|conn| search(conn, &terms, filters, limit))
    }
}

fn search(conn: &Connection, terms: &[Term], filters: &Filters, limit: usize) -> Result<Vec<Hit>> {
    let Some(filtering) = conditions(conn, filters)? else { return Ok(Vec::new()) };
    let last: Option<i64> = conn.query_row("SELECT max(id) FROM entries", [], |row| row.get(0))?;
    let last = last.unwrap_or(0);
    let asked = terms.iter().map(|term| Condition::ask(conn, format!("content : {}", term.phrase)));
    let asked: Vec<Condition> = asked.collect::<Result<_>>()?;
    let holders: Vec<f64> = asked.iter().map(|condition| condition.holders(last)).collect();

    let mut find = conn.prepare_cached("SELECT content FROM entries WHERE id = ?1 AND timestamp >= ?2")?;
    let since = filters.since.unwrap_or(i64::MIN);
    let mut found: BTreeMap<i64, Candidate> = BTreeMap::new();
    for level in levels(&holders) {
        let together: Vec<&Condition> = filtering.iter().chain(level.iter().map(|at| &asked[*at])).collect();
        let bits = level.iter().fold(0, |bits, at| bits | 1u32 << at);
        for id in all_of(conn, &together)? {
            if let Some(known) = found.get_mut(&id) {
                known.matched |= bits;
            } else if let Some(content) = find.query_row((id, since), |row| row.get(0)).optional()? {
                found.insert(id, Candidate { id, matched: bits, content });
            }
        }
        if found.len() >= limit {
            break;
        }
    }
    let candidates: Vec<Candidate> = found.into_values().collect();
    let mut hits = Vec::with_capacity(limit);
    for ranked in rank::rank(&candidates, terms, &holders, last as f64).into_iter().take(limit) {
        let sql = format!(
            "SELECT {COLUMNS} FROM entries JOIN sessions ON sessions.id = entries.session WHERE entries.id = ?1"
        );
        let entry = conn.prepare_cached(&sql)?.query_row([ranked.id], from_row)?;
        hits.push(Hit { entry, score: ranked.score, terms: ranked.terms });
    }
    Ok(hits)
}

/// Which terms are asked for together, one try after the other.
fn levels(holders: &[f64]) -> Vec<Vec<usize>> {
    let mut known: Vec<usize> = (0..holders.len()).filter(|at| holders[*at] > 0.0).collect();
    known.sort_by(|a, b| holders[*a].total_cmp(&holders[*b]));
    let mut out = Vec::new();
    if known.len() > 1 {
        out.push(known.clone());
    }
    if known.len() > 2 {
        out.push(known[..known.len() - 1].to_vec());
    }
    out.extend(known.into_iter().map(|at| vec![at]));
    out
}

/// The filters as conditions; `None` when nothing can meet them.
fn conditions(conn: &Connection, filters: &Filters) -> Result<Option<Vec<Condition>>> {
    let mut tags = Vec::new();
    if let Some(name) = &filters.session {
        let Some(session) = known_session(conn, name)? else { return Ok(None) };
        tags.push(format!("s{session}"));
    }
    tags.extend(filters.mode.map(|mode| format!("m{}", mode.name())));
    let mut expressions: Vec<String> = tags.iter().map(|tag| format!("tags : \"{tag}\"")).collect();
    if !filters.kinds.is_empty() {
        let kinds = filters.kinds.iter().map(|kind| format!("\"k{}\"", kind.name().replace('_', "")));
        expressions.push(format!("tags : ({})", kinds.collect::<Vec<_>>().join(" OR ")));
    }
    let asked: Vec<Condition> =
        expressions.into_iter().map(|text| Condition::ask(conn, text)).collect::<Result<_>>()?;
    Ok(asked.iter().all(|condition| !condition.newest.is_empty()).then_some(asked))
}

/// The newest entries that meet all conditions, as far back as the rarest of them reaches.
fn all_of(conn: &Connection, conditions: &[&Condition]) -> Result<Vec<i64>> {
    if let [only] = conditions {
        return Ok(only.newest.clone());
    }
    let reach = conditions.iter().map(|condition| condition.reach()).min().unwrap_or(0);
    let parts: Vec<String> = conditions.iter().map(|condition| format!("({})", condition.expression)).collect();
    matching(conn, &parts.join(" AND "), reach)
}

fn matching(conn: &Connection, expression: &str, reach: i64) -> Result<Vec<i64>> {
    let sql = "SELECT rowid FROM entries_text WHERE entries_text MATCH ?1 AND rowid >= ?2 ORDER BY rowid DESC LIMIT ?3";
    store::all(conn, sql, (expression, reach, DEPTH as i64), |row| row.get(0))
}

#[cfg(test)]
mod tests;
