//! Moves an edit onto a text that has changed since it was read, and refuses it where that is not safe.
//!
//! The edit is made, with a note, where the symbols that it touches read as they did, or its lines outside symbols. It
//! is refused anywhere else.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::editor::{Document, Editor};
use crate::state::edit_request::EditRequest;
use crate::state::read_views::SeenTexts;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::positions::LineIndex;
use sextant_base::secrets::mask;
use sextant_text::edits::hunks::hunks;
use sextant_text::edits::unified::unified;
use sextant_text::edits::{TextEdit, rebase};
use sextant_text::symbols::language;

/// Lines and bytes of shown changes: larger ones have to be read.
const LINES: usize = 60;
const BYTES: usize = 8 * 1024;

/// How often one edit is moved: a user who types all the time owns the file.
pub(crate) const TRIES: usize = 5;

/// The time without typing after which an edit that met typing twice is tried again.
const REST: Duration = Duration::from_millis(400);

/// The longest wait for such a rest.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until nobody has typed in a file for a moment. While somebody types, a server's answer is about an older text
/// each time.
pub(crate) async fn rest(editor: &dyn Editor, path: &str) {
    let patience = Deadline::after(PATIENCE);
    let version = async || editor.read(path).await.ok().map(|document| document.version);
    let mut before = version().await;
    while !patience.passed() {
        tokio::time::sleep(REST).await;
        let now = version().await;
        if now == before {
            return;
        }
        before = now;
    }
}

/// Refuses an edit of a text that was seen in another state, and shows only the changes since. The changes come as
/// hunks, or where they are too large as the text from the first of them on.
pub(crate) fn refuse(seen_texts: &mut SeenTexts, document: &Document, seen: &str) -> Failure {
    let (text, index, changed) = (&document.text, LineIndex::new(&document.text), hunks(&document.text, seen));
    let first = changed.first().map_or(0, |edit| index.line_of(edit.range.start)).saturating_sub(3);
    let last = changed.last().map_or(0, |edit| index.line_of(edit.range.end)).saturating_add(4);
    let now = match changes(document, seen, 3) {
        Some(changes) => {
            seen_texts.whole(&document.path, Arc::clone(text));
            format!("what has changed:\n{changes}")
        }
        None => {
            let (shown, lines) = shown(text, first..last.min(first + LINES));
            seen_texts.lines(&document.path, text, lines);
            format!("from line {} it now reads:\n{shown}", first + 1)
        }
    };
    tool_failure(format!("{} changed since it was read; nothing was written", document.path), now)
}

/// The differences to the seen text, with so many lines around each, where there is room for all of them.
fn changes(document: &Document, seen: &str, context: u32) -> Option<String> {
    let changes = unified(&mask(seen), &mask(&document.text), context);
    let fits = changes.lines().count() <= LINES && changes.len() <= BYTES;
    fits.then(|| changes.trim_end().to_owned())
}

/// As many of these lines as there is room for, at least one.
fn shown(text: &str, lines: Range<usize>) -> (String, Range<usize>) {
    let mut out = String::new();
    let mut end = lines.start;
    for line in mask(text).lines().skip(lines.start).take(lines.len()) {
        if !out.is_empty() && out.len() + line.len() > BYTES {
            break;
        }
        out.push_str(if out.is_empty() { "" } else { "\n" });
        out.push_str(&line[..line.floor_char_boundary(BYTES)]);
        end += 1;
    }
    (out, lines.start..end)
}

/// The note for an edit of such a text that was made all the same. `None` where the changes are too large to be shown:
/// an edit of another place, planned later, would meet text that nobody has seen.
fn note(document: &Document, seen: &str) -> Option<String> {
    let changes = changes(document, seen, 1)?;
    let path = &document.path;
    Some(format!("{path} had changed since it was read, but not in what was edited; before the edit:\n{changes}"))
}

/// The edits of a text as edits of its changed form, with a note on the changes. `None` where one cannot be moved, or
/// the changes are too large to be shown.
pub(crate) fn onto(document: &Document, seen: &str, edits: &[TextEdit]) -> Option<(Vec<TextEdit>, String)> {
    let language = language::of_path(&document.path);
    let by_symbol = language.and_then(|language| rebase::rebase(language, seen, &document.text, edits));
    let moved = by_symbol.or_else(|| rebase::by_lines(language, seen, &document.text, edits));
    Some((moved?, note(document, seen)?))
}

/// The same edits of the files as they are now, with notes on the changed files. `None` where one cannot be moved.
pub(crate) async fn moved(editor: &dyn Editor, wanted: &[EditRequest]) -> Option<(Vec<EditRequest>, Vec<String>)> {
    let (mut edits, mut notes) = (Vec::with_capacity(wanted.len()), Vec::new());
    for want in wanted {
        let EditRequest::Change { document: old, hunks, of_symbols, .. } = want else {
            edits.push(want.clone());
            continue;
        };
        let document = editor.read(&old.path).await.ok()?;
        let mut hunks = hunks.clone();
        if document.text != old.text {
            let (moved, note) = onto(&document, &old.text, &hunks).filter(|_| *of_symbols)?;
            hunks = moved;
            notes.push(note);
        }
        edits.push(EditRequest::change(document, hunks, *of_symbols));
    }
    Some((edits, notes))
}
