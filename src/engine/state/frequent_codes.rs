//! The kinds of diagnostics that a file has had: no objection to an end, and frequent warnings are summed up in text.
//!
//! Another diagnostic of a known kind speaks against no end. Where an edit is answered in text, warnings of a kind that
//! the file is full of are summed up.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::render::Line;
use crate::state::snapshots::Snapshots;
use sextant_base::plural::counted;
use sextant_diagnostics::model::Severity;

/// The number of diagnostics that makes a kind usual in a file.
const USUAL: usize = 3;

/// Kinds by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsualKinds {
    /// Those with at least one diagnostic.
    known: BTreeSet<(String, String)>,
    /// The warnings with many diagnostics.
    usual: BTreeSet<(String, String)>,
    /// The files that the task has made: every kind counts as another one there.
    created: BTreeSet<String>,
}

impl UsualKinds {
    /// Built from the state before an edit, and the files that the task has made.
    pub(crate) fn of(before: &Snapshots, created: &BTreeSet<String>) -> Self {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut known = BTreeSet::new();
        for ((file, _), snap) in before {
            for found in &snap.diagnostics {
                known.insert((file.clone(), found.code.clone().unwrap_or_default()));
            }
            for found in snap.diagnostics.iter().filter(|found| found.severity != Severity::Error) {
                if let Some(code) = &found.code {
                    *counts.entry((file.clone(), code.clone())).or_default() += 1;
                }
            }
        }
        let usual = counts.into_iter().filter(|(_, count)| *count >= USUAL).map(|(kind, _)| kind).collect();
        Self { known, usual, created: created.clone() }
    }

    pub(crate) fn is_usual(&self, line: &Line) -> bool {
        line.severity != Severity::Error.to_string() && self.usual.contains(&kind(line))
    }

    /// True if a new diagnostic speaks against an end: it is an error, or of a kind that its file did not have. In a
    /// file that the task has made only an error does.
    pub(crate) fn speaks_against(&self, line: &Line) -> bool {
        let is_known = self.created.contains(&line.path) || self.known.contains(&kind(line));
        line.severity == Severity::Error.to_string() || !is_known
    }

    /// `14 of kinds that the file has already: reportUnknownMemberType (9), reportAny (5)`; `None` for an empty list.
    pub(crate) fn summed_up(lines: &[&Line]) -> Option<String> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for line in lines {
            *kinds.entry(line.code.as_deref().unwrap_or_default()).or_default() += 1;
        }
        let kinds: Vec<String> = kinds.into_iter().map(|(code, count)| format!("{code} ({count})")).collect();
        let count = counted(lines.len(), "warning");
        (!lines.is_empty()).then(|| format!("{count} of kinds that the file has already: {}", kinds.join(", ")))
    }
}

fn kind(line: &Line) -> (String, String) {
    (line.path.clone(), line.code.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_diagnostics::model::Confidence;

    fn line(severity: &str, code: &str) -> Line {
        Line {
            severity: severity.into(),
            symbol: "f".into(),
            path: "a.py".into(),
            line: 1,
            code: Some(code.into()),
            message: "x".into(),
            source: "lsp:basedpyright".into(),
            sources: Vec::new(),
            confidence: Confidence::High,
            suggested_action: None,
            was: None,
            headline: "x".into(),
        }
    }

    #[test]
    fn only_warnings_of_a_kind_that_is_there_already_are_summed_up() {
        let kind = BTreeSet::from([("a.py".to_owned(), "reportAny".to_owned())]);
        let usual = UsualKinds { known: kind.clone(), usual: kind, created: BTreeSet::new() };
        assert!(usual.is_usual(&line("warning", "reportAny")));
        assert!(!usual.is_usual(&line("error", "reportAny")), "an error is always listed");
        assert!(!usual.is_usual(&line("warning", "F401")));
        let against = [line("warning", "reportAny"), line("error", "reportAny"), line("warning", "F401")];
        assert_eq!(against.each_ref().map(|line| usual.speaks_against(line)), [false, true, true]);
        let made = UsualKinds { created: BTreeSet::from(["a.py".to_owned()]), ..UsualKinds::default() };
        assert!(!made.speaks_against(&line("warning", "F401")) && made.speaks_against(&line("error", "F401")));
        let (one, two) = (line("warning", "reportAny"), line("warning", "reportAny"));
        let summary = UsualKinds::summed_up(&[&one, &two]).unwrap();
        assert_eq!(summary, "2 warnings of kinds that the file has already: reportAny (2)");
        assert_eq!(UsualKinds::summed_up(&[]), None);
    }
}
