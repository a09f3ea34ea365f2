//! Shortens a long chat: the requests and their outcomes stay, the first request always; the middle goes.

use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use crate::memory::entries::{RECALLED, known_session, session};
use crate::memory::entry::{EntryId, Kind, Role};
use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};
use sextant_base::plural::counted;
use sextant_base::token_estimate::estimate;

/// One contribution to a chat.
#[derive(Clone, Debug)]
struct SummaryTurn {
    role: Role,
    text: String,
}

/// Characters that are kept of a request and of an outcome.
const PART: usize = 160;

/// Keeps the requests and their outcomes, word for word, in at most so many tokens by [`estimate`].
///
/// An exchange is one line: the request's beginning, and the beginning of the last paragraph of the last answer before
/// the next request. The first exchange is the aim and stays; then the newest, as many as fit.
fn extract(turns: &[SummaryTurn], limit_tokens: usize) -> String {
    let lines = exchanges(turns);
    let with = |newest: usize| {
        let dropped = lines.len() - 1 - newest;
        let mut out = vec![lines[0].clone()];
        if dropped > 0 {
            out.push(format!("({} left out)", counted(dropped, "exchange")));
        }
        out.extend_from_slice(&lines[lines.len() - newest..]);
        out.join("\n")
    };
    // A line is several tokens: trying more lines than tokens is of no use.
    let most = lines.len().min(limit_tokens);
    let fitting = (0..most).rev().map(with).find(|text| estimate(text) <= limit_tokens);
    fitting.unwrap_or_default()
}

fn exchanges(turns: &[SummaryTurn]) -> Vec<String> {
    let mut out: Vec<(String, Option<String>)> = Vec::new();
    for turn in turns {
        match (turn.role, out.last_mut()) {
            (Role::User, _) => out.push((beginning(&turn.text), None)),
            (Role::Assistant, Some((_, outcome))) => {
                let paragraphs = turn.text.split("\n\n").filter(|part| !part.trim().is_empty());
                *outcome = paragraphs.last().map(beginning).or(outcome.take());
            }
            // A tool's answer is the middle; text before the first request belongs to nothing.
            _ => {}
        }
    }
    out.into_iter()
        .map(|(request, outcome)| match outcome {
            Some(outcome) => format!("asked: {request} | outcome: {outcome}"),
            None => format!("asked: {request} | no outcome"),
        })
        .collect()
}

/// The first [`PART`] characters on one line, ended at a word.
fn beginning(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() && out.chars().count() + 1 + word.chars().count() > PART {
            return out + " …";
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().take(PART));
    }
    out
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub text: String,
    /// The entries that it stands for.
    pub first: EntryId,
    pub last: EntryId,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

impl Memory {
    /// Shortens a session's chat and keeps the result; the chat itself stays. `None` for an empty chat.
    pub fn summarise_chat(&self, name: &str, limit_tokens: usize, now_ms: i64) -> Result<Option<Summary>> {
        let chat = self.history(name, &[Kind::Chat], usize::MAX)?;
        let (Some(first), Some(last)) = (chat.first(), chat.last()) else { return Ok(None) };
        // The result of work that was undone is no outcome.
        let turn = |entry: &crate::memory::entry::Entry| {
            (entry.entry.relevance >= RECALLED).then_some(())?;
            Some(SummaryTurn { role: entry.entry.role?, text: entry.entry.content.clone() })
        };
        let turns: Vec<SummaryTurn> = chat.iter().filter_map(turn).collect();
        let text = extract(&turns, limit_tokens);
        let tokens_before = chat.iter().map(|entry| estimate(&entry.entry.content) as u64).sum();
        let tokens_after = estimate(&text) as u64;
        let summary = Summary { text, first: first.id, last: last.id, tokens_before, tokens_after };
        let (kept, name) = (summary.clone(), name.to_owned());
        self.write(move |conn| {
            let session = session(conn, &name)?;
            conn.execute("DELETE FROM summaries WHERE session = ?1", [session])?;
            let sql = "INSERT INTO summaries (session, first_entry, last_entry, text, tokens_before, tokens_after, created) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let (before, after) = (kept.tokens_before.cast_signed(), kept.tokens_after.cast_signed());
            conn.execute(sql, (session, kept.first.0, kept.last.0, &kept.text, before, after, now_ms))?;
            Ok(())
        })?;
        Ok(Some(summary))
    }

