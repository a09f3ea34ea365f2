//! The files in reach of an edit: opened for it, asked about before and after it, and closed in the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;

use crate::diagnostics::edit_reach::{self, EditReach, TextChange};
use crate::diagnostics::{collect_diagnostics, references, workspace_look};
use crate::editor::event::Event;
use crate::editor::{Document, Editor};
use crate::state::diagnostics_hub::{DiagnosticsHub, LookedFiles};
use crate::state::edit_request::EditRequest;
use crate::state::journal::Journal;
use crate::state::look_reach::family;
use crate::state::pending_report::PendingReport;
use crate::state::task::ReachReports;
use crate::state::unlooked::Unlooked;
use crate::state::workspace::Workspace;
use crate::state::{answer_status, stop};
use crate::target;
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_base::plural::counted;
use sextant_diagnostics::code_aliases::{looks_at_one_file, reads_whole_package};
use sextant_diagnostics::model::Report;
use sextant_diagnostics::syntax;
use sextant_store::workspace::source_text;

/// Files in reach that are looked at where one run of a compiler reads them all.
const MOST_COMPILED: usize = 400;
/// Files that stay open for later edits. A client outside has no end at which they could be closed.
const MOST_OPEN: usize = 100;
/// Milliseconds that the look after an edit may take longer for each file in reach. basedpyright took 80 for a file of
/// 200 lines here.
const FILE_MS: u64 = 150;
/// The most milliseconds that it may take longer.
const MOST_MS: u64 = 10_000;

/// The files that an edit has to look at, beside its own files and the open ones.
#[derive(Debug, Default)]
pub(crate) struct ReachedFiles {
    pub(crate) documents: Vec<Document>,
    /// The files in reach that are open by themselves.
    pub(crate) open: Vec<String>,
    pub(crate) unlooked: Unlooked,
    /// Providers that have not reported on them before the edit.
    pub(crate) stale: Vec<PendingReport>,
    /// Files with a word that the edit changes, where a server knows another meaning of it.
    pub(crate) unrelated: Vec<String>,
}

impl ReachedFiles {
    /// Adds the reach of earlier edits of the same burst: its one answer is about that as well.
    pub(crate) fn take_earlier(&mut self, documents: Vec<Document>) {
        let is_new = |document: &Document| self.documents.iter().all(|known| known.path != document.path);
        let new: Vec<Document> = documents.into_iter().filter(is_new).collect();
        self.documents.extend(new);
    }

    /// Adds the files in reach that somebody else has opened since the open files were read: nobody asks about them.
    async fn take_opened_since(
        &mut self,
        workspace: &Workspace,
        looked: &LookedFiles,
        reach: &EditReach,
        known: &BTreeSet<&str>,
    ) {
        let loaded = workspace.editor.loaded().await;
        let typed = lock(&looked.typed).others(&[]);
        let is_missed = |file: &&String| {
            loaded.contains(file) && !known.contains(file.as_str()) && !self.is_looked_at(file) && !typed.contains(file)
        };
        let missed: Vec<String> = reach.files.iter().filter(is_missed).cloned().collect();
        self.documents.extend(documents(workspace.editor.as_ref(), &missed).await);
    }

    fn is_looked_at(&self, file: &str) -> bool {
        self.documents.iter().any(|document| document.path == file)
    }

    /// The files that are looked at.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.documents.iter().map(|document| document.path.clone()).collect()
    }

    /// The deadline of the look after the edit.
    pub(crate) fn deadline(&self, own: Deadline, timeout_ms: u64) -> Deadline {
        if self.documents.is_empty() { own } else { Deadline::after_ms(timeout_ms + longer(self.documents.len())) }
    }
}

/// Milliseconds that a look at so many files may take beside the usual.
pub(crate) fn longer(files: usize) -> u64 {
    u64::try_from(files).unwrap_or(u64::MAX).saturating_mul(FILE_MS).min(MOST_MS)
}

/// The reach of changes, computed on a thread of its own.
pub(crate) async fn reach_of(workspace: &Workspace, looked: &LookedFiles, changes: Vec<TextChange>) -> EditReach {
    let (root, importers) = (workspace.root.clone(), looked.importers.clone());
    let open = documents(workspace.editor.as_ref(), &workspace.editor.loaded().await).await;
    let open = open.into_iter().map(|document| (document.path, document.text)).collect();
    tokio::task::spawn_blocking(move || edit_reach::of(&root, &importers, &open, &changes)).await.unwrap_or_default()
}

/// The texts before and after edits that are about to be made.
pub(crate) fn changes(wanted: &[EditRequest]) -> Vec<TextChange> {
    let change = |want: &EditRequest| {
        let before = want.document().map(|document| Arc::clone(&document.text));
        Some(TextChange { path: want.path().to_owned(), before, after: Arc::clone(want.after()?) })
    };
    wanted.iter().filter_map(change).collect()
}

