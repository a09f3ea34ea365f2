//! Taking a whole task back, and bringing it back again.

use crate::agent::journal::{Checkpoint, FileChange, Journal};
use crate::agent::outcome::Ending;
use crate::agent::session::Session;
use crate::base::failure::{Failure, Kind};
use crate::editor::event::Event;
use crate::editor::{Document, FileEdit};
use crate::edits::TextEdit;
use crate::edits::apply::apply;
use crate::edits::hunks::hunks;

impl Session {
    /// Undoes the last task, all files; once more brings it back. Refused whole when the user's own later
    /// changes touch the same lines.
    pub async fn undo(&self) -> Ending<String> {
        let result = self.undo_last().await;
        if result.is_ok() {
            self.undone().await;
        }
        Ending::new(result, Vec::new(), |summary| (true, summary.clone()))
    }

    /// Tells memory that the user took the last task back, or brought it back.
    async fn undone(&self) {
        let Some((task, mode)) = self.last_task.lock().await.clone() else { return };
        let Some(request) = self.last.lock().await.as_ref().map(|journal| journal.request.clone()) else { return };
        let undone = request.strip_prefix("undo of: ");
        self.feedback(&task, mode, undone.unwrap_or(&request), undone.is_some(), "").await;
    }

    async fn undo_last(&self) -> Result<String, Failure> {
        let mut last = self.last.lock().await;
        let Some(journal) = last.clone() else {
            return Err(Failure::user(
                "there is nothing to undo",
                "only what Sextant itself changed is undone here; `u` undoes the rest",
            ));
        };
        let net = journal.net();
        if net.is_empty() {
            return Err(Failure::user("the last task changed nothing", "nothing has to be undone"));
        }
        let inverse: Vec<FileChange> = net.into_iter().rev().map(FileChange::inverse).collect();
        let files = self.carry_over(&inverse).await?;
        let undone = journal.request.strip_prefix("undo of: ");
        let request = undone.map_or_else(|| format!("undo of: {}", journal.request), str::to_owned);
        let summary = match undone {
            Some(request) => format!("brought back “{request}”: {}", names(&files)),
            None => format!("undone “{}”: {}", journal.request, names(&files)),
        };
        *last = Some(Journal { request, checkpoints: vec![Checkpoint { id: self.next_checkpoint(), files }] });
        for change in last.iter().flat_map(Journal::net) {
            self.editor.show(Event::Edited { path: change.path, symbols: Vec::new() });
        }
        Ok(summary)
    }

    /// Brings files from `before` to `after`, keeping what the user changed elsewhere in them. All or none.
    pub(crate) async fn carry_over(&self, changes: &[FileChange]) -> Result<Vec<FileChange>, Failure> {
        let mut edits = Vec::new();
        let mut done = Vec::new();
        for change in changes {
            let document = match &change.before {
                Some(_) => Some(self.editor.read(&change.path).await?),
                None => None,
            };
            let (edit, after) = plan(change, document.as_ref())?;
            done.push(FileChange { before: document.map(|document| document.text), after, ..change.clone() });
            edits.push(edit);
        }
        let applied = self.editor.apply(&edits, self.config.save).await?;
        for (change, applied) in changes.iter().zip(&applied) {
            if applied.document.is_some() {
                self.editor.restore_marks(&change.path, &change.marks_after, &change.marks_before).await;
            }
        }
        Ok(done)
    }
}

fn names(files: &[FileChange]) -> String {
    files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ")
}

/// The edit for one file, and the text that it leads to.
fn plan(change: &FileChange, now: Option<&Document>) -> Result<(FileEdit, Option<String>), Failure> {
    let path = change.path.clone();
    match (&change.before, &change.after, now) {
        (None, Some(text), _) => Ok((FileEdit::Create { path, text: text.clone() }, Some(text.clone()))),
        (Some(before), after, Some(document)) => {
            let Some(after) = after else {
                if document.text != *before {
                    return Err(touched(&path));
                }
                return Ok((FileEdit::Delete { path, version: document.version }, None));
            };
            let ours = hunks(before, after);
            let shifted = shift(&ours, &hunks(before, &document.text)).ok_or_else(|| touched(&path))?;
            let text = apply(&document.text, &shifted).map_err(|_| touched(&path))?;
            Ok((FileEdit::Change { path, version: document.version, hunks: shifted }, Some(text)))
        }
        _ => Err(Failure::new(Kind::Internal, format!("{path} has no state to go back to"), "undo it by hand")),
    }
}

fn touched(path: &str) -> Failure {
    Failure::user(
        format!("{path} was changed since, in the same place; nothing was undone"),
        "undo your own change first (`u`), or take over the rest by hand",
    )
}

/// Moves edits of a text to where they belong after other edits of the same text; `None` where they touch.
fn shift(ours: &[TextEdit], others: &[TextEdit]) -> Option<Vec<TextEdit>> {
    let mut out = Vec::new();
    for edit in ours {
        let mut start = edit.range.start;
        for other in others {
            if other.range.end < edit.range.start || (other.range.end == edit.range.start && !other.range.is_empty()) {
                start = start + other.text.len() - other.range.len();
            } else if other.range.start <= edit.range.end {
                return None;
            }
        }
        out.push(TextEdit { range: start..start + edit.range.len(), text: edit.text.clone() });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Marks;

    fn undo(before: &str, after: &str, now: &str) -> Result<Option<String>, Failure> {
        let change = FileChange {
            path: "a.py".into(),
            before: Some(after.into()),
            after: Some(before.into()),
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        };
        let document =
            Document { path: "a.py".into(), text: now.into(), version: 1, exists: true, unsaved: false, locked: None };
        plan(&change, Some(&document)).map(|(_, text)| text)
    }

    #[test]
    fn what_the_user_changed_elsewhere_stays() {
        let before = "one\ntwo\nthree\nfour\n";
        let after = "one\nTWO!\nthree\nfour\n";
        assert_eq!(undo(before, after, after), Ok(Some(before.into())));
        assert_eq!(
            undo(before, after, "zero\none\nTWO!\nthree\nFOUR\n"),
            Ok(Some("zero\none\ntwo\nthree\nFOUR\n".into()))
        );
    }

    #[test]
    fn what_the_user_changed_in_the_same_place_refuses() {
        let failure = undo("one\ntwo\n", "one\nTWO\n", "one\nTWO and mine\n").expect_err("touched");
        assert!(failure.message.contains("nothing was undone"), "{failure}");
    }
}
