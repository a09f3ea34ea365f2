//! Asks the servers about a text before it is applied: they are shown it for as long as the question takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;

use crate::{HeadlessEditor, file_text};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_diagnostics::model::{DiagnosticsProvider, FileText, Reach, Report};
use sextant_diagnostics::server::LanguageServer;
use sextant_engine::api::{EditorError, FileEdit};

/// Reports on the edited files and on every other loaded file as if the edits had been applied. Disk and documents stay
/// as they are. Only changes of existing files are tried: a server looks for new ones on the disk.
pub(super) async fn probe(
    editor: &HeadlessEditor,
    edits: &[FileEdit],
    deadline: Deadline,
) -> Result<Vec<Report>, EditorError> {
    if edits.iter().any(|edit| !matches!(edit, FileEdit::Change { .. })) {
        return Err(EditorError::Unsupported("asking about a new or deleted file before it is written".into()));
    }
    if edits.is_empty() {
        return Ok(Vec::new());
    }
    let turn = tokio::time::timeout(deadline.left(), editor.turn.write());
    let _turn = turn.await.map_err(|_| EditorError::Timeout(deadline.elapsed_ms()))?;
    let servers = editor.to_try();
    let edited: BTreeSet<String> = edits.iter().map(|edit| edit.path().to_owned()).collect();
    let loaded = around(editor, &servers, &edited);
    let documents = editor.refresh(&loaded).await;
    let wanted = edits.to_vec();
    let then = editor.with_files(move |files| files.preview(&wanted)).await?;
    let (changed, mut then) = (documents.iter().filter(|now| edited.contains(&now.path)), then);
    let restore = Restore { servers: &servers, files: changed.map(file_text).collect() };
    let single = then.clone();
    then.extend(documents.iter().filter(|now| !edited.contains(&now.path)).map(file_text));
    let asked = join_all(servers.iter().map(|server| server.fetch(&then, deadline)));
    let parsed = join_all(editor.providers.iter().map(|provider| {
        let texts = if provider.reach() == Reach::File { &single } else { &then };
        provider.fetch(texts, deadline)
    }));
    let (asked, parsed) = futures::join!(asked, parsed);
    drop(restore);
    Ok([asked.concat(), parsed.concat()].concat())
}

/// The edited files and every other loaded file. A spare server closes any other file that it has open.
fn around(editor: &HeadlessEditor, servers: &[Arc<LanguageServer>], edited: &BTreeSet<String>) -> Vec<String> {
    let mut loaded = editor.loaded_files();
    if let Some(buffers) = &editor.buffers {
        let covered = |path: &String| servers.iter().any(|server| server.covers(path));
        loaded.extend(buffers.paths(&editor.root).into_iter().filter(covered));
    }
    loaded.extend(edited.iter().cloned());
    for server in servers {
        server.open().iter().filter(|path| !loaded.contains(*path)).for_each(|path| server.close(path));
    }
    loaded.into_iter().collect()
}

impl HeadlessEditor {
    /// Asks these servers about texts that are not applied, since an editor's own servers are not shown any.
    pub fn set_to_try(&self, servers: Vec<Arc<LanguageServer>>) {
        *lock(&self.trying) = servers;
    }

    fn to_try(&self) -> Vec<Arc<LanguageServer>> {
        let trying = lock(&self.trying).clone();
        if self.buffers.is_none() { self.servers() } else { trying }
    }

    /// Every server that has to know the new state of the files.
    pub(super) fn synchronized(&self) -> Vec<Arc<LanguageServer>> {
        let mut all_servers = self.servers();
        for spare in lock(&self.trying).iter() {
            if !all_servers.iter().any(|known| Arc::ptr_eq(known, spare)) {
                all_servers.push(Arc::clone(spare));
            }
        }
        all_servers
    }
}

/// Gives the servers the true texts back, also if the caller goes away.
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
