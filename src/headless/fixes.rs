//! Keeps the fixes on offer: which ids are valid, and the change that each fix would make.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::join_all;

use crate::HeadlessEditor;
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::lock::lock;
use sextant_base::positions::{Encoding, LineIndex, Range};
use sextant_diagnostics::model::{DiagnosticsProvider, FileText};
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::server_code_actions::{ActionError, ActionOffer};
use sextant_engine::api::{Document, Documents, EditorError, Fix, FixAnswers, WorkspaceChange, workspace_edit};

/// The offered fixes that no edit has outdated yet.
#[derive(Debug, Default)]
pub(super) struct Fixes {
    count: u64,
    offered: HashMap<String, HeldFix>,
}

#[derive(Clone, Debug)]
struct HeldFix {
    server: Arc<LanguageServer>,
    /// The version of the document.
    version: i64,
    offer: ActionOffer,
}

impl Fixes {
    fn add(&mut self, offered: HeldFix) -> String {
        self.count += 1;
        let id = format!("f{}", self.count);
        self.offered.insert(id.clone(), offered);
        id
    }

    /// Drops the fixes of all other servers.
    pub(super) fn keep_those_of(&mut self, servers: &[Arc<LanguageServer>]) {
        self.offered.retain(|_, offered| servers.iter().any(|server| Arc::ptr_eq(server, &offered.server)));
    }

    /// Drops the fixes of edited files.
    pub(super) fn forget<'a>(&mut self, edited: impl Iterator<Item = &'a str>) {
        edited.for_each(|path| self.offered.retain(|_, offered| offered.offer.path != path));
    }
}

/// Asks every server that covers the file.
pub(super) async fn offers(
    editor: &HeadlessEditor,
    document: &Document,
    range: Option<Range>,
    patience: AnswerWait,
) -> FixAnswers {
    let file = FileText { path: document.path.clone(), text: document.text.clone() };
    let asked: Vec<Arc<LanguageServer>> =
        editor.deciding().into_iter().filter(|server| server.covers(&file.path)).collect();
    let answers = join_all(asked.iter().map(|server| server.offers(&file, range, patience))).await;
    let mut all = FixAnswers::default();
    for (server, answer) in asked.into_iter().zip(answers) {
        let provider = server.name().to_owned();
        let offers = match answer {
            Ok(offers) => offers,
            Err(error) => {
                tracing::debug!(%error, provider, "no answer to which fixes there are");
                all.silent.push(provider);
                continue;
            }
        };
        for offer in offers {
            let (title, kind, repairs) = (offer.title.clone(), offer.kind.clone(), offer.repairs.clone());
            let preferred = offer.preferred;
            let offered = HeldFix { server: Arc::clone(&server), version: document.version, offer };
            let id = lock(&editor.fixes).add(offered);
            all.fixes.push(Fix { id, provider: provider.clone(), title, kind, preferred, repairs });
        }
    }
    all
}

/// The change that a fix would make, in UTF-16; the question changes nothing.
pub(super) async fn change(
    editor: &HeadlessEditor,
    id: &str,
    deadline: Deadline,
) -> Result<WorkspaceChange, EditorError> {
    let gone = || EditorError::FixGone(id.to_owned());
    let offered = lock(&editor.fixes).offered.get(id).cloned().ok_or_else(gone)?;
    if editor.read(&offered.offer.path).await?.version != offered.version {
        return Err(gone());
    }
    let server = &offered.server;
    let edits = server.edits(&offered.offer, deadline).await.map_err(|error| refusal(error, id, deadline))?;
    let mut change = WorkspaceChange::default();
    for edit in edits {
        let part = workspace_edit::read(&edit, &editor.root);
        change.operations.extend(part.operations);
        for (path, texts) in part.files {
            match change.files.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known)) => known.extend(texts),
                None => change.files.push((path, texts)),
            }
        }
    }
    let encoding = server.encoding();
    for (path, texts) in &mut change.files {
        let Ok(document) = editor.read(path).await else { continue };
        change.operations.extend(workspace_edit::misfit(path, &document.text, texts, encoding));
        let index = LineIndex::new(&document.text);
        for (range, _) in texts.iter_mut() {
            *range = index.convert(&document.text, *range, encoding, Encoding::Utf16);
        }
    }
    Ok(change)
}

fn refusal(error: ActionError, subject: &str, deadline: Deadline) -> EditorError {
    match error {
        ActionError::Outdated => EditorError::FixGone(subject.to_owned()),
        ActionError::TimedOut => EditorError::Timeout(deadline.elapsed_ms()),
        ActionError::Failed(reason) => EditorError::Other(reason),
    }
}
