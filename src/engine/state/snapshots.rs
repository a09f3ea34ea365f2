//! The known diagnostics: for each file and provider the last fresh report, with the text that it is about.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::state::brought_by_others::BroughtByOthers;
use sextant_diagnostics::files_outside_root;
use sextant_diagnostics::model::{Diagnostic, Freshness, Report, Unasked};
use sextant_diagnostics::syntax;

/// A fresh report and its text. `text` is `None` where the file does not exist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snapshot {
    pub text: Option<Arc<str>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Path relative to the root, and provider.
pub(crate) type SnapshotKey = (String, String);

/// Fresh knowledge at one moment; cheap to keep as a baseline.
pub(crate) type Snapshots = BTreeMap<SnapshotKey, Arc<Snapshot>>;

/// The looks in a row that a provider lets time out before it counts as hung. A busy machine misses one.
const HUNG: u32 = 2;

/// The most differences by others that are kept for the lists and tasks that began before them.
const MOST_BROUGHT: usize = 1_000;

/// The live store: every baseline comes from here, so that no edit waits for one without need.
#[derive(Debug, Default)]
pub(crate) struct SnapshotStore {
    last: Snapshots,
    /// Providers that were asked last and did not answer about the text as it was.
    silent: BTreeSet<SnapshotKey>,
    /// Providers that have reported on a file that others edited, and so are asked again after each such edit.
    from_beside: BTreeSet<SnapshotKey>,
    /// Providers that have reported on an outdated text of the file.
    outdated: BTreeSet<SnapshotKey>,
    /// Files that all providers were asked about: for a bystander, only these are the ones that an edit elsewhere may
    /// concern.
    whole: BTreeSet<String>,
    /// How many looks in a row each provider has let time out.
    timeouts: BTreeMap<String, u32>,
    /// Reports from before a change that others have made on disk, of any file.
    overtaken: BTreeSet<SnapshotKey>,
    /// The differences that such changes have made, the oldest first, and how many were dropped before them.
    brought: VecDeque<BroughtByOthers>,
    dropped: usize,
    /// Files that nobody has asked about: one provider has reported on them all the same.
    unasked: BTreeSet<String>,
}

impl SnapshotStore {
    /// Takes a report on exactly this text. A report that is not fresh changes nothing.
    pub(crate) fn take(&mut self, report: &Report, text: &Arc<str>) {
        if report.freshness.is_fresh() {
            let key = (report.file.clone(), report.provider.clone());
            self.unasked.remove(&report.file);
            self.timeouts.remove(&report.provider);
            self.silent.remove(&key);
            self.outdated.remove(&key);
            let is_first = self.overtaken.remove(&key);
            let after = Arc::new(Snapshot { text: Some(Arc::clone(text)), diagnostics: report.diagnostics.clone() });
            let before = self.last.insert(key.clone(), Arc::clone(&after));
            let before = before.filter(|old| is_first && old.text == after.text && old != &after);
            self.brought.extend(before.map(|before| BroughtByOthers { key, before, after }));
            // Each holds a text, and a session may last for weeks.
            if self.brought.len() > MOST_BROUGHT {
                self.brought.pop_front();
                self.dropped += 1;
            }
        }
    }

    /// Takes a report on a file that nobody asked about.
    pub(crate) fn take_unasked(&mut self, report: &Report, unasked: &Unasked) {
        if files_outside_root::is_outside(&report.file) {
            self.silent.remove(&(report.file.clone(), report.provider.clone()));
            return;
        }
        let is_unasked = self.unasked.contains(&report.file) || self.of(&report.file).next().is_none();
        self.take(report, &unasked.text);
        self.unasked.extend(is_unasked.then(|| report.file.clone()));
    }

    /// Notes that others have changed a file on disk, on which any known report may depend.
    pub(crate) fn note_overtaken(&mut self) {
        self.overtaken.extend(self.last.keys().filter(|(_, provider)| provider != syntax::NAME).cloned());
    }

    /// The number of changes by others that have brought or taken diagnostics.
    pub(crate) fn brought(&self) -> usize {
        self.dropped + self.brought.len()
    }

    /// The known ones of them behind the first ones.
    pub(crate) fn brought_since(&self, count: usize) -> Vec<BroughtByOthers> {
        self.brought.iter().skip(count.saturating_sub(self.dropped)).cloned().collect()
    }

    /// The providers of known reports.
    pub(crate) fn providers(&self) -> impl Iterator<Item = &str> {
        self.last.keys().map(|(_, provider)| provider.as_str())
    }

