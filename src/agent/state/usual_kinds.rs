//! Which kinds of warnings a file is full of: more of them are summed up where an edit is answered in text. Whoever
//! keeps the style of an untyped file need not read each of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::state::render::Line;
use crate::agent::state::snapshots::Snapshots;
use crate::base::plural::counted;
use crate::diagnostics::model::Severity;

/// So many of a kind make it usual in a file.
const USUAL: usize = 3;

/// Kinds by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsualKinds(BTreeSet<(String, String)>);

impl UsualKinds {
    /// From what was known before an edit.
    pub(crate) fn of(before: &Snapshots) -> Self {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for ((file, _), snap) in before {
            for found in snap.diagnostics.iter().filter(|found| found.severity != Severity::Error) {
                if let Some(code) = &found.code {
                    *counts.entry((file.clone(), code.clone())).or_default() += 1;
                }
            }
        }
        Self(counts.into_iter().filter(|(_, count)| *count >= USUAL).map(|(kind, _)| kind).collect())
    }

    pub(crate) fn is_usual(&self, line: &Line) -> bool {
        let code = line.code.clone().unwrap_or_default();
        line.severity != Severity::Error.to_string() && self.0.contains(&(line.path.clone(), code))
    }

    /// `14 of kinds that the file has already: reportUnknownMemberType (9), reportAny (5)`; `None` for none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::model::Confidence;

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
        let usual = UsualKinds(BTreeSet::from([("a.py".to_owned(), "reportAny".to_owned())]));
        assert!(usual.is_usual(&line("warning", "reportAny")));
        assert!(!usual.is_usual(&line("error", "reportAny")), "an error is always told");
        assert!(!usual.is_usual(&line("warning", "F401")));
        let (one, two) = (line("warning", "reportAny"), line("warning", "reportAny"));
        let said = UsualKinds::summed_up(&[&one, &two]).unwrap();
        assert_eq!(said, "2 warnings of kinds that the file has already: reportAny (2)");
        assert_eq!(UsualKinds::summed_up(&[]), None);
    }
}
