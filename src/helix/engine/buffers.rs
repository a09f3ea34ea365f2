//! Edits buffers of an editor: never while the user types there, by version, and done when the editor confirms it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::engine::links::{ANSWER, EngineLink, Links, WARNING};
use crate::engine::open_documents::{Mirror, MirroredDocument};
use crate::link::link_channel::LinkError;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex};
use sextant_diagnostics::server::LanguageServer;
use sextant_engine::api::EditorError;
use sextant_headless::overlay::OpenBuffers;
use sextant_text::edits::hunks::hunks;

/// The buffers behind the links.
#[derive(Clone, Debug)]
pub(super) struct EditorBuffers {
    pub(super) root: PathBuf,
    pub(super) mirror: Arc<Mirror>,
    pub(super) links: Arc<Links>,
    /// The longest time that an edit waits for the user's keys to rest.
    pub(super) patience: Duration,
}

impl EditorBuffers {
    fn document(&self, path: &str) -> Option<MirroredDocument> {
        self.mirror.of_file(&self.root.join(path))
    }

    /// Replaces the text of a document by another, by an edit of the version that has it. `what` is the document's name
    /// in a refusal.
    pub(super) async fn put(&self, document: &MirroredDocument, after: &str, what: &str) -> Result<(), EditorError> {
        let link = self.links.get(document.link).ok_or(EditorError::Closed)?;
        let edits = text_edits(&document.text, after, link.hello.encoding);
        if edits.is_empty() {
            return Ok(());
        }
        let after: Arc<str> = Arc::from(after);
        self.mirror.expect(&document.uri, &after);
        let mut news = self.mirror.news();
        let answer = apply_edit(&link, document, edits).await.map_err(|error| EditorError::Other(error.to_string()))?;
        if answer["applied"] != true {
            let reason = answer["failureReason"].as_str().unwrap_or_default().to_owned();
            tracing::info!(uri = document.uri, reason, "the editor refused an edit");
            return Err(EditorError::Stale(what.to_owned()));
        }
        // The change is reported before the answer. A proxy may be a moment behind, and if the user has typed meanwhile
        // it reports the newer text alone.
        let before = |version: i64| version <= document.version;
        let reported = async {
            while self.mirror.version_at(document.link, &document.uri).is_some_and(before) {
                if news.changed().await.is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(ANSWER, reported).await.is_err() {
            // The editor's answer about its own buffer holds.
            tracing::warn!(uri = document.uri, "an edit was applied, and no new text was reported");
        }
        Ok(())
    }
}

async fn apply_edit(link: &EngineLink, document: &MirroredDocument, edits: Vec<Value>) -> Result<Value, LinkError> {
    let id = json!({"uri": document.uri, "version": document.version});
    let edit = json!({"documentChanges": [{"textDocument": id, "edits": edits}]});
    link.ask("workspace/applyEdit", json!({"label": "Sextant", "edit": edit}), Some(ANSWER)).await
}

/// The smallest edits between two texts, in LSP's form.
fn text_edits(before: &str, after: &str, encoding: Encoding) -> Vec<Value> {
    let index = LineIndex::new(before);
    let edits = hunks(before, after).into_iter();
    let edit = |edit: sextant_text::edits::TextEdit| json!({"range": index.range(before, edit.range, encoding), "newText": edit.text});
    edits.map(edit).collect()
}

impl EditorBuffers {
    fn is_overruled(&self, server: &Arc<LanguageServer>) -> bool {
        let links = self.links.all();
        let of_server = |link: &&Arc<EngineLink>| link.server.as_ref().is_some_and(|known| Arc::ptr_eq(known, server));
        links.iter().find(of_server).is_some_and(|link| self.mirror.is_overruled(link.id))
    }
}

#[async_trait]
impl OpenBuffers for EditorBuffers {
    fn text(&self, path: &str) -> Option<Arc<str>> {
        self.document(path).map(|document| document.text)
    }

    fn paths(&self, root: &Path) -> Vec<String> {
        self.mirror.paths(root)
    }

    async fn overruled(&self, server: &Arc<LanguageServer>) {
        let mut news = self.mirror.news();
        while !self.is_overruled(server) {
            if news.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    async fn at_rest(&self, files: &[(String, Arc<str>)]) -> Result<(), EditorError> {
        let absolute: Vec<PathBuf> = files.iter().map(|(path, _)| self.root.join(path)).collect();
        if let Err(file) = self.rest(&absolute).await {
            let path = path::relative(&self.root, &file).unwrap_or_default();
            return Err(EditorError::Locked { path, reason: "you are typing in it".to_owned() });
        }
        let moved = files.iter().find(|(path, text)| self.text(path).is_none_or(|now| now != *text));
        moved.map_or(Ok(()), |(path, _)| Err(EditorError::Stale(path.clone())))
    }

    async fn replace(&self, path: &str, before: &str, after: &str) -> Result<(), EditorError> {
        let document = self.document(path).filter(|document| *document.text == *before);
        let document = document.ok_or_else(|| EditorError::Stale(path.to_owned()))?;
        self.put(&document, after, path).await?;
        for link in self.mirror.others_to_notify(&document).into_iter().filter_map(|link| self.links.get(link)) {
            let text = format!("another editor changed {path}, not this one; after :w there, :reload takes it over");
            link.message(WARNING, &text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_counts_columns_as_its_link_does() {
        let (before, after) = ("x = \"😀\" + a\ny\n", "x = \"😀\" + b\ny\n");
        let column = |encoding| text_edits(before, after, encoding)[0]["range"]["start"]["character"].clone();
        assert_eq!(
            (column(Encoding::Utf8), column(Encoding::Utf16), column(Encoding::Utf32)),
            (13.into(), 11.into(), 10.into())
        );
        assert!(text_edits(before, before, Encoding::Utf16).is_empty());
    }
}
