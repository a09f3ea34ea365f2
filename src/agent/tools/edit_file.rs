//! `edit_file`: replaces one piece of text by another, inside a symbol where one is named.

use serde::Deserialize;

use crate::agent::state::edit_request::{EditRequest, When};
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::agent::tools::edit;
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::{Failure, tool_failure};
use crate::base::secrets::MASK;
use crate::edits::find::{Replace, Rung, find};
use crate::edits::hunks;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileParameters {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
    /// Confines the edit to this symbol.
    symbol: Option<String>,
    /// `defer` leaves the diagnostics of this edit to the next result.
    #[serde(default)]
    diagnostics: When,
}

pub(crate) async fn run(session: &Session, task: &mut Task, given: EditFileParameters) -> Result<ToolAnswer, Failure> {
    let document = target::document(session, &given.path).await?;
    edit::refuse_stale(task, &document)?;
    if given.old_string.contains(MASK) && !document.text.contains(MASK) {
        return Err(tool_failure(
            format!("old_string quotes {MASK:?}, which only stands where a secret was taken out of what you read"),
            "quote the text beside it; the line with the secret stays as it is",
        ));
    }
    let within = match &given.symbol {
        Some(symbol) => Some(edit::place_in(&document, symbol)?),
        None => None,
    };
    let replace = Replace { old: &given.old_string, new: &given.new_string, all: given.replace_all, within };
    let found = find(&document.text, &replace)
        .map_err(|error| tool_failure(error, "read the place again and quote it exactly"))?;
    let hunks = found.edits.iter().map(|edit| hunks::trim(&document.text, edit)).collect();
    let notes = match found.rung {
        Rung::Exact => Vec::new(),
        rung => vec![format!("old_string matched by {rung}, not exactly")],
    };
    edit::edit(session, task, vec![EditRequest::Change { document, hunks }], notes, given.diagnostics).await
}
