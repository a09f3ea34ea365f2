//! Numbers the answers that came after their deadline: every task finds those since it looked last, by any collector.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::state::snapshots::{Snapshot, SnapshotKey, Snapshots, add_missing};

/// Most answers that are kept; a task that looks later misses the older ones.
const MOST: usize = 4096;

/// The late answers of a session.
#[derive(Debug, Default)]
pub(crate) struct LateLog {
    /// The oldest first, each with the state before it, if nobody had asked about its file.
    entries: VecDeque<(SnapshotKey, Option<Arc<Snapshot>>)>,
    /// How many there were in all.
    count: u64,
}

/// Late answers since a task looked last.
#[derive(Debug, Default)]
pub(crate) struct LateSince {
    pub(crate) keys: BTreeSet<SnapshotKey>,
    /// The state before those of files that nobody had asked about.
    pub(crate) before: Snapshots,
}

impl LateLog {
    pub(crate) fn note(&mut self, key: SnapshotKey, before: Option<Arc<Snapshot>>) {
        self.count += 1;
        self.entries.push_back((key, before));
        if self.entries.len() > MOST {
            self.entries.pop_front();
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Those behind the first `seen` ones.
    pub(crate) fn since(&self, seen: u64) -> LateSince {
        let new = usize::try_from(self.count.saturating_sub(seen)).unwrap_or(usize::MAX);
        let mut since = LateSince::default();
        for (key, before) in self.entries.iter().skip(self.entries.len().saturating_sub(new)) {
            since.keys.insert(key.clone());
            let before = before.iter().map(|snap| (key.clone(), Arc::clone(snap))).collect();
            add_missing(&mut since.before, &before);
        }
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_finds_the_answers_since_it_looked_last() {
        let key = |file: &str| (file.to_owned(), "lsp:one".to_owned());
        let before = Arc::new(Snapshot { text: None, diagnostics: Vec::new() });
        let mut log = LateLog::default();
        log.note(key("a.py"), None);
        let seen = log.count();
        log.note(key("b.py"), Some(Arc::clone(&before)));
        for _ in 0..2 {
            let since = log.since(seen);
            assert_eq!(since.keys, BTreeSet::from([key("b.py")]), "reading takes nothing");
            assert_eq!(since.before, Snapshots::from([(key("b.py"), Arc::clone(&before))]));
        }
        assert_eq!(log.since(0).keys.len(), 2);
        assert!(log.since(log.count()).keys.is_empty());
    }
}
