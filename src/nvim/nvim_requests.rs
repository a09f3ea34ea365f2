//! Asks Neovim's language servers for fixes and names.

use async_trait::async_trait;
use serde_json::json;

use crate::editor::{NvimEditor, QUICK};
use crate::lua_messages::{self, FixEdit};
use crate::{client_lookup, offers};
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::positions::{Encoding, LineIndex, Range};
use sextant_engine::api::{
    Attachments, EditorError, FixAnswers, LanguageServers, LookupAnswer, NameLookup, WorkspaceChange, workspace_edit,
};

#[async_trait]
impl LanguageServers for NvimEditor {
    async fn attached(&self) -> Option<Attachments> {
        let params = json!({"root": self.root.to_string_lossy()});
        // Without an answer no client counts as attached, so earlier providers are reported as missing.
        let answer: lua_messages::WireAttachments =
            self.channel.call("attached", &params, "clients", QUICK).await.unwrap_or_default();
        Some(answer.read(|path| self.relative(path)))
    }

    async fn fixes(&self, path: &str, range: Option<Range>, wait: AnswerWait) -> Result<FixAnswers, EditorError> {
        offers::offers(self, path, range, wait).await
    }

    async fn fix_change(&self, id: &str, deadline: Deadline) -> Result<WorkspaceChange, EditorError> {
        let params = json!({"id": id, "ms": deadline.left_ms()});
        let fix: FixEdit = self.channel.call("fix_change", &params, id, deadline.left()).await?;
        let mut change = workspace_edit::read(&fix.edit, &self.root);
        for (file, edits) in &mut change.files {
            let text = self.fetch(file).await?.1;
            change.operations.extend(workspace_edit::misfit(file, &text, edits, fix.encoding));
            let index = LineIndex::new(&text);
            for (range, _) in edits {
                *range = index.convert(&text, *range, fix.encoding, Encoding::Utf16);
            }
        }
        Ok(change)
    }

    async fn look_up(&self, wanted: &NameLookup, deadline: Deadline) -> Result<Vec<LookupAnswer>, EditorError> {
        client_lookup::look_up(self, wanted, deadline).await
    }
}
