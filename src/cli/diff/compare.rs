//! Classifies every diagnostic by its change between two sides, with the names that a reader knows.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::diff::collect_side::{Collected, DiffSide, Silent};
use crate::cli::diff::git::ChangedFile;
use crate::cli::diff::revisions::Revision;
use sextant_diagnostics::delta::{MatchedBy, SnapshotChange, SnapshotFile, delta};
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::located::Namer;
use sextant_diagnostics::model::{Diagnostic, Severity};

/// The change of a diagnostic, in the order of its interest to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ComparedState {
    New,
    /// The same problem in the same code, in other words or with another severity.
    Updated,
    /// Seen only because an earlier parse or import error went away.
    Revealed,
    /// Gone only because the file no longer parses.
    Masked,
    Fixed,
    Unchanged,
}

impl ComparedState {
    pub(super) const ALL: [Self; 6] =
        [Self::New, Self::Updated, Self::Revealed, Self::Masked, Self::Fixed, Self::Unchanged];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Updated => "updated",
            Self::Revealed => "revealed",
            Self::Masked => "masked",
            Self::Fixed => "fixed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// One diagnostic and its change. The place is the later one, if there is one.
#[derive(Clone, Debug)]
pub(super) struct ComparedDiagnostic {
    pub state: ComparedState,
    pub found: LocatedDiagnostic,
    /// The earlier form, if it is on both sides.
    pub was: Option<LocatedDiagnostic>,
}

impl ComparedDiagnostic {
    pub(super) fn severity(&self) -> Severity {
        self.found.diagnostic.severity
    }

    pub(super) fn file(&self) -> &str {
        &self.found.symbol.file
    }
}

/// The whole answer.
#[derive(Debug)]
pub(super) struct Comparison {
    pub before: Revision,
    /// `None` for the working tree.
    pub after: Option<Revision>,
    /// By file, then as [`ComparedState`] is ordered, then worst first.
    pub entries: Vec<ComparedDiagnostic>,
    /// Providers whose answers are compared, sorted.
    pub providers: Vec<String>,
    pub silent: Vec<Silent>,
    /// The reasons why less was checked than was asked for, a sentence each.
    pub gaps: Vec<String>,
    /// Differences in unchanged files that a second run did not find again.
    pub unconfirmed: usize,
    /// The number of checked files, and of the changed ones among them.
    pub checked: usize,
    pub changed: usize,
}

impl Comparison {
    /// True if any requested result is not known.
    pub(super) fn is_partial(&self) -> bool {
        !self.silent.is_empty() || !self.gaps.is_empty()
    }

    pub(super) fn after_name(&self) -> &str {
        self.after.as_ref().map_or("working tree", |revision| &revision.name)
    }

    pub(super) fn count(&self, state: ComparedState) -> usize {
        self.entries.iter().filter(|entry| entry.state == state).count()
    }

    /// True if there is a new diagnostic of at least this severity.
    pub(super) fn has_new(&self, severity: Severity) -> bool {
        self.entries.iter().any(|entry| entry.state == ComparedState::New && entry.severity() <= severity)
    }

    /// Drops the diagnostics that are below the floor on both sides.
    pub(super) fn keep_from(&mut self, floor: Severity) {
        self.entries.retain(|entry| {
            let was = entry.was.as_ref().map(|was| was.diagnostic.severity);
            entry.severity() <= floor || was.is_some_and(|was| was <= floor)
        });
    }
}

/// Matches the answers of both sides. `files` are those that were checked.
pub(super) fn entries(
    files: &[ChangedFile],
    before: &DiffSide,
    after: &DiffSide,
    answers: &Collected,
) -> Vec<ComparedDiagnostic> {
    let mut change = SnapshotChange::default();
    for file in files {
        match (&file.old, &file.new) {
            (Some(old), Some(new)) if old == new => {
                let (was, is) = (text(before, old), text(after, new));
                change.files.push(SnapshotFile { path: old, before: was, after: is });
            }
            (old, new) => {
                let gone = old.iter().map(|old| SnapshotFile { path: old, before: text(before, old), after: None });
                change.files.extend(gone);
                let come = new.iter().map(|new| SnapshotFile { path: new, before: None, after: text(after, new) });
                change.files.extend(come);
                change.renames.extend(old.clone().zip(new.clone()));
            }
        }
    }
    // A path may be left by one file and taken by another.
    merge(&mut change.files);
    let result = delta(&change, &answers.before, &answers.after);
    let (mut old_names, mut new_names) = (Namer::default(), Namer::default());
    let mut was = |index: usize| name(&mut old_names, &answers.before, index, before);
    let mut is = |index: usize| name(&mut new_names, &answers.after, index, after);
    let mut out = Vec::new();
    let entry = |state, found, was| ComparedDiagnostic { state, found, was };
    out.extend(result.new.iter().map(|index| entry(ComparedState::New, is(*index), None)));
    out.extend(result.revealed.iter().map(|index| entry(ComparedState::Revealed, is(*index), None)));
    out.extend(result.masked.iter().map(|index| entry(ComparedState::Masked, was(*index), None)));
    out.extend(result.fixed.iter().map(|index| entry(ComparedState::Fixed, was(*index), None)));
    for pair in &result.persisting {
        let state = if pair.how == MatchedBy::Updated { ComparedState::Updated } else { ComparedState::Unchanged };
        out.push(entry(state, is(pair.after), Some(was(pair.before))));
    }
    out.sort_by(|a, b| order(a).cmp(&order(b)));
    out
}

fn order(entry: &ComparedDiagnostic) -> (&str, ComparedState, Severity, u32, u32, &str) {
    let LocatedDiagnostic { line, column, diagnostic, .. } = &entry.found;
    (entry.file(), entry.state, entry.severity(), *line, *column, &diagnostic.message)
}

fn text<'s>(side: &'s DiffSide, path: &str) -> Option<&'s str> {
    side.texts.get(path).map(String::as_str)
}

