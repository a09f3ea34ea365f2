//! Treats a folder as an editor: files on disk, language servers of its own, events to any listener.

#![deny(unreachable_pub)]

mod asked;
mod deciding_servers;
pub mod file_format;
mod fixes;
mod folder_files;
mod headless_lookup;
mod headless_marks;
mod headless_requests;
pub mod overlay;
mod probe;
mod transaction;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::future::join_all;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{RwLock, watch};

use crate::asked::{ask, asked, file_text, text};
use crate::fixes::Fixes;
use crate::folder_files::Files;
use crate::overlay::OpenBuffers;
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::command::background::{Commands, EditorText};
use sextant_diagnostics::late_signal::LateSignal;
use sextant_diagnostics::model::{DiagnosticsProvider, FileText, Reach, Report};
use sextant_diagnostics::policy::silencing_edits::is_settings;
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::server_config::ServerConfig;
use sextant_engine::api::{
    Applied, Diagnostics, Document, Documents, EditorError, Event, FileEdit, HalfDone, HeldFile, Save, Ui,
};
use sextant_store::workspace::outside_changes::{CHANGED, CREATED, DELETED};

/// The key of a file's format among its marks.
const FORMAT: &str = "format";

/// The headless editor. Dropping it kills its servers; [`HeadlessEditor::shutdown`] lets them end in order.
pub struct HeadlessEditor {
    root: PathBuf,
    files: Arc<Mutex<Files>>,
    /// Replaced as a whole when an editor's servers come and go.
    servers: Mutex<Vec<Arc<LanguageServer>>>,
    /// The servers for texts that are not applied, if the others may not see them.
    trying: Mutex<Vec<Arc<LanguageServer>>>,
    /// Files that an editor has open, if there is an editor.
    buffers: Option<Arc<dyn OpenBuffers>>,
    /// Providers that need no editor and answer at once: the syntax.
    providers: Vec<Box<dyn DiagnosticsProvider>>,
    commands: Commands,
    fixes: Mutex<Fixes>,
    /// By provider and file: the server's version of the text in its last question, and Sextant's version.
    asked: Mutex<HashMap<(String, String), (i64, i64)>>,
    /// Files that were read. They count as open, since an edit that breaks them matters to their reader.
    read: Mutex<BTreeSet<String>>,
    /// Locked for writing while the servers are shown texts that are not applied.
    turn: RwLock<()>,
    events: UnboundedSender<Event>,
}

impl HeadlessEditor {
    /// Starts nothing: each server is started by the first question about one of its languages. An error if the root is
    /// not a folder.
    pub fn new(root: &Path, servers: Vec<ServerConfig>, events: UnboundedSender<Event>) -> Result<Self, EditorError> {
        let root = root
            .canonicalize()
            .ok()
            .filter(|root| root.is_dir())
            .ok_or_else(|| EditorError::NotFound(root.display().to_string()))?;
        let late = LateSignal::default();
        let servers = servers.into_iter().map(|config| Arc::new(LanguageServer::new(config, &root)));
        let servers: Vec<_> = servers.inspect(|server| server.signal_late(&late)).collect();
        Ok(Self {
            files: Arc::new(Mutex::new(Files::new(root.clone()))),
            providers: Vec::new(),
            commands: Commands::new(Vec::new(), &late),
            servers: Mutex::new(servers),
            trying: Mutex::default(),
            buffers: None,
            fixes: Mutex::default(),
            asked: Mutex::default(),
            read: Mutex::default(),
            turn: RwLock::default(),
            events,
            root,
        })
    }

    /// Asks these providers beside the language servers.
    #[must_use]
    pub fn with_providers(mut self, providers: Vec<Box<dyn DiagnosticsProvider>>) -> Self {
        self.providers.extend(providers);
        self
    }

