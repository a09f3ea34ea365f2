//! Removes from a task's diagnostics those in lines that somebody else has changed since its last edit of a file.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::state::comparison::Verdict;
use crate::state::journal::{CheckpointKind, FileChange, Journal};
use crate::state::review::file_review::shifted;
use crate::state::snapshots::Snapshots;
use sextant_base::positions::LineIndex;
use sextant_text::edits::hunks::hunks;
use sextant_text::edits::line_edits::line_edits;

/// Removes diagnostics in lines that others have typed from the new ones: behind the task's last change of a file, and
/// before an undo, which has such lines in both of its texts. Diagnostics that only a formatter can have moved
/// stay. So do those of a text that the task itself has left: a provider may not have reported on its last one.
pub(crate) fn leave_out(verdict: &mut Verdict, journal: &Journal, known: &Snapshots) {
    verdict.new.retain(|found| {
        let file = found.symbol.file.as_str();
        let snap = known.get(&(file.to_owned(), found.diagnostic.source.clone()));
        let Some(now) = snap.and_then(|snap| snap.text.as_deref()) else { return true };
        let rows = journal.checkpoints.iter().flat_map(|row| row.files.iter().map(|change| (row.kind, change)));
        let changes: Vec<(CheckpointKind, &FileChange)> = rows.filter(|(_, change)| change.path == file).collect();
        let typed = typed_lines(&changes, now);
        !typed.iter().any(|lines| lines.contains(&found.line))
    });
}

/// The lines of the present text that somebody has typed before an undo or behind the last change of a file.
fn typed_lines(changes: &[(CheckpointKind, &FileChange)], now: &str) -> Vec<RangeInclusive<u32>> {
    let is_now = |text: &Option<Arc<str>>| text.as_deref() == Some(now);
    // The present text is one of the task's, or somebody has typed since its last change.
    let last = changes.iter().rposition(|(_, change)| is_now(&change.before) || is_now(&change.after));
    let until = last.map_or(changes.len(), |last| last + 1);
    let mut typed = Vec::new();
    for pair in changes[..until].windows(2) {
        let (Some(left), Some(found)) = (pair[0].1.after.as_deref(), pair[1].1.before.as_deref()) else { continue };
        // Before another edit, a formatter may have changed what the task has written.
        if pair[1].0 == CheckpointKind::Edit {
            continue;
        }
        typed.extend(carried(changed_lines(left, found), found, now));
    }
    if last.is_none()
        && let Some(left) = changes.last().and_then(|(_, change)| change.after.as_deref())
    {
        typed.extend(changed_lines(left, now));
    }
    typed
}

/// The places of these lines in a later text; lines that were changed since are left out.
fn carried(lines: Vec<RangeInclusive<u32>>, before: &str, now: &str) -> Vec<RangeInclusive<u32>> {
    let (edits, index, after) = (line_edits(before, now), LineIndex::new(before), LineIndex::new(now));
    let place = |line: u32| {
        let line = (line as usize).saturating_sub(1);
        let place = shifted(&(index.line_start(line)..index.line_start(line + 1)), &edits)?;
        let line = u32::try_from(after.line_of(place.start) + 1).ok()?;
        Some(line..=line)
    };
    lines.into_iter().flatten().filter_map(place).collect()
}