fn name(namer: &mut Namer, list: &[Diagnostic], index: usize, side: &DiffSide) -> LocatedDiagnostic {
    namer.name(&list[index], |path| text(side, path))
}

/// Joins the two halves of one path.
fn merge(files: &mut Vec<SnapshotFile<'_>>) {
    let mut by_path: BTreeMap<&str, SnapshotFile<'_>> = BTreeMap::new();
    for file in files.iter() {
        let known = by_path.entry(file.path).or_insert(SnapshotFile { path: file.path, before: None, after: None });
        known.before = known.before.or(file.before);
        known.after = known.after.or(file.after);
    }
    *files = by_path.into_values().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::positions::{Position, Range};
    use sextant_diagnostics::model::{Confidence, Location};

    fn side(texts: &[(&str, &str)]) -> DiffSide {
        let texts = texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        DiffSide { name: String::new(), root: "/".into(), texts }
    }

    fn issue(file: &str, line: u32, message: &str) -> Diagnostic {
        let at = |character| Position { line, character };
        Diagnostic {
            source: "lsp:x".into(),
            severity: Severity::Error,
            code: Some("c".into()),
            message: message.into(),
            location: Location::Range { file: file.into(), range: Range { start: at(11), end: at(14) } },
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }

    fn file(old: &str, new: &str) -> ChangedFile {
        let side = |path: &str| (!path.is_empty()).then(|| path.to_owned());
        ChangedFile { old: side(old), new: side(new) }
    }

    fn shown(entries: &[ComparedDiagnostic]) -> Vec<String> {
        entries.iter().map(|e| format!("{} {}:{}", e.state.name(), e.found.symbol, e.found.line)).collect()
    }

    #[test]
    fn a_renamed_file_whose_old_path_is_a_new_file_brings_its_diagnostics_along() {
        let text =
            "class A:\n    def f(self) -> int:\n        return bad\n\n    def g(self) -> int:\n        return 1\n";
        let fresh = "def h() -> int:\n    return bad\n";
        let (before, after) = (side(&[("a.py", text)]), side(&[("b.py", text), ("a.py", fresh)]));
        let answers = Collected {
            before: vec![issue("a.py", 2, "m")],
            after: vec![issue("a.py", 1, "m"), issue("b.py", 2, "m")],
            ..Collected::default()
        };
        let found = entries(&[file("a.py", "b.py"), file("", "a.py")], &before, &after, &answers);
        assert_eq!(shown(&found), ["new a.py::h:2", "unchanged b.py::A::f:3"]);
        assert_eq!(found[1].was.as_ref().map(|was| was.symbol.file.as_str()), Some("a.py"));
    }

    #[test]
    fn what_is_gone_is_named_by_where_it_was() {
        let (before, after) = (side(&[("a.py", "def f() -> int:\n    return bad\n")]), side(&[("a.py", "x = 1\n")]));
        let answers = Collected { before: vec![issue("a.py", 1, "m")], ..Collected::default() };
        assert_eq!(shown(&entries(&[file("a.py", "a.py")], &before, &after, &answers)), ["fixed a.py::f:2"]);
    }
}
