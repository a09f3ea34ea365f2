//! Names what compilers and servers have not checked because of errors that were there before an edit.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::pending_report::PendingReport;
use crate::state::snapshots::{SnapshotKey, Snapshots};
use sextant_base::one_line::headline;
use sextant_diagnostics::delta::{HiddenChecks, hidden_checks};
use sextant_diagnostics::model::{Diagnostic, Location, Severity};

/// The parts of these files that their providers have not checked, an entry for each error that hides some. An error that the edit
/// brought is in its answer, and what it hides is found with its repair.
pub(crate) fn unchecked<'k>(
    before: &Snapshots,
    after: &Snapshots,
    asked: impl IntoIterator<Item = &'k SnapshotKey>,
    floor: Severity,
) -> Vec<PendingReport> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, provider) in asked {
        files.entry(provider).or_default().insert(file);
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
        // Many files have the same error, each at a line of its own.
        HiddenChecks::UnknownNames(way_out) => {
            format!("all that needs what was not found: {}; {way_out}", headline(&error.message))
        }
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
    use sextant_diagnostics::model::Confidence;

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

    fn unchecked(before: &Snapshots, after: &Snapshots, floor: Severity) -> Vec<String> {
        let asked = ["src/a.rs", "src/b.rs"].map(|file| (file.to_owned(), CARGO.to_owned()));
        words(&super::unchecked(before, after, &asked, floor))
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

    #[test]
    fn files_without_the_same_text_are_named_once_with_the_way_out() {
        const CLANGD: &str = "lsp:clangd";
        let snaps: Snapshots = ["a.cpp", "b.cpp", "c.cpp"]
            .map(|file| {
                let message = "In included file: 'geo/vec.hpp' file not found\n\nb.hpp:2:10:\nnote: here";
                let found = Diagnostic { source: CLANGD.into(), ..error(file, "pp_file_not_found", message) };
                let found = if file == "c.cpp" { Vec::new() } else { vec![found] };
                ((file.to_owned(), CLANGD.to_owned()), Arc::new(Snapshot { text: Some("".into()), diagnostics: found }))
            })
            .into();
        assert_eq!(
            words(&super::unchecked(&snaps, &snaps, snaps.keys(), Severity::Error)),
            ["clangd (a.cpp and 1 other, all that needs what was not found: In included file: 'geo/vec.hpp' file not \
                 found; compile_commands.json has to name its include path)"]
        );
    }
}
