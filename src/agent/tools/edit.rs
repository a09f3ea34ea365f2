//! What the editing tools ask before they edit: whether the text was seen as it is, where a symbol is in it, and when
//! the answer is wanted.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::state::edit_request::When;
use crate::agent::state::task::Task;
use crate::base::failure::{Failure, tool_failure};
use crate::base::secrets::mask;
use crate::base::text::LineIndex;
use crate::editor::Document;
use crate::edits::hunks::hunks;

/// Leaves the diagnostics of an edit to the next result, so that a burst of edits is settled once. Taken where it is
/// given; but no model is told of it: next to a call of a model a settling costs nothing, and a small one puts off
/// every answer, and then mends what it has mended.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Defer {
    Defer,
}

impl From<Option<Defer>> for When {
    fn from(given: Option<Defer>) -> Self {
        given.map_or(Self::Now, |_| Self::Defer)
    }
}

/// Lines of the current text that a refusal of a stale edit shows.
pub(crate) const CURRENT_LINES: usize = 60;

/// Refuses an edit of a text that the model has seen in another state, and shows it the current one.
pub(crate) fn refuse_stale(task: &mut Task, document: &Document) -> Result<(), Failure> {
    let seen = task.conversation.seen.insert(document.path.clone(), document.text.as_str().into());
    let Some(seen) = seen.filter(|seen| **seen != *document.text) else { return Ok(()) };
    let index = LineIndex::new(&document.text);
    let changed = hunks(&document.text, &seen);
    let first = changed.first().map_or(0, |edit| index.line_of(edit.range.start));
    let from = first.saturating_sub(3);
    let open = mask(&document.text);
    let current: Vec<&str> = open.lines().skip(from).take(CURRENT_LINES).collect();
    Err(tool_failure(
        format!("{} changed since it was read; nothing was written", document.path),
        format!("from line {} it now reads:\n{}", from + 1, current.join("\n")),
    ))
}

/// The bytes of a symbol in a document.
pub(crate) fn place_in(document: &Document, symbol: &str) -> Result<std::ops::Range<usize>, Failure> {
    let language = crate::symbols::language::of_path(&document.path).ok_or_else(|| {
        tool_failure(format!("{} is in a language without symbols here", document.path), "leave out symbol")
    })?;
    let outline = crate::symbols::outline::Outline::parse(language, &document.text);
    let names = crate::symbols::path::SymbolPath::parse(symbol).names;
    let names = if names.is_empty() { symbol.to_owned() } else { names };
    let index = outline.find(&names).map_err(|missing| {
        tool_failure(
            format!("no single symbol {names} in {}", document.path),
            format!("there is {}", missing.candidates.join(", ")),
        )
    })?;
    Ok(outline.symbols[index].extent.clone())
}
