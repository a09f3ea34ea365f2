//! Full-text search whose cost does not grow with the number of entries that hold a common word.
//!
//! The index's own ranking reads every hit of every word, so a common word costs hundreds of milliseconds on a million
//! entries. Here the newest part of the file is asked for entries that hold all words, then each word for its newest
//! [`DEPTH`] holders, the rarest word first, until there are enough. Entries with more of the words come first, then
//! the newest.

mod search_words;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::memory::entry::{COLUMNS, Entry, from_row};
use crate::memory::memory_error::Result;
use crate::memory::search::search_words::Term;
use crate::memory::store::{self, Memory};

/// The number of newest holders of a word that are considered.
pub const DEPTH: usize = 200;

/// The newest entries among which all words are looked for together: two common words that never meet are compared to
/// the end.
const TOGETHER: i64 = 50_000;

/// The most hits that one search brings.
pub const HITS: usize = 100;

/// Bytes of a text that ranking reads: a long output must not make a search slow.
const READ: usize = 4096;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryHit {
    pub entry: Entry,
    /// The number of parts of the question that it holds.
    pub terms: u32,
}

/// The newest holders of some terms; a bit for each of the terms.
struct Holders {
    newest: Vec<i64>,
    bits: u32,
}

impl Memory {
    /// Entries that hold words of the text, best first, [`HITS`] at most. A text without words finds nothing.
    pub fn search(&self, text: &str, limit: usize) -> Result<Vec<MemoryHit>> {
        let terms = search_words::terms(text);
        let limit = limit.min(HITS);
        if terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        self.read(|conn| search(conn, &terms, limit))
    }
}

fn search(conn: &Connection, terms: &[Term], limit: usize) -> Result<Vec<MemoryHit>> {
    let mut find = conn.prepare_cached("SELECT content FROM entries WHERE id = ?1")?;
    // The bits of the terms that each entry holds.
    let mut found: BTreeMap<i64, u32> = BTreeMap::new();
    for holders in by_rarity(conn, terms)? {
        for id in holders.newest {
            if let Some(bits) = found.get_mut(&id) {
                *bits |= holders.bits;
            } else if let Some(content) = find.query_row([id], |row| row.get::<_, String>(0)).optional()? {
                found.insert(id, holders.bits | held(&content, terms));
            }
        }
        if found.len() >= limit {
            break;
        }
    }
    let mut best: Vec<(u32, i64)> = found.into_iter().map(|(id, bits)| (bits.count_ones(), id)).collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(limit);
    let sql =
        format!("SELECT {COLUMNS} FROM entries JOIN sessions ON sessions.id = entries.session WHERE entries.id = ?1");
    let mut read = conn.prepare_cached(&sql)?;
    best.into_iter().map(|(terms, id)| Ok(MemoryHit { entry: read.query_row([id], from_row)?, terms })).collect()
}

/// The holders of all terms together, then those of each, the rarest first.
fn by_rarity(conn: &Connection, terms: &[Term]) -> Result<Vec<Holders>> {
    let mut each = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        let holders = Holders { newest: newest(conn, &term.phrase, 0)?, bits: 1 << at };
        if !holders.newest.is_empty() {
            each.push(holders);
        }
    }
    // Of two words with as many holders here, the rarer one's reach back further.
    each.sort_by_key(|holders| (holders.newest.len(), holders.newest.last().copied()));
    if each.len() > 1 {
        let bits = each.iter().fold(0, |bits, holders| bits | holders.bits);
        let held = terms.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        let all: Vec<&str> = held.map(|(_, term)| term.phrase.as_str()).collect();
        let last: i64 = conn.query_row("SELECT coalesce(max(id), 0) FROM entries", [], |row| row.get(0))?;
        each.insert(0, Holders { newest: newest(conn, &all.join(" AND "), last - TOGETHER)?, bits });
    }
    Ok(each)
}

/// The newest entries behind `after` that an expression of the index's language is true of.
fn newest(conn: &Connection, expression: &str, after: i64) -> Result<Vec<i64>> {
    let sql = "SELECT rowid FROM entries_text WHERE entries_text MATCH ?1 AND rowid > ?2 ORDER BY rowid DESC LIMIT ?3";
    store::all(conn, sql, (format!("content : ({expression})"), after, DEPTH as i64), |row| row.get(0))
}

/// The bits of the terms in the first [`READ`] bytes of a text.
fn held(content: &str, terms: &[Term]) -> u32 {
    let text: Vec<_> = search_words::words(&content[..content.floor_char_boundary(READ)]).collect();
    let holds = |term: &Term| text.windows(term.words.len()).any(|part| part == term.words);
    terms.iter().enumerate().filter(|(_, term)| holds(term)).fold(0, |bits, (at, _)| bits | 1 << at)
}

#[cfg(test)]
mod tests;