    /// Notes that all providers were asked about a file, whatever their answers.
    pub(crate) fn note_whole(&mut self, file: &str) {
        self.whole.insert(file.to_owned());
    }

    /// True if everything about a file is known, for exactly this text.
    pub(crate) fn is_whole(&self, file: &str, text: &str) -> bool {
        self.whole.contains(file) && self.is_current(file, text)
    }

    /// True if all providers were ever asked about a file.
    pub(crate) fn was_asked(&self, file: &str) -> bool {
        self.whole.contains(file)
    }

    /// Notes the providers that report on files that others edit.
    pub(crate) fn note_beside(&mut self, reports: &[Report], bystanders: &[String]) {
        let beside = reports.iter().filter(|report| report.freshness.is_fresh() && bystanders.contains(&report.file));
        self.from_beside.extend(beside.map(|report| (report.file.clone(), report.provider.clone())));
    }

    /// Providers that reported on one of these files before and are silent now. Their diagnostics are unknown until
    /// they report again, or were [`Self::let_go`]. `attached` are the editor's clients, where it has some: for a file
    /// that others edit, an attached client that was not asked has no report to give.
    pub(crate) fn missing(
        &self,
        reports: &[Report],
        edited: &[String],
        bystanders: &[String],
        attached: Option<&[SnapshotKey]>,
    ) -> Vec<SnapshotKey> {
        let anywhere = |provider: &str| reports.iter().any(|report| report.provider == provider);
        self.unheard(reports, edited, bystanders)
            .filter(|key| match attached.filter(|_| key.1.starts_with("lsp:")) {
                Some(attached) => edited.contains(&key.0) || !attached.contains(key),
                None => edited.contains(&key.0) || (self.from_beside.contains(*key) && !anywhere(&key.1)),
            })
            .cloned()
            .collect()
    }

