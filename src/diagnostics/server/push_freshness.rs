//! The rules of freshness for servers that push: the proof that the publishes for a text give.

use std::time::{Duration, Instant};

use crate::model::{Freshness, Reach};
use crate::server::documents::{OpenDocument, Published};
use crate::server::header_files::directives;
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
    /// It gets saves and not changes: the version that it names is that of the opening.
    pub reads_disk: bool,
}

/// Judges the publishes since the file was last sent; `epoch` is that of the documents now.
pub(super) fn judge(document: &OpenDocument, epoch: u64, habits: Habits, now: Instant) -> SettleVerdict {
    let ours = |publish: &Published| publish.version == Some(document.version);
    // A version proves nothing about the other files: it proves freshness only if none that matters changed since.
    let is_alone = habits.reach == Reach::File || habits.headers == Some(document.headers);
    let proves = !habits.reads_disk && (is_alone || document.changed == epoch);
    let since = |publish: &Published| publish.epoch == epoch || habits.reach == Reach::File;
    let last = |wanted: &dyn Fn(&Published) -> bool| document.published.since_sent.iter().rposition(wanted);
    let quiet_in = |index: usize| {
        let silent = now.saturating_duration_since(document.published.since_sent[index].at);
        QUIET.checked_sub(silent).filter(|left| !left.is_zero())
    };

    if proves && let Some(index) = last(&ours) {
        let count = document.published.since_sent.iter().filter(|publish| ours(publish)).count();
        let waits = habits.two_phase || !habits.once;
        return match (count >= needed(document, habits), waits, quiet_in(index)) {
            (false, ..) => SettleVerdict::Wait(None),
            (true, true, Some(left)) => SettleVerdict::Wait(Some(left)),
            (true, ..) if habits.once => SettleVerdict::Settled(index, Freshness::Versioned),
            (true, ..) => SettleVerdict::Settled(index, Freshness::Quiet),
        };
    }
    let unversioned = |publish: &Published| publish.version.is_none() || habits.reads_disk;
    let vague = |publish: &Published| since(publish) && (unversioned(publish) || ours(publish));
    match last(&vague) {
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

    use super::*;
    use crate::server::documents::Publishes;

    const PLAIN: Habits = Habits {
        reach: Reach::Project,
        two_phase: false,
        once: true,
        preamble: false,
        headers: None,
        reads_disk: false,
    };

    struct Case {
        document: OpenDocument,
        start: Instant,
    }

    /// A file at version 3, changed in epoch 5, with publishes of (version, milliseconds, epoch).
    fn case(publishes: &[(Option<i64>, u64, u64)]) -> Case {
        let start = Instant::now();
        let published = publishes.iter().map(|&(version, ms, epoch)| Published {
            version,
            items: Arc::default(),
            at: start + Duration::from_millis(ms),
            epoch,
        });
        let document = OpenDocument {
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
        };
        Case { document, start }
    }

    impl Case {
        fn at(&self, ms: u64, epoch: u64, habits: Habits) -> SettleVerdict {
            judge(&self.document, epoch, habits, self.start + Duration::from_millis(ms))
        }
    }

    fn wait(ms: u64) -> SettleVerdict {
        SettleVerdict::Wait(Some(Duration::from_millis(ms)))
    }

    #[test]
    fn only_our_version_is_versioned() {
        assert_eq!(case(&[]).at(900, 5, PLAIN), SettleVerdict::Wait(None));
        assert_eq!(case(&[(Some(2), 0, 5), (Some(4), 1, 5)]).at(900, 5, PLAIN), SettleVerdict::Wait(None));
        assert_eq!(
            case(&[(Some(3), 0, 5), (Some(2), 1, 5)]).at(1, 5, PLAIN),
            SettleVerdict::Settled(0, Freshness::Versioned)
        );
    }

    #[test]
    fn the_version_of_a_server_that_is_not_known_to_publish_once_is_a_guess() {
        let unknown = Habits { once: false, ..PLAIN };
        let case = case(&[(Some(3), 0, 5)]);
        assert_eq!(case.at(10, 5, unknown), wait(240));
        assert_eq!(case.at(250, 5, unknown), SettleVerdict::Settled(0, Freshness::Quiet));
    }

    #[test]
    fn versionless_needs_quiet_and_is_never_fresh() {
        let case = case(&[(None, 0, 5), (None, 200, 5)]);
        assert_eq!(case.at(210, 5, PLAIN), wait(240));
        assert_eq!(case.at(449, 5, PLAIN), wait(1));
        assert_eq!(case.at(450, 5, PLAIN), SettleVerdict::Settled(1, Freshness::Quiet));
    }

    #[test]
    fn after_a_change_elsewhere_the_version_is_proof_where_only_headers_matter_and_none_was_written() {
        let before = case(&[(Some(3), 0, 5)]);
        let clangd = |headers| Habits { headers: Some(headers), ..PLAIN };
        assert_eq!(before.at(900, 6, clangd(0)), SettleVerdict::Settled(0, Freshness::Versioned));
        assert_eq!(before.at(900, 6, clangd(1)), SettleVerdict::Wait(None));
    }

    #[test]
    fn after_a_change_elsewhere_the_version_proves_nothing_unless_the_server_looks_at_one_file() {
        let before = case(&[(Some(3), 0, 5)]);
        assert_eq!(before.at(900, 6, PLAIN), SettleVerdict::Wait(None));
        let file = Habits { reach: Reach::File, ..PLAIN };
        assert_eq!(before.at(900, 6, file), SettleVerdict::Settled(0, Freshness::Versioned));
        let after = case(&[(Some(3), 0, 5), (Some(3), 100, 6)]);
        assert_eq!(after.at(120, 6, PLAIN), wait(230));
        assert_eq!(after.at(350, 6, PLAIN), SettleVerdict::Settled(1, Freshness::Quiet));
    }

    #[test]
    fn a_version_of_a_reader_of_the_disk_is_that_of_the_opening() {
        let disk = Habits { reads_disk: true, ..PLAIN };
        assert_eq!(case(&[(Some(1), 0, 5)]).at(250, 5, disk), SettleVerdict::Settled(0, Freshness::Quiet));
        assert_eq!(case(&[(Some(3), 0, 5)]).at(250, 5, disk), SettleVerdict::Settled(0, Freshness::Quiet));
        assert_eq!(case(&[(Some(1), 0, 5)]).at(250, 5, PLAIN), SettleVerdict::Wait(None));
    }

    #[test]
    fn a_changed_preamble_needs_two_publishes_and_the_second_counts() {
        let clangd = Habits { preamble: true, ..PLAIN };
        let mut one = case(&[(Some(3), 0, 5)]);
        assert_eq!(one.at(0, 5, clangd), SettleVerdict::Settled(0, Freshness::Versioned), "nothing settled before");
        one.document.directives = Some(vec!["#include <set>".into()]);
        assert_eq!(one.at(0, 5, clangd), SettleVerdict::Settled(0, Freshness::Versioned), "the same preamble");
        one.document.directives = Some(vec![]);
        assert_eq!(one.at(900, 5, clangd), SettleVerdict::Wait(None));
        let mut two = case(&[(Some(3), 0, 5), (Some(3), 800, 5)]);
        two.document.directives = Some(vec![]);
        assert_eq!(two.at(800, 5, clangd), SettleVerdict::Settled(1, Freshness::Versioned));
    }

    #[test]
    fn a_server_seen_to_publish_twice_is_given_time_for_the_second() {
        let habits = Habits { two_phase: true, ..PLAIN };
        let case = case(&[(Some(3), 0, 5), (Some(3), 100, 5)]);
        assert_eq!(case.at(100, 5, habits), wait(250));
        assert_eq!(case.at(350, 5, habits), SettleVerdict::Settled(1, Freshness::Versioned));
    }
}
