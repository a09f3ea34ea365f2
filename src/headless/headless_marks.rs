//! Keeps the line ends and the byte order mark of files.

use async_trait::async_trait;

use crate::{FORMAT, HeadlessEditor};
use sextant_engine::api::{FileMarks, Marks};

#[async_trait]
impl FileMarks for HeadlessEditor {
    /// There are no marks to keep, only the format, which a text alone does not show.
    async fn marks(&self, path: &str) -> Marks {
        let path = path.to_owned();
        let format = self.with_files(move |files| Ok(files.format(&path))).await.ok().flatten();
        format.map_or(Marks::Null, |format| serde_json::json!({ FORMAT: format }))
    }

    /// A folder has no marks.
    async fn restore_marks(&self, _path: &str, _then: &Marks, _after_edit: &Marks) {}

    async fn restore_format(&self, path: &str, text: &str, then: &Marks) -> bool {
        let Ok(format) = serde_json::from_value(then[FORMAT].clone()) else { return false };
        let (path, text) = (path.to_owned(), text.to_owned());
        let restored = self.with_files(move |files| files.restore(&path, &text, format)).await;
        restored.unwrap_or_else(|error| {
            tracing::warn!(%error, "line ends could not be restored");
            false
        })
    }
}
