//! `hover`: shows a language server's facts about a name: its type, its signature, its documentation.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::editor::editor_lookup::hover;
use crate::plan::StepKind;
use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::tools::symbol_lookup;
use crate::tools::tool::{Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_diagnostics::server::name_requests::NameQuestion;
use sextant_model::step::Model;
use sextant_model::tools::Access;

/// Most characters that are shown.
const LONGEST: usize = 3000;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<Hover>("hover", "", Access::Read)
    .serves(&[StepKind::Examine])
    .outside("Type and documentation of a symbol, or of a name in it.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hover {
    symbol: String,
    name: Option<String>,
}

#[async_trait]
impl Tool for Hover {
    fn subject(&self) -> Subject {
        Subject::symbol(&self.symbol)
    }

    fn spans_files(&self) -> bool {
        true
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, _work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let asked =
            symbol_lookup::ask(&edits.workspace, &self.symbol, self.name.as_deref(), &NameQuestion::Hover).await?;
        let text = hover(&asked.said.value).replace("\r\n", "\n");
        let more = text.chars().count().saturating_sub(LONGEST);
        let mut shown: String = text.chars().take(LONGEST).collect();
        if more > 0 {
            // A fence that was cut is closed.
            let fence = if shown.matches("```").count() % 2 == 1 { "\n```" } else { "" };
            shown.push_str(&format!("{fence}\n[{more} more characters]"));
        }
        Ok(ToolAnswer::text([vec![shown], asked.notes].concat().join("\n")))
    }
}
