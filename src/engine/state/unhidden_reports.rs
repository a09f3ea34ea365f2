//! Keeps the last reports that no error cut short. A diagnostic that is uncovered later, and is not of those, is new.
//!
//! An edit breaks the syntax, the next one repairs it and changes a type: the error of the type was never there before,
//! though it is uncovered by the repair.

use std::collections::BTreeSet;

use crate::state::comparison::{self, Verdict};
use crate::state::snapshots::{SnapshotKey, Snapshots};
use sextant_diagnostics::delta::{HiddenExtent, hidden_extent};
use sextant_diagnostics::located::LocatedDiagnostic;

/// The last reports of each provider that showed all it had to report.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnhiddenReports(Snapshots);

impl UnhiddenReports {
    /// Takes the reports before an edit that no error cut short. One with an import that was not found replaces none.
    pub(crate) fn take(&mut self, before: &Snapshots) {
        let hides = |key: &SnapshotKey, extent| {
            before[key].diagnostics.iter().any(|diagnostic| hidden_extent(diagnostic) == Some(extent))
        };
        let stopped: BTreeSet<&str> =
            before.keys().filter(|key| hides(key, HiddenExtent::AllFiles)).map(|key| key.1.as_str()).collect();
        let is_whole = |key: &SnapshotKey| !stopped.contains(key.1.as_str()) && !hides(key, HiddenExtent::File);
        let is_better = |key: &SnapshotKey| !hides(key, HiddenExtent::Imported) || !self.0.contains_key(key);
        let whole = before.iter().filter(|(key, _)| is_whole(key) && is_better(key));
        let whole: Vec<_> = whole.map(|(key, snap)| (key.clone(), snap.clone())).collect();
        self.0.extend(whole);
    }

    /// Moves to the new diagnostics of a verdict those uncovered ones that were not there when they could last be seen.
    /// Where an edit makes a file, those count too that could never be seen: an import of it had hidden them.
    pub(crate) async fn tell_apart(&self, verdict: &mut Verdict, after: &Snapshots, makes_a_file: bool) {
        let files: BTreeSet<&str> =
            verdict.revealed.iter().filter_map(|found| found.diagnostic.location.file()).collect();
        let of_files = |key: &SnapshotKey| files.contains(key.0.as_str()) && self.0.contains_key(key);
        let after: Snapshots =
            after.iter().filter(|(key, _)| of_files(key)).map(|(key, snap)| (key.clone(), snap.clone())).collect();
        if verdict.revealed.is_empty() || after.is_empty() && !makes_a_file {
            return;
        }
        let since = comparison::compared(&self.0, &after, &[]).await.new;
        let is_import = |diagnostic| hidden_extent(diagnostic) == Some(HiddenExtent::Imported);
        let saw = |key: &SnapshotKey| self.0.get(key).is_some_and(|snap| !snap.diagnostics.iter().any(is_import));
        // Another provider of the file may have had no import to find.
        let is_of = |found: &LocatedDiagnostic, key: &SnapshotKey| {
            found.diagnostic.location.file() == Some(&key.0) && found.diagnostic.source == key.1
        };
        let is_seen = |found: &LocatedDiagnostic| after.keys().any(|key| is_of(found, key) && saw(key));
        let came = |found: &LocatedDiagnostic| {
            makes_a_file && !is_seen(found) || since.iter().any(|new| new.diagnostic == found.diagnostic)
        };
        let (new, revealed) = std::mem::take(&mut verdict.revealed).into_iter().partition(came);
        verdict.revealed = revealed;
        verdict.add_new(new);
    }
}
