//! `edit_file`: replaces one piece of text by another, inside a symbol where the call names one.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::editor::Document;
use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::target;
use crate::tools::edit_checks::{self, Defer, Worked};
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use crate::tools::unnumbered::{self, UNNUMBERED};
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::secrets::MASK;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_text::edits::find_old_string::{Replace, Rung, find};
use sextant_text::edits::hunks;

pub(crate) const TOOL: ToolDefinition =
    ToolDefinition::of::<EditFile>("edit_file", "old_string: exact copy, occurs once", Access::Edit)
        .serves(&[StepKind::Edit]);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
    /// Confines the edit to this symbol.
    symbol: Option<String>,
    /// `defer` leaves the diagnostics of this edit to the next result.
    #[schemars(transform = tool::hidden)]
    diagnostics: Option<Defer>,
}

#[async_trait]
impl Tool for EditFile {
    fn subject(&self) -> Subject {
        Subject { symbol: self.symbol.clone(), ..Subject::file(&self.path) }
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let document = target::document(&edits.workspace, &self.path).await?;
        let wish = Replacement {
            old: &self.old_string,
            new: &self.new_string,
            all: self.replace_all,
            symbol: self.symbol.as_deref(),
        };
        edit_checks::make(edits, work, document, self.diagnostics.into(), |document| replaced(document, &wish)).await
    }
}

/// One replacement as a caller asks for it.
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) all: bool,
    /// Confines it to this symbol.
    pub(crate) symbol: Option<&'a str>,
}

/// The changes of a replacement in a text, with a note about how its place was found.
pub(crate) fn replaced(document: &Document, wish: &Replacement<'_>) -> Result<Worked, Failure> {
    if wish.old.contains(MASK) && !document.text.contains(MASK) {
        return Err(tool_failure(
            format!("old_string quotes {MASK:?}, which only stands where a secret was taken out of what you read"),
            "quote the text beside it; the line with the secret stays as it is",
        ));
    }
    let within = wish.symbol.map(|symbol| edit_checks::place_in(document, symbol)).transpose()?;
    let plain = unnumbered::unnumbered(&document.text, wish.old, wish.new)?;
    let (old, new) = plain.as_ref().map_or((wish.old, wish.new), |(old, new)| (old, new));
    let replace = Replace { old, new, all: wish.all, within };
    let found = find(&document.text, &replace)
        .map_err(|error| tool_failure(error, "read the place again and quote it exactly"))?;
    let hunks = found.edits.iter().map(|edit| hunks::trim(&document.text, edit)).collect();
    let mut notes = match found.rung {
        Rung::Exact => Vec::new(),
        rung => vec![format!("old_string matched by {rung}, not exactly")],
    };
    if plain.is_some() {
        notes.push(UNNUMBERED.to_owned());
    }
    Ok(Worked { hunks, notes, of_symbols: !wish.all })
}
