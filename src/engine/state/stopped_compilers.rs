//! Names what compilers have not checked because of errors that were there before an edit.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::pending_report::PendingReport;
use crate::state::snapshots::{SnapshotKey, Snapshots};
use sextant_diagnostics::delta::{HiddenChecks, hidden_checks};
use sextant_diagnostics::model::{Diagnostic, Location, Report, Severity};

/// The parts of these files that were not checked, an entry for each error that hides some. An error that the edit
/// brought is in its answer, and what it hides is found with its repair.
pub(crate) fn unchecked(
    before: &Snapshots,
    after: &Snapshots,
    reports: &[Report],
    is_asked: impl Fn(&str) -> bool,
    floor: Severity,
) -> Vec<PendingReport> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for report in reports.iter().filter(|report| report.freshness.is_fresh() && is_asked(&report.file)) {
        files.entry(&report.provider).or_default().insert(&report.file);
    }
    files.into_iter().flat_map(|(provider, files)| of_provider(before, after, provider, &files, floor)).collect()
}

fn of_provider(
    before: &Snapshots,
    after: &Snapshots,
    provider: &str,
    files: &BTreeSet<&str>,
    floor: Severity,
) -> Vec<PendingReport> {
    let of_provider = after.iter().filter(|(key, _)| key.1 == provider);
    let reported: Vec<&Diagnostic> = of_provider.flat_map(|(_, snap)| &snap.diagnostics).collect();
    let is_old = |error: &Diagnostic| was_there(before, provider, error);
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for file in files {
        let Some((hidden, error)) = hidden_checks(&reported, file, &is_old) else { continue };
        if hidden == HiddenChecks::SomeLints && floor < Severity::Warning {
            continue;
        }
        let why = words(hidden, error);
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, files)) => files.push((*file).to_owned()),
            None => groups.push((why, vec![(*file).to_owned()])),
        }
    }
    groups.into_iter().map(|(why, files)| PendingReport::of_files(provider, files, &why)).collect()
}

/// True if an error was reported before, wherever it stood. One in a file without a baseline counts.
fn was_there(before: &Snapshots, provider: &str, error: &Diagnostic) -> bool {
    let key: Option<SnapshotKey> = error.location.file().map(|file| (file.to_owned(), provider.to_owned()));
    let same = |known: &Diagnostic| {
        known.severity == error.severity && known.code == error.code && known.message == error.message
    };
    key.and_then(|key| before.get(&key)).is_none_or(|snap| snap.diagnostics.iter().any(same))
}

fn words(hidden: HiddenChecks, error: &Diagnostic) -> String {
    let place = match &error.location {
        Location::Range { file, range } => format!("{file}:{}", range.start.line.saturating_add(1)),
        other => other.file().unwrap_or_default().to_owned(),
    };
    match hidden {
        HiddenChecks::AllButSyntax => format!("all but the syntax: it stopped at {place}"),
        HiddenChecks::BorrowsAndLints => format!("borrows and lints: the error at {place} hides some"),
        HiddenChecks::SomeLints => format!("lints: the error at {place} hides some"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::state::pending_report::words;
    use crate::state::snapshots::Snapshot;
    use sextant_base::positions::Range;
    use sextant_diagnostics::model::{Confidence, Freshness};

    const CARGO: &str = "tool:cargo";

    fn error(file: &str, code: &str, message: &str) -> Diagnostic {
        Diagnostic {
            source: CARGO.into(),
            severity: Severity::Error,
            code: (!code.is_empty()).then(|| code.into()),
            message: message.into(),
            location: Location::Range { file: file.into(), range: Range::default() },
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }

    fn snaps(files: &[(&str, &[Diagnostic])]) -> Snapshots {
        let snap = |found: &[Diagnostic]| Arc::new(Snapshot { text: Some("".into()), diagnostics: found.to_vec() });
        files.iter().map(|(file, found)| (((*file).to_owned(), CARGO.to_owned()), snap(found))).collect()
    }

    fn report(file: &str) -> Report {
        Report {
            provider: CARGO.into(),
            file: file.into(),
            diagnostics: Vec::new(),
            freshness: Freshness::Exact,
            version: None,
            wanted_version: None,
            elapsed_ms: 0,
            note: None,
            unasked: None,
        }
    }

    fn unchecked(before: &Snapshots, after: &Snapshots, floor: Severity) -> Vec<String> {
        let reports = ["src/a.rs", "src/b.rs", "src/c.rs"].map(report);
        words(&super::unchecked(before, after, &reports, |file| file != "src/c.rs", floor))
    }

    #[test]
    fn an_error_that_was_there_names_what_it_hides_and_one_of_the_edit_does_not() {
        let broken = [error("src/b.rs", "", "this file contains an unclosed delimiter")];
        let (clean, stopped) = (snaps(&[("src/b.rs", &[])]), snaps(&[("src/b.rs", &broken)]));
        let expected = ["tool:cargo (src/a.rs and 1 other, all but the syntax: it stopped at src/b.rs:1)"];
        assert_eq!(unchecked(&stopped, &stopped, Severity::Error), expected);
        assert_eq!(unchecked(&Snapshots::new(), &stopped, Severity::Error), expected, "it was not looked at before");
        assert_eq!(unchecked(&clean, &stopped, Severity::Error), [""; 0]);
    }

    #[test]
    fn an_error_of_types_hides_lints_where_they_are_wanted() {
        let typed = snaps(&[("src/b.rs", &[error("src/b.rs", "E0308", "mismatched types")])]);
        assert_eq!(
            unchecked(&typed, &typed, Severity::Warning),
            [
                "tool:cargo (src/a.rs, lints: the error at src/b.rs:1 hides some)",
                "tool:cargo (src/b.rs, borrows and lints: the error at src/b.rs:1 hides some)"
            ]
        );
        assert_eq!(unchecked(&typed, &typed, Severity::Error).len(), 1);
    }
}
