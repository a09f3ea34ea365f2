//! The diagnostics that changes by others have brought or taken: a task that began before has not introduced them.

use std::sync::Arc;

use crate::state::comparison;
use crate::state::snapshots::{Snapshot, SnapshotKey, Snapshots};
use sextant_base::positions::Range;
use sextant_diagnostics::model::{Diagnostic, Location};
use sextant_text::edits::hunks::hunks;

/// A report from before a change by others, and the one after it, on the same text.
#[derive(Clone, Debug)]
pub(crate) struct BroughtByOthers {
    pub(crate) key: SnapshotKey,
    pub(crate) before: Arc<Snapshot>,
    pub(crate) after: Arc<Snapshot>,
}

/// Adds to the start of a task the diagnostics that others have brought since, and removes those that they have taken.
pub(crate) async fn renew(start: &mut Snapshots, brought: Vec<BroughtByOthers>) {
    for BroughtByOthers { key, before, after } in brought {
        let Some(old) = start.get(&key) else { continue };
        let side = |snap: &Arc<Snapshot>| Snapshots::from([(key.clone(), Arc::clone(snap))]);
        let verdict = comparison::compared(&side(&before), &side(&after), &[]).await;
        let (Some(then), Some(now)) = (&old.text, &after.text) else { continue };
        let mut diagnostics = old.diagnostics.clone();
        diagnostics.retain(|known| !verdict.fixed.contains(known));
        let came = verdict.new.into_iter().chain(verdict.revealed).map(|found| found.diagnostic);
        diagnostics.extend(came.filter_map(|found| earlier(found, then, now)));
        start.insert(key, Arc::new(Snapshot { text: Some(Arc::clone(then)), diagnostics }));
    }
}

/// A diagnostic of a later text in an earlier one; `None` in a line that was not there.
fn earlier(found: Diagnostic, then: &str, now: &str) -> Option<Diagnostic> {
    let Location::Range { file, range } = found.location.clone() else { return Some(found) };
    if then == now {
        return Some(found);
    }
    let line = usize::try_from(range.start.line).ok()?;
    let at: usize = now.split_inclusive('\n').take(line).map(str::len).sum();
    // The place of the line's first byte, hunk by hunk.
    let (mut later, mut sooner) = (0, 0);
    for hunk in hunks(then, now) {
        let kept = hunk.range.start - sooner;
        if at < later + kept {
            break;
        }
        (later, sooner) = (later + kept + hunk.text.len(), hunk.range.end);
        if at < later {
            return None;
        }
    }
    let line = then.get(..sooner + (at - later))?.matches('\n').count();
    let line = u32::try_from(line).ok()?;
    let mut range = Range { ..range };
    range.end.line = line + range.end.line.saturating_sub(range.start.line);
    range.start.line = line;
    Some(Diagnostic { location: Location::Range { file, range }, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::positions::Position;
    use sextant_diagnostics::model::{Confidence, Severity};

    fn diagnostic(message: &str, line: u32) -> Diagnostic {
        let range = Range { start: Position { line, character: 0 }, end: Position { line, character: 1 } };
        Diagnostic {
            source: "lsp:x".into(),
            severity: Severity::Error,
            code: None,
            message: message.into(),
            location: Location::Range { file: "a.py".into(), range },
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }

    #[test]
    fn a_diagnostic_moves_to_its_line_of_the_earlier_text() {
        let (then, now) = ("a\nb\nc\n", "new\na\nc\nend\n");
        let line = |at: u32| earlier(diagnostic("m", at), then, now).and_then(|found| found.location.range());
        assert_eq!([0, 1, 2, 3].map(|at| line(at).map(|range| range.start.line)), [None, Some(0), Some(2), None]);
    }

    #[tokio::test]
    async fn the_start_of_a_task_has_what_others_have_brought_and_nothing_that_they_have_taken() {
        let key = ("a.py".to_owned(), "lsp:x".to_owned());
        let snap = |text: &str, found: &[Diagnostic]| {
            Arc::new(Snapshot { text: Some(text.into()), diagnostics: found.to_vec() })
        };
        let (stays, gone, came) = (diagnostic("stays", 0), diagnostic("gone", 1), diagnostic("came", 2));
        let mut start = Snapshots::from([(key.clone(), snap("a\nb\n", &[stays.clone(), gone.clone()]))]);
        let (before, after) = (snap("a\nb\nc\n", &[stays.clone(), gone]), snap("a\nb\nc\n", &[stays.clone(), came]));
        renew(&mut start, vec![BroughtByOthers { key: key.clone(), before, after }]).await;
        let left: Vec<&str> = start[&key].diagnostics.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(left, ["stays"], "the line of the other one is the task's own");
        let after = snap("a\nb\nc\n", &[stays.clone(), diagnostic("came", 1)]);
        renew(&mut start, vec![BroughtByOthers { key: key.clone(), before: snap("a\nb\nc\n", &[stays]), after }]).await;
        assert_eq!(start[&key].diagnostics.len(), 2);
    }
}
