//! Sends questions about a name to every server that covers its file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesOrdered;

use crate::{HeadlessEditor, file_text};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_diagnostics::model::{DiagnosticsProvider, FileText};
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::name_requests::{LookupError, NameAnswer, NameWait};
use sextant_engine::api::{
    Document, Documents, EditorError, LookupAnswer, NameLookup, SaidOfName, Worth, workspace_edit, worth,
};

/// Asks all at once and ends with the first answer, in their order, that has content. The other requests are cancelled.
pub(super) async fn look_up(
    editor: &HeadlessEditor,
    wanted: &NameLookup,
    deadline: Deadline,
) -> Result<Vec<LookupAnswer>, EditorError> {
    let turn = tokio::time::timeout(deadline.left(), editor.turn.read()).await;
    let _turn = turn.map_err(|_| EditorError::Timeout(deadline.elapsed_ms()))?;
    let document = editor.read(&wanted.path).await?;
    if document.version != wanted.version {
        return Err(EditorError::Stale(wanted.path.clone()));
    }
    let mut read: BTreeSet<String> = lock(&editor.read).clone();
    read.extend(wanted.beside.iter().cloned());
    let read: Vec<String> = read.into_iter().collect();
    let known = editor.refresh(&read).await;
    let asked: Vec<Arc<LanguageServer>> =
        editor.deciding().into_iter().filter(|server| server.covers(&wanted.path)).collect();
    let mut answers: FuturesOrdered<_> =
        asked.iter().map(|server| one(editor, server, &document, &known, wanted, deadline)).collect();
    let mut found = Vec::new();
    while let Some(answer) = answers.next().await {
        let something = answer.said.as_ref().is_ok_and(|said| worth(&wanted.question, &said.value) == Worth::Something);
        if !matches!(answer.said, Err(LookupError::NotOffered)) {
            found.push(answer);
        }
        if something {
            break;
        }
    }
    Ok(found)
}

/// Files that a server has for one question; they are closed with it, also if the caller goes away.
struct Lent<'a> {
    server: &'a LanguageServer,
    files: Vec<String>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.files.iter().for_each(|path| self.server.close(path));
    }
}

async fn one(
    editor: &HeadlessEditor,
    server: &LanguageServer,
    document: &Document,
    known: &[Document],
    wanted: &NameLookup,
    deadline: Deadline,
) -> LookupAnswer {
    // A server cannot know a text that differs from the disk unless it was given that text.
    let given = |known: &&Document| known.unsaved || wanted.beside.contains(&known.path);
    let given: Vec<FileText> =
        known.iter().filter(given).filter(|known| server.covers(&known.path)).map(file_text).collect();
    let open = server.open();
    let lent = given.iter().map(|file| file.path.clone()).filter(|path| !open.contains(path)).collect();
    server.sync(&given);
    let _lent = Lent { server, files: lent };
    let wait = NameWait { deadline, reading: wanted.reading };
    let result = server.look_up(&file_text(document), wanted.at, &wanted.question, wait).await;
    let said = match result {
        Ok(NameAnswer { value, unread }) => versions(editor, server, &value).await.map(|versions| SaidOfName {
            value,
            encoding: server.encoding(),
            versions,
            unread,
        }),
        Err(error) => Err(error),
    };
    let provider = server.name();
    LookupAnswer { provider: provider.strip_prefix("lsp:").unwrap_or(provider).to_owned(), said }
}

/// The versions of the documents that an answer would change; outdated if the server has another text of one.
async fn versions(
    editor: &HeadlessEditor,
    server: &LanguageServer,
    value: &serde_json::Value,
) -> Result<BTreeMap<String, i64>, LookupError> {
    let mut versions = BTreeMap::new();
    for (path, _) in workspace_edit::read(value, &editor.root).files {
        // For a file that the server was not given, it can have no version.
        let Some(theirs) = server.text(&path) else { continue };
        let Ok(document) = editor.read(&path).await else { continue };
        if *theirs != *document.text {
            return Err(LookupError::Outdated);
        }
        versions.insert(path, document.version);
    }
    Ok(versions)
}
