//! The rules of freshness for servers that push: the proof that the publishes for a text give.
//!
//! `lua/sextant/lsp/push_freshness.lua` has the same rules, but for a list from before a change elsewhere. One table of
//! cases holds for both, and names the difference.

use std::time::{Duration, Instant};

use crate::model::{Freshness, Reach};
use crate::server::documents::{OpenDocument, Published};
use crate::server::header_files::directives;
use crate::server::sourced_files::sources_others;
use crate::server_facts::QUIET;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettleVerdict {
    /// The publish at this index of the document's list is the answer.
    Settled(usize, Freshness),
    /// No answer yet; look again after this time if there is one, or at the next event.
    Wait(Option<Duration>),
}

/// The known habits of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub reach: Reach,
    /// It was seen to publish twice for one version.
    pub two_phase: bool,
    /// It is known to publish a version once and whole: only then does a version prove anything.
    pub once: bool,
    /// It publishes once with the old preamble where `#` lines changed (clangd).
    pub preamble: bool,
    /// Edits of other files concern one only through headers; how many of those were written.
    pub headers: Option<u64>,
    /// It looks at a text when it gets it, and other files matter only to one that sources them.
    pub looks_once: bool,
    /// It gets saves and not changes: the version that it names is that of the opening.
    pub reads_disk: bool,
}

/// Judges the publishes since the file was last sent; `epoch` is that of the documents now.
pub(super) fn judge(document: &OpenDocument, epoch: u64, habits: Habits, now: Instant) -> SettleVerdict {
    let ours = |publish: &Published| publish.version == Some(document.version);
    // A version proves nothing about the other files: it proves freshness only if none that matters changed since.
    let sources_none = habits.looks_once && !sources_others(&document.text);
    let is_alone = sources_none || habits.reach == Reach::File || habits.headers == Some(document.headers);
    let proves = !habits.reads_disk && (is_alone || document.changed == epoch);
    let since = |publish: &Published| publish.epoch == epoch || habits.reach == Reach::File;
    let last = |wanted: &dyn Fn(&Published) -> bool| document.published.since_sent.iter().rposition(wanted);
    let quiet_in = |index: usize| {
        let silent = now.saturating_duration_since(document.published.since_sent[index].at);
        QUIET.checked_sub(silent).filter(|left| !left.is_zero())
    };

    // A list without a version that came later may be of the same text.
    let unversioned = |publish: &Published| publish.version.is_none() || habits.reads_disk;
    let last_own = last(&|publish| ours(publish) || unversioned(publish));
    let own = |index: usize| &document.published.since_sent[index];
    if let Some(index) = last_own.filter(|index| proves && ours(own(*index))) {
        let count = document.published.since_sent.iter().filter(|publish| ours(publish)).count();
        let waits = habits.two_phase || !habits.once;
        return match (count >= needed(document, habits), waits, quiet_in(index)) {
            (false, ..) => SettleVerdict::Wait(None),
            (true, true, Some(left)) => SettleVerdict::Wait(Some(left)),
            (true, ..) if habits.once => SettleVerdict::Settled(index, Freshness::Versioned),
            (true, ..) => SettleVerdict::Settled(index, Freshness::Quiet),
        };
    }
    match last_own.filter(|index| since(own(*index))) {
        None => SettleVerdict::Wait(None),
        Some(index) => match quiet_in(index) {
            Some(left) => SettleVerdict::Wait(Some(left)),
            None => SettleVerdict::Settled(index, Freshness::Quiet),
        },
    }
}

