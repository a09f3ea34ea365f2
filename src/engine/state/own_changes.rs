//! Finds the changes that a task itself has made in each file: without those that others have typed between its edits.

use std::sync::Arc;

use crate::state::journal::{FileChange, Journal};
use crate::state::review::file_review::{is_beside, shifted};
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::line_edits::line_edits;

/// One change a file, from before the task to after it. Its text of before has the lines that others have typed since,
/// so that they are no part of the change. Files that ended as they began are left out.
pub(crate) fn own_changes(journal: &Journal) -> Vec<FileChange> {
    let mut own: Vec<FileChange> = Vec::new();
    for change in journal.checkpoints.iter().flat_map(|row| &row.files) {
        let Some(known) = own.iter_mut().find(|known| known.path == change.path) else {
            own.push(change.clone());
            continue;
        };
        if let Some(before) = with_typing(known, change.before.as_deref()) {
            known.before = Some(before);
        }
        known.after.clone_from(&change.after);
        known.marks_after.clone_from(&change.marks_after);
    }
    own.retain(|change| change.before != change.after);
    own
}

/// The text before a change with what was typed behind it, as far as that touches none of the change. A formatter, and
/// a user who types on, belong to the lines of the change.
fn with_typing(change: &FileChange, now: Option<&str>) -> Option<Arc<str>> {
    let (before, after, now) = (change.before.as_deref()?, change.after.as_deref()?, now?);
    if after == now {
        return None;
    }
    let own = line_edits(after, before);
    let is_apart = |edit: &TextEdit| !own.iter().any(|own| is_beside(&own.range, &edit.range));
    let typed = line_edits(after, now).into_iter().filter(is_apart);
    let moved: Vec<TextEdit> =
        typed.filter_map(|edit| Some(TextEdit::new(shifted(&edit.range, &own)?, edit.text))).collect();
    apply(before, &moved).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Marks;
    use crate::state::journal::Checkpoint;

    fn journal(texts: &[(&str, &str)]) -> Journal {
        let row = |(before, after): &(&str, &str)| Checkpoint {
            files: vec![FileChange {
                path: "a.py".into(),
                before: Some((*before).into()),
                after: Some((*after).into()),
                marks_before: Marks::Null,
                marks_after: Marks::Null,
            }],
            ..Checkpoint::default()
        };
        Journal { checkpoints: texts.iter().map(row).collect(), ..Journal::default() }
    }

    fn own(texts: &[(&str, &str)]) -> Option<(String, String)> {
        let text = |text: Option<Arc<str>>| text.map(|text| text.to_string()).unwrap_or_default();
        own_changes(&journal(texts)).pop().map(|change| (text(change.before), text(change.after)))
    }

    #[test]
    fn lines_that_were_typed_between_two_edits_are_no_change_of_the_task() {
        let (begun, once) = ("a\nb\nc\nd\ne\n", "a\nB\nnew\nc\nd\ne\n");
        let typed = "a\nB\nnew\nc\nd\nmine\ne\n";
        let twice = "a\nB\nnewer\nc\nd\nmine\ne\n";
        assert_eq!(own(&[(begun, once), (typed, twice)]), Some(("a\nb\nc\nd\nmine\ne\n".into(), twice.into())));
        let gone = "a\nB\nnew\nc\nd\n";
        assert_eq!(
            own(&[(begun, once), (gone, "a\nB\nnewer\nc\nd\n")]).map(|(before, _)| before),
            Some("a\nb\nc\nd\n".into())
        );
        // Typing on lines of the task looks like the work of a formatter.
        let on = "a\nB2\nnew\nc\nd\ne\n";
        assert_eq!(own(&[(begun, once), (on, "A\nB2\nnew\nc\nd\ne\n")]).map(|(before, _)| before), Some(begun.into()));
        assert_eq!(own(&[(begun, once), (once, begun)]), None, "it ended as it began");
    }
}
