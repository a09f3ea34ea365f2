//! Full-text search whose cost does not grow with the number of entries that hold a common word.
//!
//! The index's own ranking reads every hit of every word, so a common word costs hundreds of milliseconds on a million
//! entries. Two common words that never meet are compared to the end, at any limit. Here each word and each filter is
//! first asked for its newest [`DEPTH`] holders. The rarest leads: its holders are read and looked at for the other
//! words and filters. When it has between [`DEPTH`] and [`DEEP`] holders, the index combines the conditions, which
//! costs no more than the rarest has holders. Then each word leads once, from the rarest on, until there are enough.
//! The hits are ranked: more of the words, then BM25, then the newest.
//!
//! So the holders of a word with fewer than [`DEPTH`] holders are always considered, and so is every entry of a session
//! with fewer than [`DEEP`]; of more common words, the newest holders.

mod rank;
mod search_words;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

use crate::memory::entries::known_session;
use crate::memory::entry::{COLUMNS, Entry, Kind, Mode, from_row};
use crate::memory::memory_error::Result;
use crate::memory::search::rank::Candidate;
use crate::memory::search::search_words::Term;
use crate::memory::store::{self, Memory};

/// The number of newest holders of a word that are considered (see the module's text). With 200 the slowest kind of
/// question takes 2.4 ms of processor time at the 99th percentile of a million entries (`benches/recall.rs`).
pub const DEPTH: usize = 200;

/// Up to so many holders of the rarest condition, the index is asked for the entries that meet all.
pub const DEEP: usize = 1000;

/// The most hits that one search brings.
pub const HITS: usize = 100;

/// The conditions of a hit, besides its words; empty means anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filters {
    pub session: Option<String>,
    pub mode: Option<Mode>,
    pub kinds: Vec<Kind>,
    /// Not before this time, in milliseconds since 1970.
    pub since: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryHit {
    pub entry: Entry,
    /// BM25 over the candidates; comparable within one search only.
    pub score: f64,
    /// The number of parts of the question that it holds.
    pub terms: u32,
}

/// A condition in the index's language, and its newest holders.
struct Condition {
    expression: String,
    newest: Vec<i64>,
}

impl Condition {
    fn ask(conn: &Connection, expression: String) -> Result<Self> {
        let newest = matching(conn, &expression)?;
        Ok(Self { expression, newest })
    }

    /// The entry that the newest holders reach back to; 0 if the list is complete.
    fn reach(&self) -> i64 {
        if self.newest.len() < DEPTH { 0 } else { self.newest.last().copied().unwrap_or(0) }
    }

    /// The number of entries up to `last` that hold it: exact if they are few, else as dense as the newest.
    fn holders(&self, last: i64) -> f64 {
        let seen = self.newest.len() as f64;
        if self.newest.len() < DEPTH { seen } else { seen * last as f64 / (last - self.reach() + 1) as f64 }
    }
}

impl Memory {
    /// Entries that hold words of the text, best first, [`HITS`] at most. A text without words finds nothing.
    pub fn search(&self, text: &str, filters: &Filters, limit: usize) -> Result<Vec<MemoryHit>> {
        let terms = search_words::terms(text);
        let limit = limit.min(HITS);
        if terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        self.read(|conn| search(conn, &terms, filters, limit))
    }
}

