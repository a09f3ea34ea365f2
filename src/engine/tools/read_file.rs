//! `read_file`: shows a file's lines. Reading never answers with diagnostics.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::state::call_summary::Subject;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::target;
use crate::tools::text_page::{self, Wanted};
use crate::tools::tool::{Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_base::secrets::mask;
use sextant_model::step::Model;
use sextant_model::tools::Access;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<ReadFile>("read_file", "", Access::Read)
    .outside("Lines of a file, the text of an open editor buffer included. offset: first line.");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    path: String,
    /// One-based first line.
    offset: Option<usize>,
    limit: Option<usize>,
}

#[async_trait]
impl Tool for ReadFile {
    fn subject(&self) -> Subject {
        Subject::file(&self.path)
    }

    async fn run(&self, edits: &EditService, model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let document = target::document(&edits.workspace, &self.path).await?;
        // Masks the text before it is cut into lines: a part of a key does not look like one.
        let open = mask(&document.text);
        let total = open.lines().count();
        let wanted = Wanted { offset: self.offset, limit: self.limit };
        let part = text_page::page(&open, 1, wanted, text_page::limits(model, work.step).await);
        let mut text = part.text;
        if part.first > total && total > 0 {
            text = format!("[{} has {}]", document.path, counted(total, "line"));
        } else if part.first > 1 || part.last < total {
            let more = part.next.map(|next| format!("; offset {next} goes on")).unwrap_or_default();
            text.push_str(&format!("\n[lines {} to {} of {total} of {}{more}]", part.first, part.last, document.path));
        }
        work.seen.lines(&document.path, &document.text, part.first.saturating_sub(1)..part.last);
        Ok(ToolAnswer::text(text))
    }
}
