//! Removes from a task's diagnostics those in lines that somebody else has changed since its last edit of a file.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::state::comparison::Verdict;
use crate::state::journal::Journal;
use crate::state::snapshots::Snapshots;
use sextant_base::positions::LineIndex;
use sextant_text::edits::hunks::hunks;

/// Removes diagnostics in lines that others have typed from the new ones. Diagnostics that only a formatter can have
/// moved stay. So do those of a text that the task itself has left: a provider may not have reported on its last one.
pub(crate) fn leave_out(verdict: &mut Verdict, journal: &Journal, known: &Snapshots) {
    verdict.new.retain(|found| {
        let file = found.symbol.file.as_str();
        let mut changes = journal.checkpoints.iter().flat_map(|row| &row.files).filter(|change| change.path == file);
        let snap = known.get(&(file.to_owned(), found.diagnostic.source.clone()));
        let Some(now) = snap.and_then(|snap| snap.text.as_deref()) else { return true };
        let is_now = |text: &Option<Arc<str>>| text.as_deref() == Some(now);
        if changes.clone().any(|change| is_now(&change.before) || is_now(&change.after)) {
            return true;
        }
        let Some(left) = changes.next_back().and_then(|change| change.after.as_deref()) else { return true };
        changed_lines(left, now).iter().all(|lines| !lines.contains(&found.line))
    });
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
    use crate::state::journal::{Checkpoint, FileChange};
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
