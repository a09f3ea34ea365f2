//! An edit of a text that has changed since it was thought of: made where the symbols that it touches read as they did,
//! and told; refused anywhere else.

use crate::agent::state::edit_request::EditRequest;
use crate::agent::state::session::Session;
use crate::base::failure::{Failure, tool_failure};
use crate::base::secrets::mask;
use crate::base::text::LineIndex;
use crate::editor::Document;
use crate::edits::hunks::hunks;
use crate::edits::{TextEdit, rebase};
use crate::symbols::language;

/// Lines of a current text that are shown: more than that has to be read.
pub(crate) const CURRENT_LINES: usize = 60;

/// How often one edit is moved: whoever types all the time has the file.
pub(crate) const TRIES: usize = 3;

/// The lines of a text that differ from what was seen of it: the first, and how many.
fn changed_lines(seen: &str, now: &str) -> (usize, usize) {
    let (index, changed) = (LineIndex::new(now), hunks(now, seen));
    let first = changed.first().map_or(0, |edit| index.line_of(edit.range.start));
    let last = changed.last().map_or(0, |edit| index.line_of(edit.range.end));
    (first, last + 1 - first)
}

fn lines(text: &str, first: usize, count: usize) -> String {
    mask(text).lines().skip(first).take(count).collect::<Vec<_>>().join("\n")
}

/// The refusal of an edit of a text that was seen in another state, which shows the current one.
pub(crate) fn refusal(document: &Document, seen: &str) -> Failure {
    let first = changed_lines(seen, &document.text).0.saturating_sub(3);
    tool_failure(
        format!("{} changed since it was read; nothing was written", document.path),
        format!("from line {} it now reads:\n{}", first + 1, lines(&document.text, first, CURRENT_LINES)),
    )
}

/// What is told of an edit of such a text that was made all the same. `None` where what changed is too much to be
/// shown: an edit of another place, thought of later, would meet what nobody has seen.
fn note(document: &Document, seen: &str) -> Option<String> {
    let (first, count) = changed_lines(seen, &document.text);
    (count <= CURRENT_LINES).then(|| {
        format!(
            "{} had changed since it was read, but not in what was edited. Before the edit it read from line {}:\n{}",
            document.path,
            first + 1,
            lines(&document.text, first, count)
        )
    })
}

/// What to tell of an edit that was worked out on a text as it is now by somebody who has seen another one.
///
/// # Errors
/// A symbol that it touches reads otherwise than was seen, or too much has changed to be shown.
pub(crate) fn allow(document: &Document, seen: &str, edits: &[TextEdit]) -> Result<String, Failure> {
    let back =
        language::of_path(&document.path).and_then(|language| rebase::rebase(language, &document.text, seen, edits));
    back.and_then(|_| note(document, seen)).ok_or_else(|| refusal(document, seen))
}

/// The same edits of the files as they are now, with what is to be told of those that had changed. `None` where one
/// cannot be moved.
pub(crate) async fn moved(session: &Session, wanted: &[EditRequest]) -> Option<(Vec<EditRequest>, Vec<String>)> {
    let (mut edits, mut notes) = (Vec::with_capacity(wanted.len()), Vec::new());
    for want in wanted {
        let EditRequest::Change { document: old, hunks } = want else {
            edits.push(want.clone());
            continue;
        };
        let document = session.editor.read(&old.path).await.ok()?;
        let mut hunks = hunks.clone();
        if document.text != old.text {
            hunks = rebase::rebase(language::of_path(&old.path)?, &old.text, &document.text, &hunks)?;
            notes.push(note(&document, &old.text)?);
        }
        edits.push(EditRequest::Change { document, hunks });
    }
    Some((edits, notes))
}
