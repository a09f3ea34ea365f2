//! The effect of a change on the diagnostics: judges two snapshots and the reports between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::answer_status::{self, Status};
use crate::state::dedup::{self, DedupItem, Fate};
use crate::state::pending_report::PendingReport;
use crate::state::snapshots::{Snapshot, SnapshotKey, Snapshots};
use sextant_base::one_line::headline;
use sextant_diagnostics::delta::{MatchedBy, SnapshotChange, SnapshotFile, delta};
use sextant_diagnostics::located::{LocatedDiagnostic, Namer};
use sextant_diagnostics::model::{Diagnostic, Report, Severity};
use sextant_diagnostics::syntax;

#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub status: Status,
    /// Introduced; worst first, then in source order.
    pub new: Vec<LocatedDiagnostic>,
    pub revealed: Vec<LocatedDiagnostic>,
    pub fixed: Vec<Diagnostic>,
    pub unchanged: usize,
    pub stays: Vec<Severity>,
    /// The unchanged diagnostics whose words have changed, with their earlier words.
    pub updated: Vec<(LocatedDiagnostic, String)>,
    pub masked: usize,
    /// The parts that are not known, such as providers that have not answered yet.
    pub pending: Vec<PendingReport>,
    /// True if one of those may still answer. A file that only the parser reads, or a provider that is gone, has no
    /// answer to wait for.
    pub to_come: bool,
    /// The reason for each disappeared diagnostic that does not count as fixed.
    pub not_counted: Vec<String>,
}

impl Verdict {
    pub(crate) fn without(status: Status) -> Self {
        Self {
            status,
            new: Vec::new(),
            revealed: Vec::new(),
            fixed: Vec::new(),
            unchanged: 0,
            stays: Vec::new(),
            updated: Vec::new(),
            masked: 0,
            pending: Vec::new(),
            to_come: false,
            not_counted: Vec::new(),
        }
    }

    /// Adds new diagnostics, in their order.
    pub(crate) fn add_new(&mut self, new: Vec<LocatedDiagnostic>) {
        self.new.extend(new);
        self.new.sort_by(|a, b| order(a).cmp(&order(b)));
    }

    /// The diagnostics that do not count as fixed, in a line; `None` where all of them count.
    pub(crate) fn not_counted_line(&self) -> Option<String> {
        let first = self.not_counted.first()?;
        Some(format!("{} not counted as fixed: {first}", self.not_counted.len()))
    }

    /// The new ones that are at least as severe as the floor.
    pub(crate) fn new_from(&self, floor: Severity) -> impl Iterator<Item = &LocatedDiagnostic> {
        self.new.iter().filter(move |found| found.diagnostic.severity <= floor)
    }

    /// The uncovered ones that are at least as severe as the floor.
    pub(crate) fn revealed_from(&self, floor: Severity) -> impl Iterator<Item = &LocatedDiagnostic> {
        self.revealed.iter().filter(move |found| found.diagnostic.severity <= floor)
    }

    /// The number of fixed ones that are at least as severe as the floor.
    pub(crate) fn fixed_from(&self, floor: Severity) -> usize {
        self.fixed.iter().filter(|gone| gone.severity <= floor).count()
    }

    pub(crate) fn unchanged_from(&self, floor: Severity) -> usize {
        self.stays.iter().filter(|severity| **severity <= floor).count()
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.new.iter().filter(|found| found.diagnostic.severity == severity).count()
    }
}

/// Names the edited files that only the parser is known to report on, and those without any report.
pub(crate) fn doubt_coverage(verdict: &mut Verdict, files: &[String], known: &Snapshots, reports: &[Report]) {
    let asked = |verdict: &Verdict, file: &String| {
        reports.iter().any(|report| report.file == *file)
            || verdict.pending.iter().any(|open| open.files.contains(file))
    };
    let others = |file: &String| reports.iter().any(|one| one.file == *file && one.provider != syntax::NAME);
    let mut uncovered = 0;
    for file in files {
        let providers: Vec<&str> = known.keys().filter(|key| key.0 == *file).map(|key| key.1.as_str()).collect();
        let entry = match providers.as_slice() {
            [syntax::NAME] if others(file) => continue,
            [syntax::NAME] => PendingReport::unchecked(file),
            [_, ..] => continue,
            [] if asked(verdict, file) => continue,
            [] => {
                uncovered += 1;
                PendingReport::uncovered(file)
            }
        };
        if !verdict.pending.contains(&entry) {
            verdict.pending.push(entry);
        }
        if verdict.status == Status::Complete {
            verdict.status = Status::Partial;
        }
    }
    if uncovered > 0 && uncovered == files.len() && verdict.new.is_empty() && verdict.status == Status::Partial {
        verdict.status = Status::Skipped;
    }
}

