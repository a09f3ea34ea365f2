//! The diagnostics known before a change; those first known after it began are kept apart, as its possible effects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::editor::Document;
use crate::state::answer_status::Status;
use crate::state::comparison::{self, Verdict};
use crate::state::edit_request::EditRequest;
use crate::state::pending_report::PendingReport;
use crate::state::snapshots::{Snapshot, SnapshotKey, Snapshots, add_missing};
use crate::state::unlooked::Unlooked;
use sextant_base::plural::counted;
use sextant_diagnostics::code_aliases::{looks_at_one_file, tool};
use sextant_diagnostics::model::{Report, Severity};
use sextant_diagnostics::syntax;

/// The baseline of several edits that are compared as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    pub snaps: Snapshots,
    /// First known after the first of the edits, in a file that one of them may have broken.
    pub late: BTreeSet<SnapshotKey>,
    /// Files in reach of the edits that were looked at.
    pub reached: BTreeSet<String>,
    /// Those of the reached files that are open by themselves.
    pub open: BTreeSet<String>,
    /// The files in reach that were not looked at.
    pub unlooked: Unlooked,
    /// The files that the edits have changed so far.
    edited: BTreeSet<String>,
    /// Providers that have not reported on the exact text that an edit found.
    pub stale: Vec<PendingReport>,
}

impl Baseline {
    /// Adds the diagnostics known now. Earlier entries stay as they are.
    pub(crate) fn take(&mut self, known: &Snapshots, has_begun: bool) {
        for (key, snap) in known {
            if !self.snaps.contains_key(key) {
                self.snaps.insert(key.clone(), snap.clone());
                if has_begun && snap.text.is_some() && self.unlooked.may_be(&key.0) {
                    self.late.insert(key.clone());
                }
            }
        }
    }

    pub(crate) fn of(snaps: Snapshots, late: BTreeSet<SnapshotKey>, unlooked: Unlooked) -> Self {
        Self { snaps, late, unlooked, ..Self::default() }
    }

    /// True if an edit is the first change of a file whose text has no entry here.
    pub(crate) fn lacks(&self, wanted: &[EditRequest]) -> bool {
        let known = |path: &str, text: &str| {
            let mut of_file = self.snaps.iter().filter(|((file, _), _)| file == path).peekable();
            of_file.peek().is_some() && of_file.all(|(_, snap)| snap.text.as_deref() == Some(text))
        };
        let mut changed = wanted.iter().filter_map(EditRequest::document);
        changed.any(|document| !self.edited.contains(&document.path) && !known(&document.path, &document.text))
    }

    /// Notes the files of an edit. Where the first edit of a file finds another text, the entries of that text replace
    /// the older ones: others have changed the file since.
    pub(crate) fn begin(&mut self, want: &EditRequest, known: &Snapshots, has_begun: bool) {
        let is_first = self.edited.insert(want.path().to_owned());
        let Some(document) = want.document() else { return };
        for (key, snap) in of_text(known, document).filter(|_| is_first) {
            if self.snaps.get(key).is_some_and(|old| old.text != snap.text) {
                self.snaps.insert(key.clone(), snap.clone());
                if has_begun && self.unlooked.may_be(&key.0) {
                    self.late.insert(key.clone());
                }
            }
        }
    }

    /// Adds the diagnostics known of the text that the first edit of a file finds, and all others before the first edit
    /// of all.
    pub(crate) fn begin_with(&mut self, document: &Document, known: &Snapshots) {
        if self.edited.is_empty() {
            add_missing(&mut self.snaps, known);
        }
        if self.edited.insert(document.path.clone()) {
            self.snaps.extend(of_text(known, document).map(|(key, snap)| (key.clone(), snap.clone())));
        }
    }

    /// Adds the files that an edit reaches.
    pub(crate) fn take_reach(
        &mut self,
        looked_at: impl IntoIterator<Item = String>,
        open: Vec<String>,
        unlooked: &Unlooked,
        stale: Vec<PendingReport>,
    ) {
        self.reached.extend(looked_at);
        self.open.extend(open);
        self.unlooked.extend(unlooked);
        self.stale.extend(stale);
    }

