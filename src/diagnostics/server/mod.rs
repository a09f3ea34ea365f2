//! A language server without an editor, as a provider of diagnostics: the state that outlives its restarts.

mod background_work;
mod client_capabilities;
mod compile_check;
mod compile_runs;
mod compiled_elsewhere;
mod connection;
pub mod content_length;
pub mod detect_servers;
pub mod documents;
mod header_files;
mod json_rpc;
pub mod language_id;
mod late_answers;
mod liveness;
pub mod name_requests;
mod provider;
mod pull;
mod push_freshness;
mod read_diagnostics;
mod received;
pub mod restart;

mod saved_files;
mod saves;
mod server_client;
pub mod server_code_actions;
pub mod server_config;
mod server_status;
mod settle;
mod sourced_files;
mod supervise;

pub use header_files::is_compiler_settings;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use lsp_types::{ApplyWorkspaceEditResult, DidChangeWatchedFilesNotification, DidChangeWatchedFilesParams};
use lsp_types::{FileChangeType, FileEvent, LspAny};
use tokio::sync::watch;

use crate::late_signal::LateSignal;
use crate::model::{FileText, Freshness, Report};
use crate::policy::confidence;
use crate::server::background_work::BackgroundWork;
use crate::server::compile_runs::CompileRuns;
use crate::server::documents::{DocumentNotice, OpenDocument, SentDocuments, Settled};
use crate::server::late_answers::LateAnswers;
use crate::server::liveness::Patience;
use crate::server::provider::Settling;
use crate::server::push_freshness::{SettleVerdict, judge};
use crate::server::received::{Publish, SentDiagnostic, WantedEdit};
use crate::server::server_client::ServerConnection;
use crate::server::server_config::ServerConfig;
use crate::server::server_status::Mood;
use crate::server_facts::QUIET;
use crate::unrequested_files::LastRun;
use sextant_base::lock::lock;

/// Edits that one fix may send.
const CAPTURED: usize = 100;

/// A language server over a folder. The first request starts it, and it is started again when it dies; none of its
/// failures is an error of the caller. Dropping it kills the process.
///
/// Every method that is not `async` returns at once, and every `async` one keeps its deadline.
#[derive(Debug)]
pub struct LanguageServer {
    inner: Arc<Inner>,
}

/// The phase of the process.
#[derive(Clone, Debug)]
pub(crate) enum ServerPhase {
    Idle,
    Starting,
    Running(Arc<ServerConnection>),
    /// It died and is started again after a pause; the text describes the death.
    Pausing(String),
    /// It is not started again; the text is the reason.
    Ended(String),
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub config: ServerConfig,
    /// Canonical.
    pub root: PathBuf,
    /// `lsp:NAME`.
    pub source: String,
    /// Taken before `phase` if both are needed, so that no message is sent twice or to the wrong process.
    pub documents: Mutex<SentDocuments>,
    pub phase: watch::Sender<ServerPhase>,
    /// Moves with every publish, and with every other event that a waiting request should look at.
    pub news: watch::Sender<u64>,
    /// The number of the process; messages of an earlier one are ignored.
    pub run: AtomicU64,
    pub observed: Observed,
    pub settling: Mutex<HashMap<String, Settling>>,
    pub late: LateAnswers,
    pub fixing: Fixing,
    pub stop: watch::Sender<bool>,
}

/// The observed behaviour of a server, and its status messages beside its diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// True if it was seen to publish twice for one version.
    pub two_phase: AtomicBool,
    /// True if it was seen to publish while the text was changed and not saved.
    pub speaks_unsaved: AtomicBool,
    /// LSP language ids that it covers; `None` means any.
    languages: Mutex<Option<Vec<String>>>,
    pub mood: Mood,
    pub compiler: Mutex<CompileRuns>,
    pub background: Mutex<BackgroundWork>,
    /// The compiler's diagnostics of all files when they were last asked for.
    last_compiled: Mutex<LastRun<Vec<SentDiagnostic>>>,
    pub patience: Patience,
}

/// The execution of a fix, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Fixing {
    pub turn: tokio::sync::Mutex<()>,
    /// Edits that the server sends meanwhile.
    pub captured: Mutex<Option<Vec<LspAny>>>,
}

impl LanguageServer {
    /// Starts no process yet. The root must exist.
    pub fn new(config: ServerConfig, root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let inner = Inner {
            source: format!("lsp:{}", config.name),
            documents: Mutex::new(SentDocuments::new(root.clone())),
            phase: watch::Sender::new(ServerPhase::Idle),
            news: watch::Sender::new(0),
            run: AtomicU64::new(0),
            settling: Mutex::default(),
            late: LateAnswers::default(),
            fixing: Fixing::default(),
            observed: Observed {
                languages: Mutex::new((!config.languages.is_empty()).then(|| config.languages.clone())),
                ..Observed::default()
            },
            stop: watch::Sender::new(false),
            config,
            root,
        };
        Self { inner: Arc::new(inner) }
    }