/// Opens the closed files in reach of edits, up to the limit, and asks about them before the edits are made.
///
/// Opens nothing where no provider that reports on the edited files looks further than at one file. `asked` are the open
/// files that are asked about anyway.
pub(crate) async fn before_edit(
    hub: &DiagnosticsHub,
    edited: &[Document],
    asked: &[Document],
    wanted: &[EditRequest],
    reach: EditReach,
) -> ReachedFiles {
    let paths: Vec<String> = wanted.iter().map(|want| want.path().to_owned()).collect();
    if reach == EditReach::default() || !looks_further(hub, &paths).await {
        return ReachedFiles::default();
    }
    let most = most_files(hub, &paths).await;
    let count = closed(hub.workspace.editor.as_ref(), &hub.looked, &reach).await.len();
    let patience = Deadline::after_ms(hub.workspace.config.diagnostics.timeout_ms);
    let (reach, unrelated) = match count > most {
        true => references::narrowed(&hub.workspace, reach, patience).await,
        false => (reach, Vec::new()),
    };
    let mut reached = ReachedFiles { unrelated, ..open(&hub.workspace, &hub.looked, &reach, most).await };
    let known: BTreeSet<&str> = edited.iter().chain(asked).map(|document| document.path.as_str()).collect();
    reached.take_opened_since(&hub.workspace, &hub.looked, &reach, &known).await;
    reached.open = reach.files.iter().filter(|file| !reached.is_looked_at(file)).cloned().collect();
    if reached.documents.is_empty() {
        return reached;
    }
    let is_known = {
        let ledger = hub.ledger.lock().await;
        reached.documents.iter().all(|document| ledger.is_current(&document.path, &document.text))
    };
    let checks = &hub.workspace.config.diagnostics;
    if !is_known {
        let files = counted(reached.documents.len(), "file");
        hub.events.show(Event::Progress { text: format!("looking at {files} in which {} may be used", reach.named()) });
    }
    let limit = Deadline::after_ms(collect_diagnostics::first_look_ms(hub).await.max(checks.timeout_ms));
    // Known files are asked about again: a change by others may have broken them since.
    let reports = collect_diagnostics::look(hub, edited, &reached.documents, limit).await;
    reached.stale = answer_status::status(&reports).1;
    reached
}

/// The files in reach that are not open by themselves. Open files are asked about anyway.
async fn closed(editor: &dyn Editor, looked: &LookedFiles, reach: &EditReach) -> Vec<String> {
    let loaded: BTreeSet<String> = editor.loaded().await.into_iter().collect();
    let ours: BTreeSet<String> = looked.reached.lock().await.iter().cloned().collect();
    reach.files.iter().filter(|file| !loaded.contains(*file) || ours.contains(*file)).cloned().collect()
}

/// Reads the files in reach, and opens the closed ones.
async fn open(workspace: &Workspace, looked: &LookedFiles, reach: &EditReach, most: usize) -> ReachedFiles {
    let loaded: BTreeSet<String> = workspace.editor.loaded().await.into_iter().collect();
    let closed = closed(workspace.editor.as_ref(), looked, reach).await;
    let (mut left, mut closed): (Vec<String>, Vec<String>) =
        closed.into_iter().partition(|file| source_text::is_notebook(file));
    left.extend(closed.split_off(closed.len().min(most)));
    let mut reached = ReachedFiles::default();
    for file in closed {
        match target::document(workspace, &file).await {
            Ok(document) => reached.documents.push(document),
            Err(_) => left.push(file),
        }
    }
    note_open(looked, &reached.documents, &loaded).await;
    reached.unlooked = Unlooked::of(left, &reach.named(), reach.more).with_unread(&reach.unread, &reach.named());
    reached
}

async fn note_open(looked: &LookedFiles, documents: &[Document], loaded: &BTreeSet<String>) {
    let mut open = looked.reached.lock().await;
    let is_ours = |document: &&Document| !loaded.contains(&document.path) || open.contains(&document.path);
    let ours: Vec<String> = documents.iter().filter(is_ours).map(|document| document.path.clone()).collect();
    open.retain(|path| !ours.contains(path));
    open.extend(ours);
}

/// Closes the files that were opened longest ago, above the limit of open files.
pub(crate) async fn bound(hub: &DiagnosticsHub) {
    let over: Vec<String> = {
        let mut open = hub.looked.reached.lock().await;
        let count = open.len().saturating_sub(MOST_OPEN);
        open.drain(..count).collect()
    };
    workspace_look::leave(hub, over).await;
}

/// Closes all opened files: the work on them is over. Files with a late answer to come stay until the next task is
/// over.
pub(crate) async fn leave_all(hub: &DiagnosticsHub) {
    if hub.listed.lock().await.iter().any(|known| known.of.is_empty() && !known.pending.is_empty()) {
        return;
    }
    let open = hub.looked.reached.lock().await.clone();
    // A stopped task waits for no editor: the next task closes the files that are still open.
    let left = stop::soon(&hub.cancelled(), workspace_look::leave(hub, open.clone())).await;
    if left.is_some() {
        hub.looked.reached.lock().await.retain(|path| !open.contains(path));
    }
}

