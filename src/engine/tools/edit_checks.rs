//! Checks an edit before it is made. It asks whether the text was seen as it is, where a symbol is in it, and when the
//! answer is wanted.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::{change, stale_edit};
use crate::editor::Document;
use crate::state::edit_request::{EditRequest, When};
use crate::state::edit_service::EditService;
use crate::state::read_views::SeenTexts;
use crate::state::task::{TaskReports, TaskWork};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::{Failure, tool_failure};
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;

/// Leaves the diagnostics of an edit to the next result, so that a burst of edits is settled once. It is accepted where
/// a client sends it, but no model gets to see it. Beside a call of a model a settling costs nothing. A small model
/// defers every answer, and then repairs the same code twice.
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

/// An edit of one file, worked out.
#[derive(Debug)]
pub(crate) struct Worked {
    pub(crate) hunks: Vec<TextEdit>,
    /// Notes about how its places were found.
    pub(crate) notes: Vec<String>,
    /// True if each hunk changes the symbol that it lies in, and not the text as a whole.
    pub(crate) of_symbols: bool,
}

/// Refuses an edit of a text that the model has seen in another state, and shows it the current one.
pub(crate) fn refuse_stale(seen_texts: &mut SeenTexts, document: &Document) -> Result<(), Failure> {
    match seen_texts.other_than(&document.path, &document.text) {
        Some(seen) => Err(stale_edit::refuse(seen_texts, document, &seen)),
        None => Ok(()),
    }
}

/// Works an edit out on the text that the model has seen, and applies it to the present text. Where these differ, each
/// symbol that it touches must be alike in both; the answer then shows the differences.
pub(crate) async fn make(
    edits: &EditService,
    task_work: &mut TaskWork,
    document: Document,
    when: When,
    work: impl Fn(&Document) -> Result<Worked, Failure>,
) -> Result<ToolAnswer, Failure> {
    let path = document.path.clone();
    let seen = task_work.seen.other_than(&path, &document.text);
    let Worked { hunks, notes, of_symbols } = match &seen {
        None => match work(&document) {
            Ok(worked) => worked,
            Err(_) if stands(task_work, &document, &work) => return Ok(ToolAnswer::text(format!("{path}: {STANDS}"))),
            Err(failure) => return Err(failure),
        },
        Some(seen) => match moved(&task_work.reports, &document, seen, work) {
            Some(worked) => worked,
            None => return Err(stale_edit::refuse(&mut task_work.seen, &document, seen)),
        },
    };
    let wanted = vec![EditRequest::change(document, hunks, of_symbols)];
    let answer = change::edit(edits, task_work, wanted, notes, when).await?;
    if seen.is_some() {
        change::mark_read(&task_work.journal, &mut task_work.seen, &path);
    }
    Ok(answer.into())
}

/// The answer to an edit that was made before a stop cut off its own answer.
const STANDS: &str = "this edit stands already: it was made before the stop. Nothing was changed now";

/// True if the resumed work has made this very edit before a stop cut it off, and its text is there.
fn stands(task_work: &TaskWork, document: &Document, work: impl Fn(&Document) -> Result<Worked, Failure>) -> bool {
    let Some(begun) = task_work.begun else { return false };
    let rows = task_work.journal.checkpoints.get(begun..).unwrap_or_default();
    let changes = rows.iter().flat_map(|row| &row.files).filter(|change| change.path == document.path);
    let is_this = |(before, after): (&Arc<str>, &Arc<str>)| {
        let then = Document { text: Arc::clone(before), ..document.clone() };
        let made = work(&then).ok().and_then(|worked| apply(before, &worked.hunks).ok());
        made.as_deref() == Some(&**after)
    };
    changes.filter_map(|change| change.before.as_ref().zip(change.after.as_ref())).any(is_this)
}

fn moved(
    reports: &TaskReports,
    document: &Document,
    seen: &str,
    work: impl Fn(&Document) -> Result<Worked, Failure>,
) -> Option<Worked> {
    // A deferred edit is answered against the text before its first edit: changes by others would count as its own.
    let put_off = reports.deferred.as_ref().is_some_and(|burst| burst.changes(&document.path));
    let then = Document { text: seen.into(), ..document.clone() };
    let worked = work(&then).ok().filter(|worked| worked.of_symbols && !put_off)?;
    let (hunks, note) = stale_edit::onto(document, seen, &worked.hunks)?;
    if !is_in_symbols(document, seen, &worked.hunks) {
        // The quoted text must stand there as it did, with the lines that the edit leaves alone.
        let now = work(document).ok().and_then(|worked| apply(&document.text, &worked.hunks).ok());
        if now != apply(&document.text, &hunks).ok() {
            return None;
        }
    }
    Some(Worked { hunks, notes: worked.notes.into_iter().chain([note]).collect(), of_symbols: true })
}

/// True if the place of each edit is known by its symbol.
fn is_in_symbols(document: &Document, seen: &str, hunks: &[TextEdit]) -> bool {
    let language = sextant_text::symbols::language::of_path(&document.path);
    language
        .is_some_and(|language| sextant_text::edits::rebase::rebase(language, seen, &document.text, hunks).is_some())
}

/// The bytes of a symbol in a document.
pub(crate) fn place_in(document: &Document, symbol: &str) -> Result<std::ops::Range<usize>, Failure> {
    let language = sextant_text::symbols::language::of_path(&document.path).ok_or_else(|| {
        tool_failure(format!("{} is in a language without symbols here", document.path), "leave out symbol")
    })?;
    let outline = sextant_text::symbols::outline::Outline::parse(language, &document.text);
    let names = sextant_text::symbols::symbol_path::SymbolPath::parse(symbol).names;
    let names = if names.is_empty() { symbol.to_owned() } else { names };
    let index = outline.find(&names).map_err(|missing| {
        tool_failure(
            format!("no single symbol {names} in {}", document.path),
            format!("there is {}", missing.candidates.join(", ")),
        )
    })?;
    Ok(outline.symbols[index].extent.clone())
}