/// As [`compare`], on a thread of its own: many diagnostics take a while, and a stop must not wait for them. After a
/// stop the thread finishes without a reader.
pub(crate) async fn compared(before: &Snapshots, after: &Snapshots, reports: &[Report]) -> Verdict {
    let (before, after, reported) = (before.clone(), after.clone(), answer_status::status(reports));
    let done = tokio::task::spawn_blocking(move || compare(&before, &after, reported.0, reported.1)).await;
    let verdict = done.unwrap_or_else(|_| Verdict::without(Status::Unavailable));
    Verdict { to_come: reports.iter().any(answer_status::may_come), ..verdict }
}

/// Compares two snapshots, only where both sides are fresh. A provider without a baseline for a file does not show what
/// is new there, and the status reports that. Reports of several providers at one place count once. The status of the
/// reports alone comes from [`status`].
fn compare(before: &Snapshots, after: &Snapshots, status: Status, pending: Vec<PendingReport>) -> Verdict {
    let mut verdict = Verdict { pending, ..Verdict::without(status) };
    let mut without_baseline = Vec::new();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (provider, keys) in by_provider(after) {
        // Every other provider reports the findings of the parser too: the parser counts where no other provider is
        // known.
        let counts = |key: &&SnapshotKey| provider != syntax::NAME || !known_of_others(before, after, key);
        let (known, unknown): (Vec<&SnapshotKey>, Vec<&SnapshotKey>) =
            keys.into_iter().filter(counts).partition(|key| before.contains_key(*key));
        without_baseline.extend(unknown.iter().map(|key| PendingReport::of(&provider, &key.0, "no baseline")));
        compare_provider(before, after, &known, &mut old, &mut new);
    }
    old.extend(unheard(before, after));
    let mut namer = Namer::default();
    let text_of = |file: &str| text_of(after, file).and_then(|snap| snap.text.as_deref());
    for complaint in dedup::after(&new) {
        let mut name =
            || LocatedDiagnostic { sources: complaint.sources.clone(), ..namer.name(&complaint.diagnostic, text_of) };
        match complaint.fate {
            Fate::New => verdict.new.push(name()),
            Fate::Revealed => verdict.revealed.push(name()),
            _ => {
                verdict.unchanged += 1;
                verdict.stays.push(complaint.diagnostic.severity);
                verdict.updated.extend(complaint.was.clone().map(|was| (name(), was)));
            }
        }
    }
    for complaint in dedup::before(&old) {
        match complaint.fate {
            Fate::Fixed => verdict.fixed.push(complaint.diagnostic),
            Fate::Masked => verdict.masked += 1,
            _ => {}
        }
    }
    if !without_baseline.is_empty() {
        verdict.pending.extend(without_baseline);
        if verdict.status == Status::Complete {
            verdict.status = Status::Partial;
        }
    }
    verdict.new.sort_by(|a, b| order(a).cmp(&order(b)));
    verdict
}

/// The earlier diagnostics of providers that have not reported since, in files that others have reported on.
fn unheard(before: &Snapshots, after: &Snapshots) -> Vec<DedupItem> {
    let files: BTreeSet<&str> = after.keys().map(|key| key.0.as_str()).collect();
    let silent =
        |key: &SnapshotKey| key.1 != syntax::NAME && files.contains(key.0.as_str()) && !after.contains_key(key);
    let unheard = before.iter().filter(|(key, _)| silent(key)).flat_map(|(_, snap)| &snap.diagnostics);
    unheard.map(|diagnostic| DedupItem::new(diagnostic.clone(), Fate::Unknown)).collect()
}

fn known_of_others(before: &Snapshots, after: &Snapshots, key: &SnapshotKey) -> bool {
    after.keys().any(|other| other.0 == key.0 && other.1 != key.1 && before.contains_key(other))
}

fn order(found: &LocatedDiagnostic) -> (Severity, &str, u32, u32) {
    (found.diagnostic.severity, found.symbol.file.as_str(), found.line, found.column)
}