fn needed(document: &OpenDocument, habits: Habits) -> usize {
    let changed = || document.directives.as_ref().is_some_and(|before| *before != directives(&document.text));
    if habits.preamble && changed() { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde::Deserialize;

    use super::*;
    use crate::server::documents::Publishes;

    const PLAIN: Habits = Habits {
        reach: Reach::Project,
        two_phase: false,
        once: true,
        preamble: false,
        headers: None,
        looks_once: false,
        reads_disk: false,
    };

    /// A file at version 3, changed in epoch 5, with publishes of (version, milliseconds, epoch).
    fn document(publishes: &[(Option<i64>, u64, u64)], start: Instant) -> OpenDocument {
        let published = publishes.iter().map(|&(version, ms, epoch)| Published {
            version,
            items: Arc::default(),
            at: start + Duration::from_millis(ms),
            epoch,
        });
        OpenDocument {
            uri: String::new(),
            language: String::new(),
            version: 3,
            text: Arc::from("#include <set>\nint x;\n"),
            changed: 5,
            published: Publishes { since_sent: published.collect(), ..Publishes::default() },
            settled: None,
            opened: 1,
            saved: None,
            directives: None,
            headers: 0,
            open: true,
        }
    }

    /// One of the cases that hold in Lua too.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct SharedCase {
        name: String,
        /// It is not known to publish once.
        again: bool,
        one_file: bool,
        two_phase: bool,
        reads_disk: bool,
        /// The directives of the text have changed.
        preamble: bool,
        publishes: Vec<(Option<i64>, u64, u64)>,
        epoch: u64,
        ms: u64,
        /// `wait`, `versioned` or `quiet`, and the publish.
        verdict: String,
        publish: usize,
        /// The milliseconds of a wait; none for a wait until the next publish.
        wait_ms: Option<u64>,
    }

    #[test]
    fn the_cases_that_hold_at_every_door_hold_here() {
        let cases = include_str!("../../../tests/fixtures/freshness.json");
        let cases: Vec<SharedCase> = serde_json::from_str(cases).unwrap();
        assert!(cases.len() >= 20);
        for case in cases {
            let start = Instant::now();
            let mut document = document(&case.publishes, start);
            document.directives = case.preamble.then(Vec::new);
            let habits = Habits {
                reach: if case.one_file { Reach::File } else { Reach::Project },
                two_phase: case.two_phase,
                once: !case.again,
                preamble: case.preamble,
                reads_disk: case.reads_disk,
                ..PLAIN
            };
            let expected = match case.verdict.as_str() {
                "wait" => SettleVerdict::Wait(case.wait_ms.map(Duration::from_millis)),
                "versioned" => SettleVerdict::Settled(case.publish, Freshness::Versioned),
                _ => SettleVerdict::Settled(case.publish, Freshness::Quiet),
            };
            let now = start + Duration::from_millis(case.ms);
            assert_eq!(judge(&document, case.epoch, habits, now), expected, "{}", case.name);
        }
    }

    #[test]
    fn after_a_change_elsewhere_the_version_is_proof_where_only_headers_matter_and_none_was_written() {
        let start = Instant::now();
        let before = document(&[(Some(3), 0, 5)], start);
        let at = |headers| {
            let clangd = Habits { headers: Some(headers), ..PLAIN };
            judge(&before, 6, clangd, start + Duration::from_millis(900))
        };
        assert_eq!(at(0), SettleVerdict::Settled(0, Freshness::Versioned));
        assert_eq!(at(1), SettleVerdict::Wait(None));
    }

    #[test]
    fn after_a_change_elsewhere_the_version_is_proof_for_a_script_that_sources_nothing() {
        let start = Instant::now();
        let bash = Habits { looks_once: true, ..PLAIN };
        let mut script = document(&[(Some(3), 0, 5)], start);
        assert_eq!(judge(&script, 6, bash, start), SettleVerdict::Settled(0, Freshness::Versioned));
        script.text = Arc::from(". lib.sh\n");
        assert_eq!(judge(&script, 6, bash, start), SettleVerdict::Wait(None));
    }

    #[test]
    fn the_same_preamble_needs_one_publish() {
        let start = Instant::now();
        let clangd = Habits { preamble: true, ..PLAIN };
        let mut one = document(&[(Some(3), 0, 5)], start);
        assert_eq!(judge(&one, 5, clangd, start), SettleVerdict::Settled(0, Freshness::Versioned), "the first answer");
        one.directives = Some(vec!["#include <set>".into()]);
        assert_eq!(judge(&one, 5, clangd, start), SettleVerdict::Settled(0, Freshness::Versioned));
    }
}