/// The lines of a text, counted from 1, that differ from an earlier one in more than white space.
fn changed_lines(before: &str, now: &str) -> Vec<RangeInclusive<u32>> {
    let index = LineIndex::new(now);
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let other = hunks(now, before).into_iter().filter(|hunk| words(&now[hunk.range.clone()]) != words(&hunk.text));
    let line = |offset| u32::try_from(index.line_of(offset) + 1).unwrap_or(u32::MAX);
    other.filter(|hunk| !hunk.range.is_empty()).map(|hunk| line(hunk.range.start)..=line(hunk.range.end - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Marks;
    use crate::state::answer_status::Status;
    use crate::state::journal::Checkpoint;
    use crate::state::snapshots::Snapshot;
    use sextant_diagnostics::located::LocatedDiagnostic;
    use sextant_diagnostics::model::{Confidence, Diagnostic, Location, Severity};
    use sextant_text::symbols::symbol_path::SymbolPath;

    #[test]
    fn lines_count_that_say_something_else_and_no_others() {
        let before = "def f():\n    return a\n";
        assert_eq!(changed_lines(before, "def f():\n    return a\n\nfoo = bar\n"), [3..=4]);
        assert_eq!(changed_lines(before, "def f():\n    return b\n"), [2..=2]);
        assert_eq!(changed_lines(before, "def f():\n        return a\n"), []);
        assert_eq!(changed_lines(before, "def f():\n"), [], "where something is gone nothing was typed");
    }

    #[test]
    fn what_was_typed_before_an_undo_is_not_the_task_s_behind_it() {
        let change = |before: &str, after: &str| FileChange {
            path: "a.py".into(),
            before: Some(before.into()),
            after: Some(after.into()),
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        };
        let (start, edited, typed) = ("a\nb\nc\n", "a\nB\nB\nc\n", "a\nB\nB\nc\nmine\n");
        let (undone, more) = ("a\nb\nc\nmine\n", "mine too\na\nb\nc\nmine\n");
        let (edit, undo) = (change(start, edited), change(typed, undone));
        let (edit, undo) = ((CheckpointKind::Edit, &edit), (CheckpointKind::Rollback, &undo));
        assert_eq!(typed_lines(&[edit], edited), []);
        assert_eq!(typed_lines(&[edit], typed), [5..=5]);
        assert_eq!(typed_lines(&[edit, undo], undone), [4..=4]);
        assert_eq!(typed_lines(&[edit, undo], more), [5..=5, 1..=1]);
        assert_eq!(typed_lines(&[edit, undo], edited), [], "a text of before it was typed");
        assert_eq!(typed_lines(&[edit, undo], "a\nb\nc\nMine\n"), [4..=4], "typed over");
    }

    #[test]
    fn who_has_not_spoken_of_the_last_text_takes_nothing_of_the_task_s_away() {
        let texts = ["def f():\n    return a\n", "def f():\n    return b\n", "def f():\n    return b\n\nx = mine\n"];
        let change = FileChange {
            path: "a.py".into(),
            before: Some(texts[0].into()),
            after: Some(texts[1].into()),
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        };
        let row = Checkpoint { files: vec![change], ..Checkpoint::default() };
        let journal = Journal { checkpoints: vec![row], ..Journal::default() };
        let found = |source: &str, line: u32| LocatedDiagnostic {
            diagnostic: Diagnostic {
                source: source.into(),
                severity: Severity::Error,
                code: None,
                message: "not there".into(),
                location: Location::Global,
                confidence: Confidence::High,
                suggested_action: None,
                evidence: None,
            },
            sources: vec![source.into()],
            symbol: SymbolPath::new("a.py", ""),
            line,
            column: 1,
        };
        let left = |now: &str| {
            let of = |text: &str| Arc::new(Snapshot { text: Some(text.into()), diagnostics: Vec::new() });
            let key = |name: &str| ("a.py".to_owned(), name.to_owned());
            let known: Snapshots = [(key("late"), of(texts[0])), (key("fresh"), of(now))].into_iter().collect();
            let new = vec![found("fresh", 2), found("fresh", 4), found("late", 2)];
            let mut verdict = Verdict { new, ..Verdict::without(Status::Complete) };
            leave_out(&mut verdict, &journal, &known);
            verdict.new.iter().map(|one| (one.sources[0].clone(), one.line)).collect::<Vec<_>>()
        };
        let own = [("fresh".to_owned(), 2), ("late".to_owned(), 2)];
        assert_eq!(left(texts[2]), own, "what was typed is not the task's");
        assert_eq!(left(texts[1]).len(), 3, "nobody has typed");
    }
}
