//! `write_file`: writes a new file, or the whole text of an old one.

use std::borrow::Cow;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::change;
use crate::editor::editor_error::EditorError;
use crate::state::call_summary::Subject;
use crate::state::edit_request::EditRequest;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::target;
use crate::tools::edit_checks;
use crate::tools::edit_checks::Defer;
use crate::tools::tool::{self, Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use crate::tools::unnumbered::{self, UNNUMBERED};
use sextant_base::failure::{Failure, tool_failure};
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_text::edits::hunks;
use sextant_text::symbols::language;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<WriteFile>("write_file", "", Access::Edit)
    .outside("A new file, or the whole text of an old one. Answers like edit_file.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    path: String,
    content: String,
    /// `defer` leaves the diagnostics of this edit to the next result.
    #[schemars(transform = tool::hidden)]
    diagnostics: Option<Defer>,
}

#[async_trait]
impl Tool for WriteFile {
    fn subject(&self) -> Subject {
        Subject::file(&self.path)
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        target::refuse_large(&self.path, self.content.len() as u64)?;
        let path = edits.workspace.root.resolve(&self.path)?;
        let returns = self.content.contains("\r\n").then(|| self.content.replace("\r\n", "\n"));
        let content = returns.map_or(Cow::Borrowed(self.content.as_str()), Cow::Owned);
        // In a text without a language such numbers may be its content.
        let plain = unnumbered::without_numbers(&content).filter(|_| language::of_path(&path).is_some());
        let notes = plain.iter().map(|_| UNNUMBERED.to_owned()).collect();
        let content = plain.map_or(content, Cow::Owned);
        let wanted = match edits.workspace.editor.read(&path).await {
            Ok(document) => {
                edit_checks::refuse_stale(&mut work.seen, &document)?;
                let hunks = hunks::hunks(&document.text, &content);
                if hunks.is_empty() {
                    return Err(tool_failure(format!("{path} has this text already"), "nothing has to be written"));
                }
                EditRequest::change(document, hunks, false)
            }
            Err(EditorError::NotFound(_)) => EditRequest::Create { path, text: content.into() },
            Err(error) => return Err(error.into()),
        };
        Ok(change::edit(edits, work, vec![wanted], notes, self.diagnostics.into()).await?.into())
    }
}