    /// Providers that reported on one of these files before and are missing in these reports.
    pub(crate) fn unheard<'a>(
        &'a self,
        reports: &'a [Report],
        edited: &'a [String],
        bystanders: &'a [String],
    ) -> impl Iterator<Item = &'a SnapshotKey> {
        let heard = |key: &SnapshotKey| reports.iter().any(|r| r.file == key.0 && r.provider == key.1);
        let spoke = self.last.iter().filter(|(_, snap)| snap.text.is_some()).map(|(key, _)| key);
        let of_these = |key: &&SnapshotKey| edited.contains(&key.0) || bystanders.contains(&key.0);
        spoke.chain(&self.outdated).filter(of_these).filter(move |key| !heard(key))
    }

    /// Forgets the providers that the user has detached: the others are complete without them.
    pub(crate) fn let_go(&mut self, is_taken: impl Fn(&SnapshotKey) -> bool) {
        self.last.retain(|key, _| !is_taken(key));
        for keys in [&mut self.silent, &mut self.from_beside, &mut self.outdated, &mut self.overtaken] {
            keys.retain(|key| !is_taken(key));
        }
        let is_left = |name: &String| self.last.keys().any(|(_, provider)| provider == name);
        self.timeouts.retain(|provider, _| is_left(provider));
    }

    /// Notes the providers with and without an answer, for the files that were asked about.
    pub(crate) fn note_silence(&mut self, reports: &[Report]) {
        self.silent.retain(|(file, _)| !reports.iter().any(|report| report.file == *file));
        let silent = reports.iter().filter(|report| !report.freshness.is_fresh());
        self.silent.extend(silent.map(|report| (report.file.clone(), report.provider.clone())));
        let late = reports.iter().filter(|report| report.freshness == Freshness::Timeout);
        let late: BTreeSet<&String> = late.map(|report| &report.provider).collect();
        late.into_iter().for_each(|provider| *self.timeouts.entry(provider.clone()).or_default() += 1);
    }

    /// Providers that were asked last and did not answer.
    pub(crate) fn silent(&self) -> impl Iterator<Item = &SnapshotKey> {
        self.silent.iter()
    }

    /// True if a provider was asked and has never reported on any file.
    pub(crate) fn is_mute(&self) -> bool {
        self.silent.iter().any(|(_, silent)| self.last.keys().all(|(_, provider)| provider != silent))
    }

    /// A provider that has reported before hangs: it has let several looks in a row time out.
    pub(crate) fn hangs(&self) -> bool {
        let has_hung =
            |(provider, looks): (&String, &u32)| *looks >= HUNG && self.last.keys().any(|(_, known)| known == provider);
        self.timeouts.iter().any(has_hung)
    }

    /// Providers that have not answered about this text of the file: their known reports are of an older text, or
    /// missing.
    pub(crate) fn unsettled<'a>(&'a self, file: &'a str, text: &'a str) -> BTreeSet<&'a str> {
        let silent = self.silent.iter().filter(|(known, _)| known == file).map(|(_, provider)| provider.as_str());
        self.of_another_text(file, text).chain(silent).collect()
    }

    /// Providers whose known reports on a file are of another text than this one.
    pub(crate) fn of_another_text<'a>(&'a self, file: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
        let older = self.of(file).filter(move |(_, snap)| snap.text.as_deref().is_some_and(|known| known != text));
        older.map(|(provider, _)| provider)
    }

    /// Forgets a file: no diagnostics of it are known, and no provider is asked about it.
    pub(crate) fn forget(&mut self, file: &str) {
        self.last.retain(|(known, _), _| known != file);
        for keys in [&mut self.silent, &mut self.from_beside, &mut self.outdated, &mut self.overtaken] {
            keys.retain(|(known, _)| known != file);
        }
        self.whole.remove(file);
        self.unasked.remove(file);
    }

    /// Drops the reports of these providers on another text of a file than this one, `None` for no file. The fact of a
    /// report is kept.
    pub(crate) fn drop_stale(&mut self, file: &str, text: Option<&str>, of: impl Fn(&str) -> bool) {
        let stale = |key: &SnapshotKey, snap: &Snapshot| key.0 == file && snap.text.as_deref() != text && of(&key.1);
        self.outdated.extend(self.last.iter().filter(|(key, snap)| stale(key, snap)).map(|(key, _)| key.clone()));
        self.last.retain(|key, snap| !stale(key, snap));
    }

    /// Restores the known diagnostics together with the texts. What was unknown then is as it was when the task began.
    pub(crate) fn restore(&mut self, known: &Snapshots, start: &Snapshots) {
        let mut then = known.clone();
        add_missing(&mut then, start);
        self.last.extend(then);
    }

    /// The state before a file was created, for the providers that report on it now: no diagnostics.
    pub(crate) fn absent(file: &str, providers: impl IntoIterator<Item = String>) -> Snapshots {
        let nothing = Arc::new(Snapshot { text: None, diagnostics: Vec::new() });
        providers.into_iter().map(|provider| ((file.to_owned(), provider), Arc::clone(&nothing))).collect()
    }

    /// The file was asked about, and all its entries are about this text.
    pub(crate) fn is_current(&self, file: &str, text: &str) -> bool {
        let mut of_file = self.of(file).peekable();
        of_file.peek().is_some()
            && !self.unasked.contains(file)
            && !self.overtaken.iter().any(|(known, _)| known == file)
            && of_file.all(|(_, snap)| snap.text.as_deref() == Some(text))
    }

    pub(crate) fn of<'a>(&'a self, file: &'a str) -> impl Iterator<Item = (&'a str, &'a Snapshot)> {
        self.last
            .iter()
            .filter(move |((known, _), _)| known == file)
            .map(|((_, provider), snap)| (provider.as_str(), snap.as_ref()))
    }

    pub(crate) fn snaps(&self) -> Snapshots {
        self.last.clone()
    }
}

/// The state before reports on files that nobody asked about: the diagnostics of the runs before.
pub(crate) fn before_unasked(reports: &[Report]) -> Snapshots {
    let unasked = reports.iter().filter_map(|report| Some((report, report.unasked.as_ref()?)));
    let snap = |one: &Unasked| {
        let diagnostics = one.earlier.clone()?;
        Some(Arc::new(Snapshot { text: Some(Arc::clone(&one.text)), diagnostics }))
    };
    unasked.filter_map(|(report, one)| Some(((report.file.clone(), report.provider.clone()), snap(one)?))).collect()
}

/// Adds a state, where there is no other.
pub(crate) fn add_missing(snaps: &mut Snapshots, others: &Snapshots) {
    for (key, snap) in others {
        snaps.entry(key.clone()).or_insert_with(|| Arc::clone(snap));
    }
}

/// A start without old diagnostics in the files that a task has created.
pub(crate) fn with_created(start: &Snapshots, created: &BTreeSet<String>, known: &Snapshots) -> Snapshots {
    let mut start = start.clone();
    for (file, provider) in known.keys().filter(|(file, _)| created.contains(file)) {
        start.extend(SnapshotStore::absent(file, [provider.clone()]));
    }
    start
}

#[cfg(test)]
mod tests;