    pub fn summary(&self, name: &str) -> Result<Option<Summary>> {
        self.read(|conn| {
            let Some(session) = known_session(conn, name)? else { return Ok(None) };
            let sql = "SELECT text, first_entry, last_entry, tokens_before, tokens_after FROM summaries \
                       WHERE session = ?1 ORDER BY last_entry DESC LIMIT 1";
            let read = |row: &rusqlite::Row<'_>| {
                let (first, last) = (EntryId(row.get(1)?), EntryId(row.get(2)?));
                let count = |at| crate::memory::store::unsigned(row, at);
                Ok(Summary { text: row.get(0)?, first, last, tokens_before: count(3)?, tokens_after: count(4)? })
            };
            Ok(conn.prepare_cached(sql)?.query_row([session], read).optional()?)
        })
    }

    /// Tokens of all chats before and after they were shortened.
    pub(in crate::memory) fn compression(&self) -> Result<(u64, u64)> {
        let sql = "SELECT coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0) FROM summaries";
        let unsigned = crate::memory::store::unsigned;
        let sums = self.read(|conn| store::all(conn, sql, [], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?))))?;
        Ok(sums.first().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::entry::{Mode, NewEntry};

    fn turn(role: Role, text: &str) -> SummaryTurn {
        SummaryTurn { role, text: text.to_owned() }
    }

    #[test]
    fn requests_and_outcomes_stay_and_the_middle_goes() {
        let mut turns = vec![turn(Role::User, "Fix the cart"), turn(Role::Assistant, "Looking.\n\nFixed `total`.")];
        for n in 0..20 {
            turns.push(turn(Role::User, &format!("question {n}")));
            turns.push(turn(Role::Tool, "a long listing"));
            turns.push(turn(Role::Assistant, &format!("thinking\n\nanswer {n}")));
        }
        let text = extract(&turns, 60);
        assert!(text.starts_with("asked: Fix the cart | outcome: Fixed `total`.\n("), "{text}");
        assert!(text.ends_with("asked: question 19 | outcome: answer 19"), "{text}");
        assert!(text.contains("exchanges left out") && !text.contains("listing") && !text.contains("thinking"));
        assert_eq!(extract(&[], 60), "");
    }

    #[test]
    fn a_summary_is_kept_with_what_it_stands_for() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        assert_eq!(memory.summarise_chat("s", 100, 1).unwrap(), None);
        for (role, text) in [(Role::User, "Rename it"), (Role::Assistant, "Renamed in 4 files.")] {
            let entry = NewEntry { role: Some(role), ..NewEntry::new("s", Mode::Simple, Kind::Chat, text, 1) };
            memory.append(entry).unwrap();
        }
        let made = memory.summarise_chat("s", 100, 2).unwrap();
        assert_eq!(memory.summary("s").unwrap(), made);
        assert_eq!(made.unwrap().text, "asked: Rename it | outcome: Renamed in 4 files.");
    }

    proptest! {
        #[test]
        fn a_summary_never_goes_over_its_limit(
            texts in proptest::collection::vec(("\\PC{0,300}", proptest::sample::select(Role::ALL)), 0..20),
            limit in 0..200usize,
        ) {
            let turns: Vec<SummaryTurn> = texts.iter().map(|(text, role)| turn(*role, text)).collect();
            prop_assert!(estimate(&extract(&turns, limit)) <= limit);
        }
    }
}