fn by_provider(snaps: &Snapshots) -> BTreeMap<String, Vec<&SnapshotKey>> {
    let mut out: BTreeMap<String, Vec<&SnapshotKey>> = BTreeMap::new();
    for key in snaps.keys() {
        out.entry(key.1.clone()).or_default().push(key);
    }
    out
}

fn compare_provider(
    before: &Snapshots,
    after: &Snapshots,
    keys: &[&SnapshotKey],
    old_items: &mut Vec<DedupItem>,
    new_items: &mut Vec<DedupItem>,
) {
    let side = |snaps: &'_ Snapshots| -> Vec<Diagnostic> {
        keys.iter().filter_map(|key| snaps.get(*key)).flat_map(|snap| snap.diagnostics.iter().cloned()).collect()
    };
    let (old, new) = (side(before), side(after));
    let unchanged_files = |key: &&&SnapshotKey| matches!((before.get(**key), after.get(**key)), (Some(a), Some(b)) if std::sync::Arc::ptr_eq(a, b));
    if keys.iter().all(|key| unchanged_files(&key)) {
        let stays = |diagnostic: Diagnostic| DedupItem::new(diagnostic, Fate::Stays);
        old_items.extend(old.into_iter().map(stays));
        new_items.extend(new.into_iter().map(stays));
        return;
    }
    let files = keys
        .iter()
        .map(|key| SnapshotFile {
            path: &key.0,
            before: before.get(*key).and_then(|snap| snap.text.as_deref()),
            after: after.get(*key).and_then(|snap| snap.text.as_deref()),
        })
        .collect();
    let result = delta(&SnapshotChange { files, renames: Vec::new() }, &old, &new);
    let (mut was, mut is) = (vec![Fate::Stays; old.len()], vec![Fate::Stays; new.len()]);
    result.fixed.iter().for_each(|index| was[*index] = Fate::Fixed);
    result.masked.iter().for_each(|index| was[*index] = Fate::Masked);
    result.new.iter().for_each(|index| is[*index] = Fate::New);
    result.revealed.iter().for_each(|index| is[*index] = Fate::Revealed);
    let first = new_items.len();
    let item = |(diagnostic, fate)| DedupItem::new(diagnostic, fate);
    new_items.extend(new.into_iter().zip(is).map(item));
    for pair in result.persisting.iter().filter(|pair| pair.how == MatchedBy::Updated) {
        let (then, now) = (headline(&old[pair.before].message), &mut new_items[first + pair.after]);
        now.was = (then != headline(&now.diagnostic.message)).then_some(then);
    }
    old_items.extend(old.into_iter().zip(was).map(item));
}

/// As [`named`], on a thread of its own.
pub(crate) async fn all(snaps: &Snapshots, files: BTreeSet<String>) -> Vec<LocatedDiagnostic> {
    let snaps = snaps.clone();
    tokio::task::spawn_blocking(move || named(&snaps, &files)).await.unwrap_or_default()
}

/// Every diagnostic of a snapshot in these files, named.
fn named(snaps: &Snapshots, files: &BTreeSet<String>) -> Vec<LocatedDiagnostic> {
    let mut namer = Namer::default();
    let mut found: Vec<LocatedDiagnostic> = Vec::new();
    // As in a comparison: the parser counts where there is no other provider.
    let others: BTreeSet<&str> = snaps.keys().filter(|key| key.1 != syntax::NAME).map(|key| key.0.as_str()).collect();
    let counts = |(file, provider): &SnapshotKey| {
        files.contains(file) && (provider != syntax::NAME || !others.contains(file.as_str()))
    };
    for ((file, _), snap) in snaps.iter().filter(|(key, _)| counts(key)) {
        let text_of = |asked: &str| if asked == file { snap.text.as_deref() } else { None };
        found.extend(snap.diagnostics.iter().map(|diagnostic| namer.name(diagnostic, text_of)));
    }
    found.sort_by(|a, b| order(a).cmp(&order(b)));
    found
}

/// The texts of a snapshot, one a file.
pub(crate) fn text_of<'a>(snaps: &'a Snapshots, file: &str) -> Option<&'a Snapshot> {
    snaps.iter().find(|((known, _), _)| known == file).map(|(_, snap)| snap.as_ref())
}

#[cfg(test)]
mod tests;
