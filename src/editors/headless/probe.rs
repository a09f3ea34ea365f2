//! Asking the servers about a text before it is applied: they are shown it for as long as the question takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;

use crate::base::deadline::Deadline;
use crate::base::lock::lock;
use crate::diagnostics::model::{DiagnosticsProvider, FileText, Report};
use crate::diagnostics::server::LanguageServer;
use crate::editor::FileEdit;
use crate::editor::error::EditorError;
use crate::editors::headless::{HeadlessEditor, file_text};

/// Reports on the edited files and on every other loaded file as if the edits had been applied. Disk and
/// documents stay as they are. Only changes of existing files: a server looks for new ones on the disk.
pub(super) async fn probe(
    editor: &HeadlessEditor,
    edits: &[FileEdit],
    deadline: Deadline,
) -> Result<Vec<Report>, EditorError> {
    if edits.iter().any(|edit| !matches!(edit, FileEdit::Change { .. })) {
        return Err(EditorError::Unsupported("asking about a new or deleted file before it is written".into()));
    }
    let turn = tokio::time::timeout(deadline.left(), editor.turn.write());
    let _turn = turn.await.map_err(|_| EditorError::Timeout(deadline.elapsed_ms()))?;
    let paths: Vec<String> = edits.iter().map(|edit| edit.path().to_owned()).collect();
    let servers = editor.to_try();
    let loaded: Vec<String> = editor.loaded_files().union(&paths.into_iter().collect()).cloned().collect();
    let now: Vec<FileText> = editor.refresh(&loaded).await.iter().map(file_text).collect();
    let wanted = edits.to_vec();
    let mut then = editor.with_files(move |files| files.preview(&wanted)).await?;
    let edited: BTreeSet<String> = then.iter().map(|file| file.path.clone()).collect();
    let restore =
        Restore { servers: &servers, files: now.iter().filter(|file| edited.contains(&file.path)).cloned().collect() };
    then.extend(now.into_iter().filter(|file| !edited.contains(&file.path)));
    let reports = join_all(servers.iter().map(|server| server.fetch(&then, deadline))).await.concat();
    drop(restore);
    Ok(reports)
}

impl HeadlessEditor {
    /// Asks these about texts that are not applied, since an editor's own servers are shown none.
    pub(in crate::editors) fn set_to_try(&self, servers: Vec<Arc<LanguageServer>>) {
        *lock(&self.trying) = servers;
    }

    fn to_try(&self) -> Vec<Arc<LanguageServer>> {
        let trying = lock(&self.trying).clone();
        if self.buffers.is_none() { self.servers() } else { trying }
    }
}

/// Gives the servers the true texts back, also where the caller goes away.
struct Restore<'a> {
    servers: &'a [Arc<LanguageServer>],
    files: Vec<FileText>,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        for server in self.servers {
            let open = server.open();
            let files: Vec<FileText> = self.files.iter().filter(|file| open.contains(&file.path)).cloned().collect();
            server.sync(&files);
        }
    }
}
