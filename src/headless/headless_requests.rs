//! Asks the own language servers for fixes and names.

use async_trait::async_trait;

use crate::{HeadlessEditor, fixes, headless_lookup};
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::positions::Range;
use sextant_engine::api::{
    Attachments, Documents, EditorError, FixAnswers, LanguageServers, LookupAnswer, NameLookup, WorkspaceChange,
};

#[async_trait]
impl LanguageServers for HeadlessEditor {
    /// An absent server shows in a report of its own.
    async fn attached(&self) -> Option<Attachments> {
        None
    }

    async fn fixes(&self, path: &str, range: Option<Range>, wait: AnswerWait) -> Result<FixAnswers, EditorError> {
        let turn = tokio::time::timeout(wait.deadline.left(), self.turn.read()).await;
        let _turn = turn.map_err(|_| EditorError::Timeout(wait.deadline.elapsed_ms()))?;
        let document = self.read(path).await?;
        self.refresh(&[]).await;
        Ok(fixes::offers(self, &document, range, wait).await)
    }

    async fn fix_change(&self, id: &str, deadline: Deadline) -> Result<WorkspaceChange, EditorError> {
        fixes::change(self, id, deadline).await
    }

    async fn look_up(&self, wanted: &NameLookup, deadline: Deadline) -> Result<Vec<LookupAnswer>, EditorError> {
        headless_lookup::look_up(self, wanted, deadline).await
    }
}