    /// True if the file is of one of its languages.
    pub fn covers(&self, path: &str) -> bool {
        self.inner.covers(path)
    }

    /// The same for no language, until [`LanguageServer::also_covers`] adds one.
    #[must_use]
    pub fn for_no_language(self) -> Self {
        *lock(&self.inner.observed.languages) = Some(Vec::new());
        self
    }

    /// Its languages; `None` means any.
    pub fn covered(&self) -> Option<Vec<String>> {
        lock(&self.inner.observed.languages).clone()
    }

    /// Adds the language of this file. Returns whether it is new.
    pub fn also_covers(&self, path: &str) -> bool {
        if self.covers(path) {
            return false;
        }
        lock(&self.inner.observed.languages).get_or_insert_default().push(language_id::language_id(path).to_owned());
        true
    }

    /// The files that it was given and that are not closed, sorted.
    pub fn open(&self) -> Vec<String> {
        lock(&self.inner.documents).open()
    }

    /// Gives it the texts, as one change, and returns those that it did not have. Does not start it.
    pub fn sync(&self, files: &[FileText]) -> Vec<String> {
        let mut changed = Vec::new();
        self.inner.tell(|documents| {
            let new = |file: &&FileText| documents.get(&file.path).is_none_or(|known| *known.text != *file.text);
            changed = files.iter().filter(new).map(|file| file.path.clone()).collect();
            documents.sync(files)
        });
        changed
    }

    /// Notes that the file was written with its last given text.
    pub fn saved(&self, path: &str) {
        self.inner.tell(|documents| documents.saved(path).into_iter().collect());
    }

    pub fn close(&self, path: &str) {
        self.inner.tell(|documents| documents.close(path).into_iter().collect());
    }

    /// Files were created (`1`), changed (`2`) or deleted (`3`) on disk; the numbers are LSP's.
    pub fn changed_on_disk(&self, files: &[(String, u8)]) {
        if files.is_empty() {
            return;
        }
        let root = &self.inner.root;
        let event = |(path, kind): &(String, u8)| {
            let uri = sextant_base::path::to_uri(&root.join(path))?.into();
            Some(FileEvent { uri, kind: FileChangeType::from(u32::from(*kind)) })
        };
        let params = DidChangeWatchedFilesParams { changes: files.iter().filter_map(event).collect() };
        self.inner.tell(|documents| {
            documents.changed_on_disk(files.iter().map(|(path, _)| path.as_str()));
            vec![DocumentNotice::of::<DidChangeWatchedFilesNotification>(&params)]
        });
        let is_change = |kind: u8| FileChangeType::from(u32::from(kind)) == FileChangeType::Changed;
        if let ServerPhase::Running(run) = &*self.inner.phase.borrow() {
            if !files.iter().all(|(_, kind)| is_change(*kind)) {
                run.projects.outdated.store(true, Ordering::Relaxed);
            }
            if files.iter().any(|(path, _)| run.rereads(path)) {
                self.inner.observed.mood.settings_changed();
            }
        }
    }

    /// Answers that came after their deadline, each once; those of a text that has changed since are dropped.
    pub fn late(&self) -> Vec<Report> {
        let documents = lock(&self.inner.documents);
        let mut late = self.inner.late.take();
        let is_current = |report: &Report| documents.get(&report.file).map(|known| known.version) == report.version;
        late.retain(|report| report.unasked.is_some() || (report.version.is_some() && is_current(report)));
        late
    }

    /// Raises this signal with every late answer from now on. The first signal stays.
    pub fn signal_late(&self, signal: &LateSignal) {
        self.inner.late.signal_by(signal);
    }

    /// Moves on every event that may bring news, a late answer among others.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.inner.news.subscribe()
    }

    /// The process id, while it runs.
    pub fn process(&self) -> Option<u32> {
        match &*self.inner.phase.borrow() {
            ServerPhase::Running(run) => run.connection.process,
            _ => None,
        }
    }
}

impl Drop for LanguageServer {
    fn drop(&mut self) {
        self.inner.stop.send_replace(true);
        lock(&self.inner.settling).values().for_each(Settling::abort);
    }
}

impl Inner {
    fn covers(&self, path: &str) -> bool {
        let languages = lock(&self.observed.languages);
        let known = |languages: &Vec<String>| languages.iter().any(|known| known == language_id::language_id(path));
        languages.as_ref().is_none_or(known)
    }

