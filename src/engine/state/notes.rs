//! The notes of one running task for memory: short sentences, approaches, counts. Never a file's content.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use sextant_base::clock::now_ms;
use sextant_base::one_line::headline;
use sextant_base::secrets::{self, mask};
use sextant_store::memory::entry::{EntryId, Kind, Role};

/// The beginning of the refusal of a fix that was applied and did no good.
pub(crate) const TAKEN_BACK: &str = "the fix was taken back";
/// Characters of one entry.
pub(crate) const SENTENCE: usize = 220;
/// Characters of an error inside its solution.
pub(crate) const CLAUSE: usize = 90;

/// One line of at most so many characters, without likely secrets.
pub(crate) fn short(text: &str, most: usize) -> String {
    let flat = mask(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = secrets::hide_likely(&flat);
    match flat.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &flat[..cut]),
        None => flat.into_owned(),
    }
}

/// An entry before it is written; session and mode are the task's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub(crate) kind: Kind,
    pub(crate) role: Option<Role>,
    pub(crate) content: String,
    pub(crate) tools: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) relevance: f64,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
}

/// An approach to a kind of task, and whether it worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approach {
    pub(crate) kind: String,
    pub(crate) approach: String,
    pub(crate) success: bool,
    pub(crate) note: String,
    /// The checkpoint of the work; empty where it belongs to the task as a whole.
    pub(crate) checkpoint: String,
}

/// The results of one task's lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tally {
    pub(crate) lookups: u32,
    pub(crate) hits: u32,
    /// Microseconds of all lookups together.
    pub(crate) retrieval_us: u32,
    /// Tokens of the entries found, and of those that prompts hold.
    pub(crate) found: u64,
    pub(crate) given: u64,
}

/// The working time of the agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorkClock {
    /// Milliseconds since 1970; 0 before it began.
    pub(crate) started: i64,
    since: Option<Instant>,
    worked: Duration,
}

impl WorkClock {
    /// Starts the clock, which runs while the agent works, not while a plan waits for its user.
    pub(crate) fn start(&mut self) {
        if self.started == 0 {
            self.started = now_ms();
        }
        self.since.get_or_insert_with(Instant::now);
    }

    pub(crate) fn stop(&mut self) {
        (self.worked, self.since) = (self.worked(), None);
    }

    pub(crate) fn worked(&self) -> Duration {
        self.worked + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// The figures of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorkCounts {
    /// Tool calls of the whole task.
    pub(crate) steps: u32,
    pub(crate) errors: u32,
    pub(crate) escalations: u32,
    pub(crate) calls_saved: u32,
}

/// The lookups in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookups {
    pub(crate) tally: Tally,
    /// `total` covers all lookups, `tally` those since the last conclusion.
    pub(crate) total: Tally,
    /// Entries that its prompts have held.
    pub(crate) recalled: BTreeSet<EntryId>,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) clock: WorkClock,
    pub(crate) counts: WorkCounts,
    pub(crate) lookups: Lookups,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) approaches: Vec<Approach>,
    /// Codes of the diagnostics of the last question, the worst first.
    pub(crate) codes: Vec<String>,
    /// True if a diagnostic was in view when it began.
    pub(crate) had_work: bool,
    /// Tool and words of an error without a repair so far.
    pub(crate) open_error: Option<(String, String)>,
}

/// The part of the notes that another process needs to count on. Grows by fields with defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counted {
    pub(crate) started: i64,
    pub(crate) worked_ms: u64,
    pub(crate) steps: u32,
    pub(crate) errors: u32,
    pub(crate) escalations: u32,
    pub(crate) calls_saved: u32,
    pub(crate) tally: Tally,
    pub(crate) total: Tally,
    pub(crate) approaches: Vec<Approach>,
    pub(crate) had_work: bool,
    pub(crate) open_error: Option<(String, String)>,
}

impl Counted {
    /// Concludes a run that ends or pauses: its own process learns its approaches.
    pub(crate) fn concluded(&mut self) {
        self.approaches.clear();
    }
}

impl Notes {
    /// The current figures. Drafts are written in their own time and are not part of them.
    pub(crate) fn counted(&self) -> Counted {
        let WorkCounts { steps, errors, escalations, calls_saved } = self.counts;
        Counted {
            started: self.clock.started,
            worked_ms: u64::try_from(self.clock.worked().as_millis()).unwrap_or(u64::MAX),
            steps,
            errors,
            escalations,
            calls_saved,
            tally: self.lookups.tally,
            total: self.lookups.total,
            approaches: self.approaches.clone(),
            had_work: self.had_work,
            open_error: self.open_error.clone(),
        }
    }

    /// Continues the count of another process; the clock stands.
    pub(crate) fn count_on(counted: Counted) -> Self {
        let Counted { steps, errors, escalations, calls_saved, tally, total, .. } = counted;
        let worked = Duration::from_millis(counted.worked_ms);
        Self {
            clock: WorkClock { started: counted.started, since: None, worked },
            counts: WorkCounts { steps, errors, escalations, calls_saved },
            lookups: Lookups { tally, total, ..Lookups::default() },
            approaches: counted.approaches,
            had_work: counted.had_work,
            open_error: counted.open_error,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, kind: Kind, text: &str) -> &mut Draft {
        self.drafts.push(Draft {
            kind,
            role: None,
            content: short(text, SENTENCE),
            tools: Vec::new(),
            files: Vec::new(),
            relevance: 1.0,
            at: now_ms(),
        });
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    pub(crate) fn said(&mut self, role: Role, text: &str) {
        if text.is_empty() {
            return;
        }
        self.add(Kind::Chat, text).role = Some(role);
    }
}

/// The first line of a tool's answer up to the first quotation: the rest may be a piece of a file.
pub(crate) fn plain(text: &str) -> String {
    let line = headline(text);
    let end = line.find(['`', '"']).filter(|at| *at > 0).unwrap_or(line.len());
    line[..end].trim_end_matches([' ', ':', '(']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_hidden_and_the_rest_is_short() {
        for secret in ["use sk-abcdefghijklmnop1234 now", "la contraseña es hunter2", "API_KEY=abc123", "token: xyz"] {
            assert!(secrets::holds_likely(secret) && short(secret, 99).contains("(hidden)"), "{secret}");
        }
        assert!(!secrets::holds_likely("rename the token parser in a.py::tokenize"));
        assert_eq!(short("a  b\nc", 99), "a b c");
        assert_eq!(short("abcdef", 3), "abc…");
        assert_eq!(
            plain("old_string is not in a.py; the closest is `x = secret()`"),
            "old_string is not in a.py; the closest is"
        );
    }
}
