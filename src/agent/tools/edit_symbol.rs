//! `edit_symbol`: replaces, deletes or stands beside a whole symbol.

use serde::Deserialize;

use crate::agent::state::edit_request::{EditRequest, When};
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::{Failure, tool_failure};
use crate::edits::hunks;
use crate::edits::symbol::{SymbolAction, edit};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditSymbolParameters {
    symbol: String,
    action: SymbolAction,
    #[serde(default)]
    content: String,
    /// `defer` leaves the diagnostics of this edit to the next result.
    #[serde(default)]
    diagnostics: When,
}

pub(crate) async fn run(
    session: &Session,
    task: &mut Task,
    given: EditSymbolParameters,
) -> Result<ToolAnswer, Failure> {
    let place = target::place(session, &given.symbol).await?;
    crate::agent::tools::edit::refuse_stale(task, &place.document)?;
    let text = &place.document.text;
    let whole = edit(text, place.language, &place.outline, place.symbol, given.action, &given.content)
        .map_err(|error| tool_failure(error, "give the whole symbol as content, or use edit_file for a part of it"))?;
    // What the new text has in common with the old is not touched, so that marks in it stay.
    let after =
        crate::edits::apply::apply(text, &[whole]).map_err(|error| tool_failure(error, "read the symbol again"))?;
    let hunks = hunks::hunks(text, &after);
    if hunks.is_empty() {
        return Err(tool_failure("the symbol is like that already", "nothing has to be changed"));
    }
    crate::agent::tools::edit::edit(
        session,
        task,
        vec![EditRequest::Change { document: place.document, hunks }],
        Vec::new(),
        given.diagnostics,
    )
    .await
}
