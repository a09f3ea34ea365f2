//! `edit_file` for a client outside: one replacement, or several that are made together or not at all.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::editor::Document;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::target;
use crate::tools::edit_checks::{self, Defer, Worked};
use crate::tools::edit_file::{Replacement, replaced};
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::{Failure, tool_failure};
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::hunks;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<EditInFile>("edit_file", "", Access::Edit).outside(
    "Replace old_string, an exact copy that occurs once, by new_string; or several with edits, in order, all or none.",
);

/// Most replacements of one call. More belong into `write_file`.
const MOST: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditInFile {
    path: String,
    old_string: Option<String>,
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    /// Confines the edit to this symbol.
    symbol: Option<String>,
    edits: Option<Vec<OneEdit>>,
    #[schemars(transform = tool::hidden)]
    diagnostics: Option<Defer>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneEdit {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

impl EditInFile {
    /// The wanted replacements, in order.
    fn wishes(&self) -> Result<Vec<Replacement<'_>>, Failure> {
        let symbol = self.symbol.as_deref();
        let wish = |old, new, all| Replacement { old, new, all, symbol };
        let way = "give old_string and new_string, or edits: [{old_string, new_string}, …]";
        match (&self.old_string, &self.new_string, self.edits.as_deref()) {
            (Some(old), Some(new), None | Some([])) => Ok(vec![wish(old, new, self.replace_all)]),
            (None, None, Some(edits)) if edits.len() > MOST => {
                Err(tool_failure(format!("{MOST} is the most that edits may hold"), "give the rest in another call"))
            }
            (None, None, Some(edits)) if !edits.is_empty() => {
                Ok(edits.iter().map(|one| wish(&one.old_string, &one.new_string, one.replace_all)).collect())
            }
            (_, _, Some(edits)) if !edits.is_empty() => {
                Err(tool_failure("edit_file takes one edit or edits, not both", way))
            }
            (None, _, _) => Err(tool_failure("edit_file needs `old_string`", way)),
            _ => Err(tool_failure("edit_file needs `new_string`", way)),
        }
    }
}

#[async_trait]
impl Tool for EditInFile {
    fn subject(&self) -> Subject {
        Subject { symbol: self.symbol.clone(), ..Subject::file(&self.path) }
    }

    async fn run(
        &self,
        edits: &EditService,
        _model: &dyn Model,
        task_work: &mut TaskWork,
    ) -> Result<ToolAnswer, Failure> {
        let wishes = self.wishes()?;
        let document = target::document(&edits.workspace, &self.path).await?;
        let work = |document: &Document| match wishes.as_slice() {
            [one] => replaced(document, one),
            several => all_of(document, several),
        };
        edit_checks::make(edits, task_work, document, self.diagnostics.into(), work).await
    }
}

/// Makes the replacements one after the other, each in the text that those before it have left.
fn all_of(document: &Document, wishes: &[Replacement<'_>]) -> Result<Worked, Failure> {
    let mut now = document.clone();
    let mut notes = Vec::new();
    for (number, wish) in (1..).zip(wishes) {
        let which = |failure: Failure| Failure {
            message: format!("edit {number} of {}: {}; nothing was written", wishes.len(), failure.message),
            ..failure
        };
        let worked = replaced(&now, wish).map_err(which)?;
        let made = apply(&now.text, &worked.hunks);
        now.text = made.map_err(|error| which(tool_failure(error, "give them one by one")))?.into();
        notes.extend(worked.notes.into_iter().map(|note| format!("edit {number}: {note}")));
    }
    let hunks = hunks::hunks(&document.text, &now.text);
    if hunks.is_empty() {
        return Err(tool_failure("the edits leave the text as it is", "nothing has to be changed"));
    }
    Ok(Worked { hunks, notes, of_symbols: wishes.iter().all(|wish| !wish.all) })
}