    /// The files that the edits have changed so far.
    pub(crate) fn edited(&self) -> Vec<String> {
        self.edited.iter().cloned().collect()
    }

    /// True if the edits have changed this file.
    pub(crate) fn changes(&self, file: &str) -> bool {
        self.edited.contains(file)
    }

    /// Drops the entries of other texts of a file than this one.
    pub(crate) fn drop_older(&mut self, file: &str, text: &str) {
        self.snaps.retain(|key, snap| key.0 != file || snap.text.as_deref() == Some(text));
    }
}

fn of_text<'a>(
    known: &'a Snapshots,
    document: &'a Document,
) -> impl Iterator<Item = (&'a SnapshotKey, &'a Arc<Snapshot>)> {
    let text = Some(&*document.text);
    known.iter().filter(move |(key, snap)| key.0 == document.path && snap.text.as_deref() == text)
}

/// The state before a step, for the texts that it found in the files that it or an earlier step has changed. Others may
/// have changed a file between the step's beginning and its first edit there. A report on a text from before the
/// earlier step would make that step's diagnostics this one's.
pub(crate) fn before_first_edits(before: &mut Snapshots, first: &Snapshots, texts: &BTreeMap<String, Arc<str>>) {
    let is_of_text = |(file, _): &SnapshotKey, snap: &Arc<Snapshot>| {
        texts.get(file).is_none_or(|text| snap.text.as_deref() == Some(&**text))
    };
    before.retain(|key, snap| is_of_text(key, snap));
    add_missing(before, first);
    before.retain(|key, snap| is_of_text(key, snap));
}

/// The known reports before and after a change, to be compared.
#[derive(Debug, Default)]
pub(crate) struct BeforeAndAfter {
    pub before: Snapshots,
    pub after: Snapshots,
    /// The removed reports that may hide more.
    open: Vec<PendingReport>,
}

impl BeforeAndAfter {
    pub(crate) fn new(before: Snapshots, after: Snapshots) -> Self {
        Self { before, after, open: Vec::new() }
    }

    /// Removes the diagnostics of files that others have changed meanwhile, a user, a client or another editor: new
    /// ones there are not this change's. Names the providers that might have reported more in its reach.
    pub(crate) fn without_others(mut self, own: impl Fn(&str) -> bool, is_in_reach: impl Fn(&str) -> bool) -> Self {
        let moved = |key: &SnapshotKey, now: &Snapshot| self.before.get(key).is_some_and(|old| old.text != now.text);
        let others = self.after.iter().filter(|(key, now)| !own(&key.0) && moved(key, now));
        let others: Vec<SnapshotKey> = others.map(|(key, _)| key.clone()).collect();
        for key in &others {
            self.before.remove(key);
            self.after.remove(key);
        }
        let looks_further = |key: &&SnapshotKey| !looks_at_one_file(&key.1) && key.1 != syntax::NAME;
        let may_differ = others.iter().filter(|key| is_in_reach(&key.0)).filter(looks_further);
        self.open.extend(may_differ.map(|key| PendingReport::of(tool(&key.1), &key.0, "changed by others meanwhile")));
        self
    }

    /// Removes diagnostics first known after an edit that may have caused them, and names them: they are neither new
    /// nor old. The reports of single-file checkers there belong to no edit elsewhere.
    pub(crate) fn without_late(mut self, late: &BTreeSet<SnapshotKey>, floor: Severity) -> Self {
        for key in late.iter().filter(|key| !looks_at_one_file(&key.1)) {
            self.before.remove(key);
            let gone = self.after.remove(key);
            let many = gone.map_or(0, |snap| snap.diagnostics.iter().filter(|d| d.severity <= floor).count());
            if many > 0 {
                let many = counted(many, "diagnostic");
                let why = format!("first looked at after the edit: {many}, may be older");
                self.open.push(PendingReport::of(tool(&key.1), &key.0, &why));
            }
        }
        self
    }

    /// Compares the two; what was removed is in doubt.
    pub(crate) async fn compared(&mut self, reports: &[Report]) -> Verdict {
        let mut verdict = comparison::compared(&self.before, &self.after, reports).await;
        doubt(&mut verdict, std::mem::take(&mut self.open));
        verdict
    }
}

