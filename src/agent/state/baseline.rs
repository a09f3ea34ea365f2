//! What was known before a change, and which part of it is of after the change had begun: what is old there may be its own.

use std::collections::BTreeSet;

use crate::agent::state::comparison::{Status, Verdict};
use crate::agent::state::edit_request::EditRequest;
use crate::agent::state::snapshots::{SnapshotKey, Snapshots};
use crate::diagnostics::model::Severity;
use crate::diagnostics::theme::{looks_at_one_file, tool};

/// The baseline of several edits that are compared as one.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    pub snaps: Snapshots,
    /// First known after the first of the edits: of a file that was loaded only then.
    pub late: BTreeSet<SnapshotKey>,
}

impl Baseline {
    /// Takes in what is known now. What was known earlier stays as it was then.
    pub fn take(&mut self, known: &Snapshots, has_begun: bool) {
        for (key, snap) in known {
            if !self.snaps.contains_key(key) {
                self.snaps.insert(key.clone(), snap.clone());
                if has_begun && snap.text.is_some() {
                    self.late.insert(key.clone());
                }
            }
        }
    }

    /// Whether an edit changes a file of which nothing is known here.
    pub fn lacks(&self, wanted: &[EditRequest]) -> bool {
        let known = |path: &str| self.snaps.keys().any(|(file, _)| file == path);
        wanted.iter().any(|want| matches!(want, EditRequest::Change { .. }) && !known(want.path()))
    }
}

/// Names the files in which something stands that was there when they were first looked at, after an edit: whether the
/// edit has brought it is not known. What a checker of single files says there is none of an edit elsewhere.
pub fn doubt_late(
    verdict: &mut Verdict,
    late: &BTreeSet<SnapshotKey>,
    before: &Snapshots,
    after: &Snapshots,
    floor: Severity,
) {
    let said = |snaps: &Snapshots, key: &SnapshotKey| {
        snaps.get(key).is_some_and(|snap| snap.diagnostics.iter().any(|said| said.severity <= floor))
    };
    for key in late.iter().filter(|key| !looks_at_one_file(&key.1) && said(before, key) && said(after, key)) {
        verdict.pending.push(format!("{} ({}, first looked at after an edit)", tool(&key.1), key.0));
        if verdict.status == Status::Complete {
            verdict.status = Status::Partial;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::agent::state::snapshots::Snapshot;
    use crate::diagnostics::model::{Confidence, Diagnostic, Location};

    fn snaps(said: &[(&str, &str, Severity)]) -> Snapshots {
        let of = |(file, provider, severity): &(&str, &str, Severity)| {
            let diagnostic = Diagnostic {
                source: (*provider).into(),
                severity: *severity,
                code: None,
                message: "m".into(),
                location: Location::File { file: (*file).into() },
                confidence: Confidence::High,
                suggested_action: None,
                evidence: None,
            };
            let snap = Snapshot { text: Some("x\n".into()), diagnostics: vec![diagnostic] };
            (((*file).to_owned(), (*provider).to_owned()), Arc::new(snap))
        };
        said.iter().map(of).collect()
    }

    #[test]
    fn what_was_known_first_stays_and_what_comes_later_is_marked() {
        let mut baseline = Baseline::default();
        baseline.take(&snaps(&[("a.py", "lsp:x", Severity::Error)]), false);
        baseline.take(&snaps(&[("a.py", "lsp:x", Severity::Hint), ("b.py", "lsp:x", Severity::Error)]), true);
        let first = baseline.snaps.values().next().map(|snap| snap.diagnostics[0].severity);
        assert_eq!(first, Some(Severity::Error));
        assert_eq!(baseline.late, BTreeSet::from([("b.py".to_owned(), "lsp:x".to_owned())]));
    }

    #[test]
    fn only_what_may_come_from_elsewhere_and_still_stands_is_doubted() {
        let before = snaps(&[
            ("b.py", "lsp:basedpyright", Severity::Error),
            ("c.py", "lsp:ruff", Severity::Error),
            ("d.py", "lsp:basedpyright", Severity::Hint),
            ("e.py", "lsp:basedpyright", Severity::Error),
        ]);
        let mut after = before.clone();
        after.retain(|key, _| key.0 != "e.py");
        let mut verdict = Verdict::without(Status::Complete);
        let late = before.keys().cloned().collect();
        doubt_late(&mut verdict, &late, &before, &after, Severity::Warning);
        assert_eq!(verdict.pending, ["basedpyright (b.py, first looked at after an edit)"]);
        assert_eq!(verdict.status, Status::Partial);
        let mut clean = Verdict::without(Status::Complete);
        doubt_late(&mut clean, &BTreeSet::new(), &before, &after, Severity::Warning);
        assert_eq!((clean.status, clean.pending.len()), (Status::Complete, 0));
    }
}
