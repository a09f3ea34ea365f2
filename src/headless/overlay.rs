//! Puts the text of files open in an editor before the disk, and lets only the editor change it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use crate::HeadlessEditor;
use crate::folder_files::{Files, OpenEdit};
use sextant_base::lock::lock;
use sextant_diagnostics::server::LanguageServer;
use sextant_engine::api::{Applied, Documents, EditorError, FileEdit, Save};

/// The note to the user on an applied edit of an open file.
pub(crate) const UNSAVED: &str = "changed in its buffer, which is yours to write";

/// The buffers of an editor. Paths are relative to the workspace root, texts as they are written to a file.
#[async_trait]
pub trait OpenBuffers: Send + Sync {
    /// The text of a file that is open.
    fn text(&self, path: &str) -> Option<Arc<str>>;

    /// Every open file of the workspace.
    fn paths(&self, root: &Path) -> Vec<String>;

    /// Waits until a server is overruled: its editor has a text of an open file that is not the one in
    /// [`OpenBuffers::text`], because another editor's goes before. Its reports are of that other text.
    async fn overruled(&self, server: &Arc<LanguageServer>);

    /// Waits until the user types in none of these files; each of them must have this text then.
    async fn at_rest(&self, files: &[(String, Arc<str>)]) -> Result<(), EditorError>;

    /// Replaces one text of a file by another, as one undo step. Refused if the file has changed meanwhile.
    async fn replace(&self, path: &str, before: &str, after: &str) -> Result<(), EditorError>;
}

/// Applies all edits or none: open files through the editor, the rest on disk. The disk comes last, since a failure
/// there leaves nothing behind.
pub(super) async fn apply(
    editor: &HeadlessEditor,
    buffers: &dyn OpenBuffers,
    edits: &[FileEdit],
    save: Save,
) -> Result<Vec<Applied>, EditorError> {
    let wanted = edits.to_vec();
    let open: Vec<OpenEdit> = editor.with_files(move |files| open_edits(files, &wanted, save)).await?;
    let now: Vec<(String, Arc<str>)> =
        open.iter().map(|edit| (edit.path.clone(), Arc::from(edit.before.as_str()))).collect();
    if !now.is_empty() {
        buffers.at_rest(&now).await?;
    }
    for (index, edit) in open.iter().enumerate() {
        if let Err(error) = buffers.replace(&edit.path, &edit.before, &edit.after).await {
            take_back(buffers, &open[..index]).await;
            return Err(error);
        }
    }
    let rest: Vec<FileEdit> =
        edits.iter().filter(|edit| !open.iter().any(|open| open.path == edit.path())).cloned().collect();
    let written = match editor.with_files(move |files| files.apply(&rest, save)).await {
        Ok(written) => written,
        Err(error) => {
            take_back(buffers, &open).await;
            return Err(error);
        }
    };
    let mut written = written.into_iter();
    let mut applied = Vec::with_capacity(edits.len());
    for edit in edits {
        if let Some(open) = open.iter().find(|open| open.path == edit.path()) {
            editor.read(edit.path()).await?;
            let (name, after) = (open.path.clone(), open.after.clone());
            let document = Some(editor.with_files(move |files| files.edited(&name, &after)).await?);
            let path = edit.path().to_owned();
            applied.push(Applied { document, path, saved: false, note: Some(UNSAVED.to_owned()) });
        } else {
            applied.extend(written.next());
        }
    }
    Ok(applied)
}

/// Makes every check of every edit, and returns the edits that the editor has to make.
fn open_edits(files: &mut Files, edits: &[FileEdit], save: Save) -> Result<Vec<OpenEdit>, EditorError> {
    let mut open = Vec::new();
    for edit in edits {
        match files.open_edit(edit)? {
            Some(edit) => open.push(edit),
            None => files.check(edit, save)?,
        }
    }
    Ok(open)
}

async fn take_back(buffers: &dyn OpenBuffers, done: &[OpenEdit]) {
    for edit in done.iter().rev() {
        if let Err(error) = buffers.replace(&edit.path, &edit.after, &edit.before).await {
            tracing::error!(path = edit.path, %error, "a change of an open file could not be taken back");
        }
    }
}

impl HeadlessEditor {
    /// Reads the text of open files before the disk, and leaves their changes to the editor.
    #[must_use]
    pub fn with_buffers(mut self, buffers: Arc<dyn OpenBuffers>) -> Self {
        lock(&self.files).set_buffers(Arc::clone(&buffers));
        self.buffers = Some(buffers);
        self
    }
}