    /// Asks these commands beside the servers; the answer of a slow command is reported late.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<CommandProvider>) -> Self {
        self.commands = Commands::new(commands, self.commands.signal());
        self
    }

    /// Ends all servers, by force if the deadline passes.
    pub async fn shutdown(&self, deadline: Deadline) {
        join_all(self.synchronized().iter().map(|server| server.shutdown(deadline))).await;
    }

    /// The servers that are asked now.
    pub fn servers(&self) -> Vec<Arc<LanguageServer>> {
        lock(&self.servers).clone()
    }

    /// Asks these servers from now on. The fixes that the others have offered are no longer valid.
    pub fn set_servers(&self, servers: Vec<Arc<LanguageServer>>) {
        lock(&self.fixes).keep_those_of(&servers);
        servers.iter().for_each(|server| server.signal_late(self.commands.signal()));
        *lock(&self.servers) = servers;
    }

    /// Works on the files without holding up the other tasks of this thread.
    async fn with_files<T, F>(&self, work: F) -> Result<T, EditorError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Files) -> Result<T, EditorError> + Send + 'static,
    {
        let files = Arc::clone(&self.files);
        let span = tracing::Span::current();
        let done = tokio::task::spawn_blocking(move || span.in_scope(|| work(&mut lock(&files))));
        done.await.map_err(|_| EditorError::Closed)?
    }

    /// Replaces a server's version by Sextant's. A server counts the texts that it was shown: a file that was edited
    /// before its server came up has another number there.
    fn in_our_versions(&self, report: &mut Report, documents: &[Document]) {
        let Some(document) = documents.iter().find(|document| document.path == report.file) else { return };
        if let Some(theirs) = report.wanted_version {
            let key = (report.provider.clone(), report.file.clone());
            lock(&self.asked).insert(key, (theirs, document.version));
        }
        if report.version == report.wanted_version {
            report.version = report.version.map(|_| document.version);
        }
        report.wanted_version = Some(document.version);
    }

    fn loaded_files(&self) -> BTreeSet<String> {
        self.servers().iter().flat_map(|server| server.open()).collect()
    }

    /// Reads the asked files and all that the servers know, and reports to the servers what changed on disk meanwhile.
    async fn refresh(&self, asked: &[String]) -> Vec<Document> {
        let all_servers = self.synchronized();
        let mut paths: BTreeSet<String> = all_servers.iter().flat_map(|server| server.open()).collect();
        paths.extend(asked.iter().cloned());
        let read = self
            .with_files(move |files| Ok(paths.into_iter().map(|path| (files.read(&path), path)).collect::<Vec<_>>()))
            .await
            .unwrap_or_default();
        let mut wanted = Vec::new();
        for server in all_servers {
            let open: BTreeSet<String> = server.open().into_iter().collect();
            let known: Vec<FileText> =
                read.iter().filter(|(_, path)| open.contains(path)).filter_map(|(read, _)| text(read)).collect();
            let stale = server.sync(&known);
            let written = |path: &&String| {
                read.iter().flat_map(|(read, _)| read).any(|document| document.path == **path && !document.unsaved)
            };
            stale.iter().filter(written).for_each(|path| server.saved(path));
            let gone = |(read, path): &&(Result<Document, EditorError>, String)| {
                open.contains(path) && matches!(read, Err(EditorError::NotFound(_)))
            };
            let gone: Vec<(String, u8)> = read.iter().filter(gone).map(|(_, path)| (path.clone(), DELETED)).collect();
            gone.iter().for_each(|(path, _)| server.close(path));
            server.changed_on_disk(&gone);
        }
        for (read, path) in read {
            if asked.contains(&path) {
                wanted.extend(read);
            }
        }
        wanted
    }

    /// Reports to the servers which closed files other programs have changed. An editor does so itself.
    async fn report_outside_changes(&self, servers: &[Arc<LanguageServer>]) {
        if self.buffers.is_some() || servers.is_empty() {
            return;
        }
        let covering = servers.to_vec();
        let is_covered = move |path: &str| covering.iter().any(|server| server.covers(path));
        let changes = self.with_files(|files| Ok(files.changed_outside(is_covered))).await.unwrap_or_default();
        let has_come_or_gone = changes.iter().any(|(path, kind)| *kind != CHANGED && is_settings(path));
        for server in servers {
            let open = server.open();
            let of_server = |(path, kind): &&(String, u8)| {
                is_settings(path) || server.covers(path) && (*kind != CHANGED || !open.contains(path))
            };
            server.changed_on_disk(&changes.iter().filter(of_server).cloned().collect::<Vec<_>>());
            if has_come_or_gone {
                server.configure_again();
            }
        }
    }

    /// Reports the applied edits to the servers.
    fn announce(&self, edits: &[FileEdit], applied: &[Applied]) {
        for server in self.synchronized() {
            let open: BTreeSet<String> = server.open().into_iter().collect();
            let mut texts = Vec::new();
            let mut on_disk = Vec::new();
            for (edit, applied) in edits.iter().zip(applied).filter(|(edit, _)| server.covers(edit.path())) {
                let path = edit.path().to_owned();
                match (edit, &applied.document) {
                    (FileEdit::Delete { .. }, _) | (_, None) => {
                        server.close(&path);
                        on_disk.push((path, DELETED));
                    }
                    (FileEdit::Create { .. }, Some(document)) => {
                        texts.push(FileText { path: path.clone(), text: document.text.clone() });
                        on_disk.push((path, CREATED));
                    }
                    (FileEdit::Change { .. }, Some(document)) if open.contains(&path) => {
                        texts.push(FileText { path, text: document.text.clone() });
                    }
                    (FileEdit::Change { .. }, Some(_)) => on_disk.push((path, CHANGED)),
                }
            }
            server.sync(&texts);
            server.changed_on_disk(&on_disk);
            applied.iter().filter(|applied| applied.saved).for_each(|applied| server.saved(&applied.path));
        }
    }
}

