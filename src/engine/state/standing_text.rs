//! The part of a change that still stands: without the lines that were rejected or taken out since. Pure functions.

use std::sync::Arc;

use crate::state::journal::FileChange;
use crate::state::review::file_review::is_beside;
use crate::state::review::workspace_review::RejectedText;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::line_edits::line_edits;

/// The change as far as it stands in the file as it is; `None` where nothing of it does. Typing in other lines, and
/// lines that became others, leave it as it was.
pub(crate) fn standing(change: FileChange, now: Option<&str>, rejected: &[RejectedText]) -> Option<FileChange> {
    if change.before.as_deref() == now {
        return None;
    }
    let (Some(after), Some(now)) = (change.after.as_deref(), now) else { return Some(change) };
    let before = change.before.as_deref().unwrap_or_default();
    let rejected = rejected.iter().filter(|one| one.path == change.path);
    let decided: Vec<TakenLines> = rejected.flat_map(|one| taken(&one.with, &one.without)).collect();
    let text: Arc<str> = text(before, after, now, &decided).into();
    (*text != *before || change.before.is_none()).then_some(FileChange { after: Some(text), ..change })
}

/// Lines that a rejection has taken out of a text, and those that it has put in their place.
#[derive(PartialEq, Eq)]
struct TakenLines {
    gone: String,
    back: String,
}

fn taken(with: &str, without: &str) -> Vec<TakenLines> {
    let lines = |edit: TextEdit| TakenLines { gone: with[edit.range].to_owned(), back: edit.text };
    line_edits(with, without).into_iter().map(lines).collect()
}

fn text(before: &str, after: &str, now: &str, decided: &[TakenLines]) -> String {
    let own = line_edits(after, before);
    let mut back: Vec<TextEdit> = Vec::new();
    for edit in line_edits(after, now) {
        let touched: Vec<&TextEdit> = own.iter().filter(|own| is_beside(&own.range, &edit.range)).collect();
        if touched.is_empty() {
            continue;
        }
        if leads_back(before, after, &own, &edit) {
            back.push(edit);
        } else if decided.contains(&TakenLines { gone: after[edit.range.clone()].to_owned(), back: edit.text.clone() })
        {
            // It led to a text of before an earlier task, whose changes waited as well.
            let holds = |own: &&&TextEdit| own.range.start >= edit.range.start && own.range.end <= edit.range.end;
            back.extend(touched.iter().filter(holds).map(|own| (*own).clone()));
        }
    }
    apply(after, &back).unwrap_or_else(|_| after.to_owned())
}

/// True if an edit takes nothing but changed lines back: each line of it is a difference less.
fn leads_back(before: &str, after: &str, own: &[TextEdit], edit: &TextEdit) -> bool {
    let size = |text: &str, edits: &[TextEdit]| -> usize {
        edits.iter().map(|edit| text[edit.range.clone()].lines().count() + edit.text.lines().count()).sum()
    };
    let Ok(nearer) = apply(after, std::slice::from_ref(edit)) else { return false };
    let left = size(&nearer, &line_edits(&nearer, before));
    left + size(after, std::slice::from_ref(edit)) == size(after, own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Marks;

    fn stands(before: Option<&str>, after: &str, now: Option<&str>, rejected: &[RejectedText]) -> Option<String> {
        let change = FileChange {
            path: "a.py".into(),
            before: before.map(Into::into),
            after: Some(after.into()),
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        };
        standing(change, now, rejected).and_then(|change| change.after).map(|text| text.to_string())
    }

    #[test]
    fn rejected_hunks_and_rejected_parts_of_them_do_not_stand() {
        let (before, after) = ("a\nb\nc\nd\ne\n", "a\nB\nc\nnew\nnewer\nd\nE\n");
        let cases = [
            (after, Some(after)),
            ("a\nb\nc\nnew\nnewer\nd\nE\n", Some("a\nb\nc\nnew\nnewer\nd\nE\n")),
            ("a\nB\nc\nnewer\nd\nE\n", Some("a\nB\nc\nnewer\nd\nE\n")),
            ("a\nB\nc\nd\nE\n", Some("a\nB\nc\nd\nE\n")),
            (before, None),
            ("typed\na\nb\nc\nnew\nnewer\nd\nE\n", Some("a\nb\nc\nnew\nnewer\nd\nE\n")),
        ];
        for (now, wanted) in cases {
            assert_eq!(stands(Some(before), after, Some(now), &[]).as_deref(), wanted, "{now}");
        }
    }

    #[test]
    fn a_line_that_the_user_rewrote_is_still_the_change_of_the_task() {
        let (before, after) = ("a\nb\nc\n", "a\nB\nc\n");
        assert_eq!(stands(Some(before), after, Some("a\nmine\nc\n"), &[]).as_deref(), Some(after));
        assert_eq!(stands(Some(before), after, None, &[]).as_deref(), Some(after), "the file is gone");
    }

    #[test]
    fn a_made_file_that_was_rejected_is_gone_and_a_part_of_it_stands() {
        assert_eq!(stands(None, "a\nb\n", None, &[]), None);
        assert_eq!(stands(None, "a\nb\n", Some("a\n"), &[]).as_deref(), Some("a\n"));
    }

    #[test]
    fn a_rejection_behind_two_tasks_takes_the_second_one_back_too() {
        let (before, after, now) = ("a\nb2\nc\nd\n", "a\nb3\nc\nD\n", "a\nb1\nc\nD\n");
        assert_eq!(stands(Some(before), after, Some(now), &[]).as_deref(), Some(after), "typed");
        let one = serde_json::json!({"path": "a.py", "with": after, "without": now});
        let one: RejectedText = serde_json::from_value(one).unwrap();
        assert_eq!(stands(Some(before), after, Some(now), &[one]).as_deref(), Some("a\nb2\nc\nD\n"));
    }
}
