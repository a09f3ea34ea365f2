//! What the editing tools ask before they edit: whether the text was seen as it is, where a symbol is in it, and when
//! the answer is wanted.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::edit::rebase;
use crate::agent::state::edit_request::When;
use crate::agent::state::task::Task;
use crate::base::failure::{Failure, tool_failure};
use crate::editor::Document;
use crate::edits::TextEdit;

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

/// The hunks of an edit, and what is to be said of how it was found.
pub(crate) type Worked = (Vec<TextEdit>, Vec<String>);

/// Refuses an edit of a text that the model has seen in another state, and shows it the current one.
pub(crate) fn refuse_stale(task: &mut Task, document: &Document) -> Result<(), Failure> {
    match saw_another(task, document) {
        Some(seen) => Err(rebase::refusal(document, &seen)),
        None => Ok(()),
    }
}

/// Works an edit out on a text as it is now. Where the model has seen it in another state, what it touches must read as
/// it was seen; the answer then shows what has changed.
pub(crate) fn work_out(
    task: &mut Task,
    document: &Document,
    work: impl FnOnce(&Document) -> Result<Worked, Failure>,
) -> Result<Worked, Failure> {
    let Some(seen) = saw_another(task, document) else { return work(document) };
    let (hunks, mut notes) = work(document).map_err(|_| rebase::refusal(document, &seen))?;
    notes.push(rebase::allow(document, &seen, &hunks)?);
    Ok((hunks, notes))
}

/// The text that the model has seen, where it is another one. From here on it has seen this one: it is shown.
fn saw_another(task: &mut Task, document: &Document) -> Option<Arc<str>> {
    let seen = task.conversation.seen.insert(document.path.clone(), document.text.as_str().into());
    seen.filter(|seen| **seen != *document.text)
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