/// Adds to the unknown part of a verdict.
pub(crate) fn doubt(verdict: &mut Verdict, open: Vec<PendingReport>) {
    if !open.is_empty() && verdict.status == Status::Complete {
        verdict.status = Status::Partial;
    }
    verdict.pending.extend(open);
}

/// Names the providers that had not reported on the text before the edit: the comparison has an older state, or no
/// state.
pub(crate) fn doubt_stale(verdict: &mut Verdict, stale: &[PendingReport]) {
    for entry in stale {
        if !verdict.pending.iter().any(|pending| pending.covers(entry)) {
            verdict.pending.push(entry.of_older());
        }
        if verdict.status == Status::Complete {
            verdict.status = Status::Partial;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::pending_report::words;
    use sextant_diagnostics::model::{Confidence, Diagnostic, Location};

    fn snaps(reported: &[(&str, &str, Severity)]) -> Snapshots {
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
        reported.iter().map(of).collect()
    }

    #[test]
    fn what_was_known_first_stays_and_what_comes_later_is_marked_where_an_edit_may_have_brought_it() {
        let mut baseline = Baseline::default();
        baseline.take(&snaps(&[("a.py", "lsp:x", Severity::Error)]), false);
        baseline.unlooked = Unlooked::of(vec!["b.py".into()], "`x`", false);
        let later = ["a.py", "b.py", "c.py"].map(|file| (file, "lsp:x", Severity::Hint));
        baseline.take(&snaps(&later), true);
        let first = baseline.snaps.values().next().map(|snap| snap.diagnostics[0].severity);
        assert_eq!(first, Some(Severity::Error));
        assert_eq!(baseline.late, BTreeSet::from([("b.py".to_owned(), "lsp:x".to_owned())]));
    }

    #[test]
    fn what_others_change_meanwhile_is_not_this_change_s() {
        let reported = [
            ("own.py", "lsp:basedpyright", Severity::Error),
            ("other.py", "lsp:basedpyright", Severity::Error),
            ("other.py", "lsp:ruff", Severity::Error),
            ("apart.py", "lsp:basedpyright", Severity::Error),
            ("still.py", "lsp:basedpyright", Severity::Error),
        ];
        let (before, mut after) = (snaps(&reported), snaps(&reported));
        for (key, snap) in after.iter_mut().filter(|(key, _)| key.0 != "still.py") {
            let text = format!("{} is another\n", key.0);
            *snap = Arc::new(Snapshot { text: Some(text.as_str().into()), diagnostics: snap.diagnostics.clone() });
        }
        let BeforeAndAfter { before, after, open } =
            BeforeAndAfter::new(before, after).without_others(|file| file == "own.py", |file| file != "apart.py");
        let left = |snaps: &Snapshots| snaps.keys().map(|key| key.0.clone()).collect::<Vec<_>>();
        assert_eq!((left(&before), left(&after)), (vec!["own.py".into(), "still.py".into()], left(&before)));
        assert_eq!(words(&open), ["basedpyright (other.py, changed by others meanwhile)"]);
        let mut verdict = Verdict::without(Status::Complete);
        doubt(&mut verdict, Vec::new());
        assert_eq!(verdict.status, Status::Complete);
        doubt(&mut verdict, open);
        assert_eq!((verdict.status, verdict.pending.len()), (Status::Partial, 1));
    }

    #[test]
    fn what_was_first_seen_after_an_edit_is_neither_new_nor_old() {
        let before = snaps(&[
            ("b.py", "lsp:basedpyright", Severity::Error),
            ("c.py", "lsp:ruff", Severity::Error),
            ("d.py", "lsp:basedpyright", Severity::Hint),
        ]);
        let (after, late) = (before.clone(), before.keys().cloned().collect());
        let BeforeAndAfter { before, after, open } =
            BeforeAndAfter::new(before, after).without_late(&late, Severity::Warning);
        assert_eq!(words(&open), ["basedpyright (b.py, first looked at after the edit: 1 diagnostic, may be older)"]);
        assert_eq!(after.keys().map(|key| key.0.as_str()).collect::<Vec<_>>(), ["c.py"]);
        assert_eq!(before.len(), after.len());
    }
}