    /// Changes the state of the files and notifies the running server, under one lock.
    fn tell(&self, change: impl FnOnce(&mut SentDocuments) -> Vec<DocumentNotice>) {
        let mut documents = lock(&self.documents);
        let notices = change(&mut documents);
        let phase = self.phase.borrow().clone();
        if let ServerPhase::Running(run) = phase {
            let wanted = notices.iter().filter(|notice| !notice.is_change() || !run.reads_the_disk());
            wanted.for_each(|notice| run.connection.send_notice(notice));
        }
    }

    pub(crate) fn bump(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Takes a publish in. A publish that amends a delivered answer becomes a late report.
    pub(crate) fn published(&self, publish: Option<Publish>) {
        self.observed.mood.settings_read();
        let mut documents = lock(&self.documents);
        if let Some(path) = publish.and_then(|publish| {
            let items = Arc::new(publish.diagnostics);
            lock(&self.observed.compiler).published(&publish.uri, &items);
            documents.publish(&publish.uri, publish.version, items, Instant::now())
        }) {
            // Even for an older version: it publishes while nothing is saved.
            if documents.get(&path).is_some_and(OpenDocument::is_unsaved) {
                self.observed.speaks_unsaved.store(true, Ordering::Relaxed);
            }
            if let Some(report) = self.amendment(&mut documents, &path) {
                self.late.keep(report);
            }
        }
        drop(documents);
        self.tell(SentDocuments::missed);
        self.bump();
    }

    fn amendment(&self, documents: &mut SentDocuments, path: &str) -> Option<Report> {
        let ServerPhase::Running(run) = self.phase.borrow().clone() else { return None };
        if !run.way().publishes() {
            return None;
        }
        let (epoch, headers) = (documents.epoch, documents.headers);
        let document = documents.get_mut(path)?;
        let settled = document.settled.as_ref();
        let settled = settled.filter(|settled| settled.published && settled.version == document.version)?;
        let publish = document.published.since_sent.last()?;
        let ours = publish.version.is_none_or(|version| version == document.version);
        if !ours || read_diagnostics::fingerprint(&publish.items) == read_diagnostics::fingerprint(&settled.items) {
            return None;
        }
        if publish.version.is_some() && settled.epoch == epoch {
            self.observed.two_phase.store(true, Ordering::Relaxed);
        }
        // As if the silence had passed already: a later reader of this report gets the correction too.
        let then = publish.at + QUIET;
        let SettleVerdict::Settled(_, freshness) = judge(document, epoch, settle::habits(self, &run, headers), then)
        else {
            return None;
        };
        let (items, version, text) = (Arc::clone(&publish.items), document.version, Arc::clone(&document.text));
        document.settled = Some(Settled { version, epoch, items: Arc::clone(&items), published: true });
        let answer = settle::SettledAnswer { freshness, version, items, run };
        Some(self.report(&self.source, path, &answer, &text, 0))
    }

    /// An answer in the model's words.
    fn report(&self, source: &str, path: &str, answer: &settle::SettledAnswer, text: &str, elapsed_ms: u64) -> Report {
        let confidence = confidence::of_server(answer.freshness);
        let (diagnostics, lost) =
            read_diagnostics::diagnostics(&answer.items, source, path, text, answer.run.encoding, confidence);
        let vague = || "published without a proof of its text".to_owned();
        let unread = (lost > 0).then(|| format!("{lost} of its items cannot be read, or are too many"));
        // A partial answer does not prove that a diagnostic is gone.
        let freshness = if lost > 0 { Freshness::Quiet } else { answer.freshness };
        Report {
            provider: source.to_owned(),
            file: path.to_owned(),
            diagnostics,
            freshness,
            version: Some(answer.version),
            wanted_version: Some(answer.version),
            elapsed_ms,
            note: unread.or_else(|| (freshness == Freshness::Quiet).then(vague)),
            unasked: None,
        }
    }

    /// A report without an answer: never a list, since an old one would be taken for a new one.
    fn nothing(&self, path: &str, freshness: Freshness, note: String, elapsed_ms: u64) -> Report {
        Report {
            provider: self.source.clone(),
            file: path.to_owned(),
            diagnostics: Vec::new(),
            freshness,
            version: None,
            wanted_version: lock(&self.documents).get(path).map(|document| document.version),
            elapsed_ms,
            note: Some(note),
            unasked: None,
        }
    }

    /// Takes an edit that the server sends during a fix; refuses it otherwise.
    fn capture(&self, wanted: WantedEdit) -> ApplyWorkspaceEditResult {
        match (lock(&self.fixing.captured).as_mut(), wanted.edit) {
            (Some(captured), Some(edit)) if captured.len() < CAPTURED => {
                captured.push(edit);
                self.bump();
                ApplyWorkspaceEditResult { applied: true, ..Default::default() }
            }
            _ => ApplyWorkspaceEditResult {
                failure_reason: Some("nobody asked for an edit".to_owned()),
                ..Default::default()
            },
        }
    }
}