/// Files that stay open: they hold new diagnostics to look at, or they are edited themselves.
pub(crate) async fn keep_open(looked: &LookedFiles, files: &BTreeSet<&str>) {
    looked.reached.lock().await.retain(|path| !files.contains(path.as_str()));
}

/// The files in reach that are looked at: more where nothing but compilers of whole packages looks further.
async fn most_files(hub: &DiagnosticsHub, edited: &[String]) -> usize {
    let limit = hub.workspace.config.diagnostics.reach;
    let ledger = hub.ledger.lock().await;
    let spoke = edited.iter().flat_map(|path| ledger.of(path)).map(|(provider, _)| provider);
    let silent = ledger.silent().filter(|(file, _)| edited.iter().any(|path| path == file));
    let mut further =
        spoke.chain(silent.map(|(_, provider)| provider.as_str())).filter(|provider| looks_far(provider)).peekable();
    let is_compiled = limit > 0 && further.peek().is_some() && further.all(reads_whole_package);
    if is_compiled { limit.max(MOST_COMPILED) } else { limit }
}

/// True if a provider looks further than at one file.
fn looks_far(provider: &str) -> bool {
    provider != syntax::NAME && !looks_at_one_file(provider)
}

/// True if a provider that looks further than at one file reports on one of these files, or may do so yet.
async fn looks_further(hub: &DiagnosticsHub, edited: &[String]) -> bool {
    let ledger = hub.ledger.lock().await;
    let further = looks_far;
    let is_new = |path: &str| ledger.of(path).next().is_none() && ledger.silent().all(|(file, _)| file != path);
    edited.iter().any(|path| {
        let spoke = ledger.of(path).any(|(provider, _)| further(provider));
        let may_speak = || ledger.silent().any(|(file, provider)| file == path && further(provider));
        // No provider has reported on a file that does not exist yet; perhaps on others of its kind. Before the first
        // report on any of them, one may look further.
        let speaks_of_alike = || {
            let known = ledger.snaps().into_keys();
            let mut alike = known.filter(|(file, _)| family(file) == family(path)).peekable();
            is_new(path) && (alike.peek().is_none() || alike.any(|(_, provider)| further(&provider)))
        };
        spoke || may_speak() || speaks_of_alike()
    })
}

/// The files in reach without a report of a provider that looks further than at one file, as a verdict names them.
pub(crate) fn unheard(reached: &BTreeSet<String>, reports: &[Report]) -> Vec<PendingReport> {
    let further = |report: &&Report| looks_far(&report.provider);
    let heard: BTreeSet<&str> = reports.iter().filter(further).map(|report| report.file.as_str()).collect();
    let silent = reached.iter().filter(|path| !heard.contains(path.as_str()));
    silent.map(|path| PendingReport::unchecked(path)).collect()
}

/// Files as they are now; an unreadable one is left out.
pub(crate) async fn documents(editor: &dyn Editor, files: impl IntoIterator<Item = &String>) -> Vec<Document> {
    join_all(files.into_iter().map(|file| editor.read(file))).await.into_iter().flatten().collect()
}

/// The files in reach that are looked at for no other reason.
pub(crate) async fn others(
    editor: &dyn Editor,
    looked: &LookedFiles,
    reached: &BTreeSet<String>,
    edited: &[String],
) -> Vec<Document> {
    let ours = looked.reached.lock().await.clone();
    documents(editor, reached.iter().filter(|path| ours.contains(path) && !edited.contains(path))).await
}

/// The files in reach of the task's remaining changes that it has not looked at, as a verdict names them.
pub(crate) async fn unlooked(
    hub: &DiagnosticsHub,
    journal: &Journal,
    reach_reports: &ReachReports,
) -> Vec<PendingReport> {
    let net = journal
        .net()
        .into_iter()
        .filter_map(|change| Some(TextChange { path: change.path, before: change.before, after: change.after? }));
    let net: Vec<TextChange> = net.collect();
    let files: Vec<String> = net.iter().map(|change| change.path.clone()).collect();
    let reach = reach_of(&hub.workspace, &hub.looked, net).await;
    if reach == EditReach::default() || !looks_further(hub, &files).await {
        return Vec::new();
    }
    let loaded = hub.workspace.editor.loaded().await;
    let elsewhere = reach_reports;
    let is_known = |file: &String| elsewhere.reached.contains(file) || elsewhere.unrelated.contains(file);
    let is_left = |file: &&String| !is_known(file) && !loaded.contains(file);
    let left = reach.files.iter().filter(is_left).cloned().collect();
    Unlooked::of(left, &reach.named(), reach.more).with_unread(&reach.unread, &reach.named()).pending()
}
