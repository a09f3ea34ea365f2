//! `write_file`: a new file, or the whole text of an old one.

use serde::Deserialize;

use crate::agent::state::edit_request::{EditRequest, When};
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::tools::edit;
use crate::agent::tools::tool_answer::ToolAnswer;
use crate::base::failure::{Failure, tool_failure};
use crate::editor::error::EditorError;
use crate::edits::hunks;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileParameters {
    path: String,
    content: String,
    /// `defer` leaves the diagnostics of this edit to the next result.
    #[serde(default)]
    diagnostics: When,
}

pub(crate) async fn run(session: &Session, task: &mut Task, given: WriteFileParameters) -> Result<ToolAnswer, Failure> {
    let path = session.root.resolve(&given.path)?;
    let content = given.content.replace("\r\n", "\n");
    let wanted = match session.editor.read(&path).await {
        Ok(document) => {
            edit::refuse_stale(task, &document)?;
            let hunks = hunks::hunks(&document.text, &content);
            if hunks.is_empty() {
                return Err(tool_failure(format!("{path} has this text already"), "nothing has to be written"));
            }
            EditRequest::Change { document, hunks }
        }
        Err(EditorError::NotFound(_)) => EditRequest::Create { path, text: content },
        Err(error) => return Err(error.into()),
    };
    edit::edit(session, task, vec![wanted], Vec::new(), given.diagnostics).await
}