fn search(conn: &Connection, terms: &[Term], filters: &Filters, limit: usize) -> Result<Vec<MemoryHit>> {
    let wanted = match &filters.session {
        Some(name) => match known_session(conn, name)? {
            None => return Ok(Vec::new()),
            known => known,
        },
        None => None,
    };
    let filtering = conditions(conn, filters, wanted)?;
    if filtering.iter().any(|condition| condition.newest.is_empty()) {
        return Ok(Vec::new());
    }
    let last: Option<i64> = conn.query_row("SELECT max(id) FROM entries", [], |row| row.get(0))?;
    let last = last.unwrap_or(0);
    let asked = terms.iter().map(|term| Condition::ask(conn, format!("content : {}", term.phrase)));
    let asked: Vec<Condition> = asked.collect::<Result<_>>()?;
    let holders: Vec<f64> = asked.iter().map(|condition| condition.holders(last)).collect();

    let sql = "SELECT content, session, mode, kind FROM entries WHERE id = ?1 AND timestamp >= ?2";
    let mut find = conn.prepare_cached(sql)?;
    let since = filters.since.unwrap_or(i64::MIN);
    let mut found: BTreeMap<i64, Candidate> = BTreeMap::new();
    for level in levels(&holders) {
        let together = filtering.iter().map(|condition| (condition, 0));
        let together = together.chain(level.iter().map(|at| (&asked[*at], 1u32 << at)));
        let (ids, bits) = leading(conn, &together.collect::<Vec<_>>())?;
        for id in ids {
            if let Some(known) = found.get_mut(&id) {
                known.matched |= bits;
                continue;
            }
            let read = |row: &Row<'_>| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, Mode>(2)?, row.get::<_, Kind>(3)?))
            };
            let Some((content, session, mode, kind)) = find.query_row((id, since), read).optional()? else { continue };
            if wanted.is_none_or(|wanted| wanted == session)
                && filters.mode.is_none_or(|wanted| wanted == mode)
                && (filters.kinds.is_empty() || filters.kinds.contains(&kind))
            {
                let candidate = Candidate { id, matched: bits, content };
                if rank::holds_any(&candidate, terms) {
                    found.insert(id, candidate);
                }
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
        hits.push(MemoryHit { entry, score: ranked.score, terms: ranked.terms });
    }
    Ok(hits)
}

/// The groups of terms that are asked for together, one try after the other.
fn levels(holders: &[f64]) -> Vec<Vec<usize>> {
    let mut known: Vec<usize> = (0..holders.len()).filter(|at| holders[*at] > 0.0).collect();
    known.sort_by(|a, b| holders[*a].total_cmp(&holders[*b]));
    let mut out = Vec::new();
    if known.len() > 1 {
        out.push(known.clone());
    }
    out.extend(known.into_iter().map(|at| vec![at]));
    out
}

/// The filters as conditions.
fn conditions(conn: &Connection, filters: &Filters, session: Option<i64>) -> Result<Vec<Condition>> {
    let session = session.map(|session| format!("s{session}"));
    let mode = filters.mode.map(|mode| format!("m{}", mode.name()));
    let mut expressions: Vec<String> = session.iter().chain(&mode).map(|tag| format!("tags : \"{tag}\"")).collect();
    if !filters.kinds.is_empty() {
        let kinds = filters.kinds.iter().map(|kind| format!("\"k{}\"", kind.name().replace('_', "")));
        expressions.push(format!("tags : ({})", kinds.collect::<Vec<_>>().join(" OR ")));
    }
    expressions.into_iter().map(|text| Condition::ask(conn, text)).collect()
}

/// Entries that may meet all conditions, newest first, and the bits of the conditions that they are known to meet.
fn leading(conn: &Connection, conditions: &[(&Condition, u32)]) -> Result<(Vec<i64>, u32)> {
    let rarest = conditions.iter().min_by_key(|(condition, _)| (condition.newest.len(), condition.reach()));
    let Some((rarest, bit)) = rarest else { return Ok((Vec::new(), 0)) };
    if conditions.len() > 1 && rarest.newest.len() >= DEPTH {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM entries_text WHERE entries_text MATCH ?1 LIMIT ?2)";
        let limit = DEEP as i64 + 1;
        let holders: i64 = conn.prepare_cached(sql)?.query_row((&rarest.expression, limit), |row| row.get(0))?;
        if holders < limit {
            let parts: Vec<String> =
                conditions.iter().map(|(condition, _)| format!("({})", condition.expression)).collect();
            let ids = matching(conn, &parts.join(" AND "))?;
            return Ok((ids, conditions.iter().fold(0, |bits, (_, bit)| bits | bit)));
        }
    }
    Ok((rarest.newest.clone(), *bit))
}

fn matching(conn: &Connection, expression: &str) -> Result<Vec<i64>> {
    let sql = "SELECT rowid FROM entries_text WHERE entries_text MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
    store::all(conn, sql, (expression, DEPTH as i64), |row| row.get(0))
}

#[cfg(test)]
mod tests;