impl fmt::Debug for HeadlessEditor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadlessEditor").field("root", &self.root).finish_non_exhaustive()
    }
}

#[async_trait]
impl Documents for HeadlessEditor {
    async fn read(&self, path: &str) -> Result<Document, EditorError> {
        let wanted = path.to_owned();
        let document = self.with_files(move |files| files.read(&wanted)).await?;
        let is_covered = || self.servers().iter().any(|server| server.covers(path)) || self.commands.reach(path);
        if document.exists && is_covered() {
            lock(&self.read).insert(document.path.clone());
        }
        Ok(document)
    }

    async fn close(&self, paths: &[String]) {
        let open = self.buffers.as_ref().map(|buffers| buffers.paths(&self.root)).unwrap_or_default();
        for path in paths.iter().filter(|path| !open.contains(path)) {
            lock(&self.read).remove(path);
            self.synchronized().iter().for_each(|server| server.close(path));
        }
    }

    async fn apply(&self, edits: &[FileEdit], save: Save) -> Result<Vec<Applied>, EditorError> {
        let _turn = self.turn.read().await;
        let wanted = edits.to_vec();
        let applied = match &self.buffers {
            Some(buffers) => overlay::apply(self, buffers.as_ref(), edits, save).await?,
            None => self.with_files(move |files| files.apply(&wanted, save)).await?,
        };
        self.announce(edits, &applied);
        lock(&self.fixes).forget(edits.iter().map(FileEdit::path));
        Ok(applied)
    }

    /// No user looks at these files; only unwritten text is in this process alone.
    async fn held(&self, files: &[PathBuf]) -> Result<Vec<HeldFile>, EditorError> {
        let unsaved = self.with_files(|files| Ok(files.unsaved())).await?;
        let unsaved: Vec<PathBuf> = unsaved.iter().map(|path| self.root.join(path)).collect();
        let open = self.buffers.as_ref().map(|buffers| buffers.paths(&self.root)).unwrap_or_default();
        let mut held = Vec::new();
        for file in files {
            let buffer = open.iter().find(|path| self.root.join(path) == *file);
            let differs = match buffer {
                Some(path) => self.read(path).await.is_ok_and(|document| document.unsaved),
                None => unsaved.contains(file),
            };
            if buffer.is_some() || differs {
                held.push(HeldFile { path: file.clone(), unsaved: differs });
            }
        }
        Ok(held)
    }

