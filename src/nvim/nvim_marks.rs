//! Keeps the marks of Neovim's buffers.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::editor::{NvimEditor, QUICK};
use sextant_engine::api::{FileMarks, Marks};

#[async_trait]
impl FileMarks for NvimEditor {
    async fn marks(&self, path: &str) -> Marks {
        let params = json!({"path": self.absolute(path)});
        self.channel.call("marks", &params, path, QUICK).await.unwrap_or(Marks::Null)
    }

    async fn restore_marks(&self, path: &str, then: &Marks, after_edit: &Marks) {
        let params = json!({"path": self.absolute(path), "before": then, "after": after_edit});
        if let Err(error) = self.channel.call::<Value>("restore_marks", &params, path, QUICK).await {
            tracing::warn!(%error, path, "marks were not restored");
        }
    }

    /// Neovim writes a buffer in the format that it was read in.
    async fn restore_format(&self, _path: &str, _text: &str, _then: &Marks) -> bool {
        false
    }
}
