//! `read_file`: a file's lines. Reading never answers with diagnostics.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::state::called::Subject;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::agent::tools::tool::{Tool, ToolDefinition};
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::Failure;
use crate::base::secrets::mask;
use crate::llm::tools::Access;

/// Lines of one answer where the caller sets no limit.
const LINES: usize = 400;

pub(crate) const TOOL: ToolDefinition = ToolDefinition::of::<ReadFile>("read_file", "", Access::Read);

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

    async fn run(&self, session: &Session, task: &mut Task) -> Result<ToolAnswer, Failure> {
        let document = target::document(session, &self.path).await?;
        // Before it is cut into lines: a part of a key does not look like one.
        let open = mask(&document.text);
        let total = open.lines().count();
        let first = self.offset.unwrap_or(1).max(1);
        let limit = self.limit.unwrap_or(LINES).max(1);
        let lines: Vec<&str> = open.lines().skip(first - 1).take(limit).collect();
        let last = first - 1 + lines.len();
        let mut text = lines.join("\n");
        if first > 1 || last < total {
            text.push_str(&format!("\n[lines {first} to {last} of {total} of {}]", document.path));
        }
        task.conversation.seen.insert(document.path, document.text);
        Ok(ToolAnswer::text(text))
    }
}