    /// Every read is of the file as it is now.
    async fn sync(&self, _files: &[PathBuf]) {}

    async fn tidy(&self, files: &[HalfDone]) {
        let (root, files) = (self.root.clone(), files.to_vec());
        let swept = self.with_files(move |_| {
            files.iter().for_each(|file| transaction::sweep(&root, &file.path));
            Ok(())
        });
        if let Err(error) = swept.await {
            tracing::warn!(%error, "leftovers were not looked for");
        }
    }
}

#[async_trait]
impl Diagnostics for HeadlessEditor {
    async fn diagnostics(&self, edited: &[String], bystanders: &[String], deadline: Deadline) -> Vec<Report> {
        let paths = [edited, bystanders].concat();
        let Ok(_turn) = tokio::time::timeout(deadline.left(), self.turn.read()).await else {
            let servers = self.deciding();
            let pairs = servers.iter().flat_map(|server| paths.iter().map(move |path| (server, path)));
            let covered = pairs.filter(|(server, path)| server.covers(path));
            return covered.map(|(server, path)| server.unasked(path, deadline)).collect();
        };
        let asked_servers = self.deciding();
        self.report_outside_changes(&asked_servers).await;
        let documents = self.refresh(&paths).await;
        // A long text is copied for its readers alone.
        let is_covered = |document: &&Document| asked_servers.iter().any(|server| server.covers(&document.path));
        let texts: Vec<FileText> = documents.iter().filter(is_covered).map(file_text).collect();
        let servers = join_all(asked_servers.iter().map(|server| self.reports_of(server, &texts, deadline)));
        let others = self.providers.iter().map(|provider| ask(provider.as_ref(), &documents, edited, deadline));
        let for_commands = documents.iter().filter(|_| !self.commands.is_empty());
        let asked: Vec<EditorText> = for_commands.map(|document| asked(document, edited)).collect();
        let commands = self.commands.ask(&asked, deadline);
        let (mut reports, others, commands) = futures::join!(servers, join_all(others), commands);
        reports.extend(others);
        reports.iter_mut().flatten().for_each(|report| self.in_our_versions(report, &documents));
        reports.push(commands);
        reports.concat()
    }

    async fn late(&self) -> Vec<Report> {
        let mut reports = self.late_reports();
        let asked = lock(&self.asked);
        for report in &mut reports {
            let known = asked.get(&(report.provider.clone(), report.file.clone()));
            let ours = known.filter(|(theirs, _)| Some(*theirs) == report.version).map(|(_, ours)| *ours);
            (report.version, report.wanted_version) = (ours, ours);
        }
        reports.extend(self.commands.late());
        reports
    }

    fn late_news(&self) -> watch::Receiver<u64> {
        self.commands.signal().news()
    }

    async fn loaded(&self) -> Vec<String> {
        let mut loaded = self.loaded_files();
        loaded.extend(lock(&self.read).iter().cloned());
        if let Some(buffers) = &self.buffers {
            let servers = self.servers();
            let covered = |path: &String| servers.iter().any(|server| server.covers(path));
            loaded.extend(buffers.paths(&self.root).into_iter().filter(covered));
        }
        loaded.into_iter().collect()
    }

    async fn sharing(&self, edited: &[String], others: &[String]) -> Vec<String> {
        let mut servers = self.deciding();
        servers.retain(|server| server.reach() != Reach::File);
        let share = |one: &str, other: &str| {
            self.commands.share(one, other) || servers.iter().any(|server| server.covers(one) && server.covers(other))
        };
        others.iter().filter(|other| edited.iter().any(|file| share(file, other))).cloned().collect()
    }

    async fn probe(&self, edits: &[FileEdit], deadline: Deadline) -> Result<Vec<Report>, EditorError> {
        probe::probe(self, edits, deadline).await
    }
}

impl Ui for HeadlessEditor {
    fn show(&self, event: Event) {
        // A missing listener is no reason to stop.
        let _ = self.events.send(event);
    }
}
