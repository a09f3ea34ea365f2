//! Keeps answers that came after their deadline: the last one of each client for each file, up to a limit.

use std::collections::VecDeque;

use crate::lua_messages::ClientReport;

/// The most answers that wait. No task takes them while none runs; each may have as many diagnostics as a report.
const MOST: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    entries: VecDeque<ClientReport>,
    /// The number of answers dropped since the last look, the oldest first.
    dropped: usize,
}

impl Waiting {
    /// Adds one more, in the place of the earlier answer of its client for its file.
    pub(super) fn add(&mut self, mut entry: ClientReport) {
        let same = |known: &ClientReport| known.client == entry.client && known.path == entry.path;
        if let Some(at) = self.entries.iter().position(same)
            && let Some(before) = self.entries.remove(at)
        {
            // The answer that this one amends was never read, so this one is the answer itself.
            entry.amends &= before.amends || before.tick != entry.tick;
        }
        if self.entries.len() == MOST {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.entries.push_back(entry);
    }

    /// The waiting answers, the oldest first, and the number of dropped ones.
    pub(super) fn take(&mut self) -> (Vec<ClientReport>, usize) {
        (std::mem::take(&mut self.entries).into(), std::mem::take(&mut self.dropped))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(client: &str, path: &str, tick: i64, amends: bool) -> ClientReport {
        let entry = json!({"client": client, "path": path, "how": "exact", "tick": tick, "ms": 1, "encoding": "utf-16",
            "amends": amends});
        serde_json::from_value(entry).unwrap()
    }

    fn ticks(waiting: &mut Waiting) -> Vec<(String, i64, bool)> {
        waiting.take().0.into_iter().map(|entry| (entry.path, entry.tick, entry.amends)).collect()
    }

    #[test]
    fn of_each_client_and_file_the_last_word_waits() {
        let mut waiting = Waiting::default();
        for (client, path, tick, amends) in
            [("a", "x", 1, false), ("b", "x", 1, false), ("a", "y", 1, true), ("a", "x", 2, false), ("a", "x", 2, true)]
        {
            waiting.add(entry(client, path, tick, amends));
        }
        let expected = [("x".to_owned(), 1, false), ("y".to_owned(), 1, true), ("x".to_owned(), 2, false)];
        assert_eq!(ticks(&mut waiting), expected, "an amendment of what nobody has read is the answer");
        assert!(ticks(&mut waiting).is_empty());
    }

    #[test]
    fn the_oldest_of_too_many_go_and_are_counted() {
        let mut waiting = Waiting::default();
        for tick in 0..5_000 {
            waiting.add(entry("a", &format!("f{tick}"), tick, false));
        }
        let (left, dropped) = waiting.take();
        assert_eq!((left.len(), left[0].tick, dropped), (MOST, 4_800, 4_800));
        assert_eq!(waiting.take().1, 0, "reported once");
    }
}
