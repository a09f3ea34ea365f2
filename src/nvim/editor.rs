//! Implements the engine's editor for a running Neovim.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::buffer_edits::{self, BufferHunks};
use crate::late::Waiting;
use crate::lua_channel::Channel;
use crate::lua_messages::{BufferEdit, BufferState, ClientReport, List, WireDiagnostic};
use crate::{edit_parts, lua_messages, write_recovery};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::plural::counted;
use sextant_base::positions::Encoding;
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::command::background::Commands;
use sextant_diagnostics::late_signal::LateSignal;
use sextant_diagnostics::model::{Confidence, Diagnostic, Freshness, MOST, Report};
use sextant_diagnostics::policy::confidence;
use sextant_engine::api::{
    Applied, Diagnostics, Document, Documents, EditorError, Event, FileEdit, HalfDone, HeldFile, Save, Ui,
};
use sextant_store::workspace::outside_changes::OutsideChanges;
use sextant_text::edits::apply_text::apply;

/// The time limit of an answer that waits for Neovim alone.
pub(super) const QUICK: Duration = Duration::from_secs(5);

/// The note of a late report that corrects an answer already given; the question is no longer open.
pub const AMENDED: &str = "the server amended its earlier report on this text";

/// One workspace in one Neovim.
pub struct NvimEditor {
    pub(super) root: PathBuf,
    pub(super) channel: Arc<Channel>,
    /// Texts as they were read last, so that an unchanged buffer is not sent again.
    texts: Mutex<HashMap<String, (i64, Arc<str>)>>,
    late: Mutex<Waiting>,
    /// The source files as the editor's clients may know them.
    pub(super) outside: Arc<Mutex<OutsideChanges>>,
    /// The commands that are asked beside the editor's clients.
    pub(super) commands: Commands,
}

impl NvimEditor {
    pub fn new(root: PathBuf, channel: Arc<Channel>) -> Self {
        let commands = Commands::new(Vec::new(), &LateSignal::default());
        Self { root, channel, texts: Mutex::default(), late: Mutex::default(), outside: Arc::default(), commands }
    }

    /// Asks these commands beside the editor's clients.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<CommandProvider>) -> Self {
        self.commands = Commands::new(commands, self.commands.signal());
        self
    }

    /// Takes the answer of a client that came after its deadline.
    pub fn take_late(&self, entry: ClientReport) {
        lock(&self.late).add(entry);
        self.commands.signal().raise();
    }

    pub(super) fn owns(&self, absolute: &str) -> bool {
        path::relative(&self.root, Path::new(absolute)).is_some()
    }

    pub(super) fn absolute(&self, relative: &str) -> String {
        self.root.join(relative).to_string_lossy().into_owned()
    }

    pub(super) fn relative(&self, absolute: &str) -> String {
        path::relative(&self.root, Path::new(absolute)).unwrap_or_else(|| absolute.to_owned())
    }

    pub(super) fn known(&self, relative: &str) -> Option<(i64, Arc<str>)> {
        lock(&self.texts).get(relative).cloned()
    }

    fn remember(&self, relative: &str, version: i64, text: &Arc<str>) {
        lock(&self.texts).insert(relative.to_owned(), (version, Arc::clone(text)));
    }

    pub(super) async fn fetch(&self, relative: &str) -> Result<(BufferState, Arc<str>), EditorError> {
        let known = self.known(relative);
        let params = json!({"path": self.absolute(relative), "known": known.as_ref().map(|(version, _)| version)});
        let facts: BufferState = self.channel.call("read", &params, relative, QUICK).await?;
        let text: Arc<str> = match (buffer_edits::text_of(&facts), known) {
            (Some(text), _) => text.into(),
            (None, Some((_, text))) => text,
            (None, None) => return Err(EditorError::Other(format!("{relative} came without its text"))),
        };
        self.remember(relative, facts.version, &text);
        Ok((facts, text))
    }

    /// The text at a version; `None` if the buffer has another version by now.
    async fn text_at(&self, relative: &str, tick: i64) -> Option<Arc<str>> {
        if let Some((_, text)) = self.known(relative).filter(|(version, _)| *version == tick) {
            return Some(text);
        }
        let (facts, text) = self.fetch(relative).await.ok()?;
        (facts.version == tick).then_some(text)
    }

    pub(super) async fn report(&self, mut entry: ClientReport) -> Report {
        entry.items.append(&mut entry.slices);
        let file = self.relative(&entry.path);
        let mut freshness = entry.how.into();
        let mut note = if entry.amends { Some(AMENDED.to_owned()) } else { entry.note };
        let text = if entry.items.is_empty() { Some("".into()) } else { self.text_at(&file, entry.tick).await };
        if text.is_none() {
            freshness = Freshness::Timeout;
            note = Some("the text changed while the answer was read".to_owned());
        }
        if entry.items.len() > MOST {
            freshness = Freshness::Quiet;
            note = Some(format!("it reports more than {} of this file", counted(MOST, "diagnostic")));
            entry.items.truncate(MOST);
        }
        let items = match &text {
            Some(text) => {
                let confidence = confidence::of_server(freshness);
                converted(entry.client.clone(), file.clone(), entry.items, entry.encoding, text, confidence).await
            }
            None => Vec::new(),
        };
        Report {
            provider: format!("lsp:{}", entry.client),
            diagnostics: items,
            file,
            freshness,
            version: text.is_some().then_some(entry.tick),
            wanted_version: Some(entry.tick),
            elapsed_ms: entry.ms,
            note,
            unasked: None,
        }
    }

    /// The loaded files that a client of the editor is attached to, or all of them.
    async fn buffers(&self, all: bool) -> Vec<String> {
        let params = json!({"root": self.root.to_string_lossy(), "all": all});
        let paths: Result<List<String>, _> = self.channel.call("loaded", &params, "buffers", QUICK).await;
        paths.map(|list| list.0.iter().map(|path| self.relative(path)).collect()).unwrap_or_default()
    }

    fn buffer_edit(&self, edit: &FileEdit) -> Result<BufferEdit, EditorError> {
        Ok(match edit {
            FileEdit::Change { path, version, hunks } => {
                let (known_version, before) = self.known(path).ok_or_else(|| EditorError::Stale(path.clone()))?;
                if known_version != *version {
                    return Err(EditorError::Stale(path.clone()));
                }
                let after = apply(&before, hunks).map_err(|error| EditorError::Other(error.to_string()))?;
                let BufferHunks { hunks, kept, newline } = buffer_edits::buffer_hunks(&before, &after);
                BufferEdit::Change {
                    path: self.absolute(path),
                    version: *version,
                    hunks,
                    kept,
                    newline,
                    empty: after.is_empty(),
                }
            }
            FileEdit::Create { path, text } => {
                let BufferHunks { hunks, newline, .. } = buffer_edits::buffer_hunks("", text);
                BufferEdit::Create { path: self.absolute(path), hunks, newline, empty: text.is_empty() }
            }
            FileEdit::Delete { path, version } => BufferEdit::Delete { path: self.absolute(path), version: *version },
        })
    }

    /// The text that an edit makes. It is computed before the edit, since others may read the text right after it.
    fn after_edit(&self, edit: &FileEdit) -> Option<String> {
        match edit {
            FileEdit::Change { path, version, hunks } => {
                let (_, before) = self.known(path).filter(|known| known.0 == *version)?;
                apply(&before, hunks).ok()
            }
            FileEdit::Create { text, .. } => Some(text.clone()),
            FileEdit::Delete { .. } => None,
        }
    }

    async fn applied(
        &self,
        edit: &FileEdit,
        expected: Option<String>,
        facts: BufferState,
    ) -> Result<Applied, EditorError> {
        let path = edit.path().to_owned();
        if facts.deleted {
            return Ok(Applied { document: None, path, saved: facts.saved, note: facts.note });
        }
        let document = match expected.filter(|_| !facts.reformatted) {
            Some(text) => {
                let text = text.into();
                self.remember(&path, facts.version, &text);
                facts.document(&path, text)
            }
            None => self.read(&path).await?,
        };
        Ok(Applied { document: Some(document), path, saved: facts.saved, note: facts.note })
    }
}

/// Converts diagnostics on a thread of their own: a server may send thousands, and a stop waits for no conversion.
pub(super) async fn converted(
    client: String,
    file: String,
    items: Vec<WireDiagnostic>,
    encoding: Encoding,
    text: &Arc<str>,
    confidence: Confidence,
) -> Vec<Diagnostic> {
    let text = Arc::clone(text);
    let work = move || buffer_edits::diagnostics(&client, &file, &items, encoding, &text, confidence);
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

/// The report of a question that Neovim did not answer.
fn unanswered(path: &str, deadline: Deadline, error: &EditorError) -> Report {
    Report {
        provider: "lsp:neovim".to_owned(),
        file: path.to_owned(),
        diagnostics: Vec::new(),
        freshness: Freshness::Unavailable,
        version: None,
        wanted_version: None,
        elapsed_ms: deadline.elapsed_ms(),
        note: Some(error.to_string()),
        unasked: None,
    }
}

#[async_trait]
impl Documents for NvimEditor {
    async fn read(&self, path: &str) -> Result<Document, EditorError> {
        let (facts, text) = self.fetch(path).await?;
        Ok(facts.document(path, text))
    }

    async fn close(&self, paths: &[String]) {
        let paths: Vec<String> = paths.iter().map(|path| self.absolute(path)).collect();
        if let Err(error) = self.channel.call::<Value>("close", &json!({"paths": paths}), "files", QUICK).await {
            tracing::warn!(%error, "files that were opened for a look were not closed");
        }
    }

    async fn apply(&self, edits: &[FileEdit], save: Save) -> Result<Vec<Applied>, EditorError> {
        let mut list = edits.iter().map(|edit| self.buffer_edit(edit)).collect::<Result<Vec<_>, _>>()?;
        let expected: Vec<Option<String>> = edits.iter().map(|edit| self.after_edit(edit)).collect();
        let about = edits.iter().map(FileEdit::path).collect::<Vec<_>>().join(", ");
        let rest: Vec<String> = edit_parts::take(&mut list).iter().map(|message| json!(message).to_string()).collect();
        let params = json!({"edits": list, "save": save, "rest": rest});
        let facts: Vec<BufferState> = self
            .channel
            .call("apply", &params, &about, QUICK)
            .await
            .map_err(|error| lua_messages::name_relative(error, |path| self.relative(path)))?;
        let mut done = Vec::with_capacity(edits.len());
        for ((edit, facts), expected) in edits.iter().zip(facts).zip(expected) {
            done.push(self.applied(edit, expected, facts).await?);
        }
        Ok(done)
    }

    async fn held(&self, files: &[PathBuf]) -> Result<Vec<HeldFile>, EditorError> {
        let held: List<HeldFile> = self.channel.call("held", &json!({"paths": files}), "files", QUICK).await?;
        Ok(held.0)
    }

    async fn sync(&self, files: &[PathBuf]) {
        if let Err(error) = self.channel.call::<Value>("sync", &json!({"paths": files}), "files", QUICK).await {
            tracing::warn!(%error, "files that another program has written were not read again");
        }
    }

    async fn tidy(&self, files: &[HalfDone]) {
        let (root, files) = (self.root.clone(), files.to_vec());
        let back = move || files.into_iter().filter(|file| write_recovery::bring_back(&root, file)).collect::<Vec<_>>();
        let span = tracing::Span::current();
        let whole = tokio::task::spawn_blocking(move || span.in_scope(back)).await.unwrap_or_default();
        if whole.is_empty() {
            return;
        }
        let paths: Vec<PathBuf> = whole.iter().map(|file| self.absolute(&file.path).into()).collect();
        if let Err(error) = self.channel.call::<Value>("reread", &json!({"paths": paths}), "files", QUICK).await {
            tracing::warn!(%error, "files that are whole again were not read again");
        }
    }
}

#[async_trait]
impl Diagnostics for NvimEditor {
    async fn diagnostics(&self, edited: &[String], bystanders: &[String], deadline: Deadline) -> Vec<Report> {
        let file = |path: &String, bystander: bool| json!({"path": self.absolute(path), "bystander": bystander});
        let mut files: Vec<Value> = edited.iter().map(|path| file(path, false)).collect();
        files.extend(bystanders.iter().map(|path| file(path, true)));
        let params = json!({"files": files, "outside": self.changed_outside().await, "ms": deadline.left_ms()});
        let settled = self.channel.call::<List<ClientReport>>("settle", &params, "diagnostics", deadline.left());
        let (entries, mut reports) = futures::join!(settled, self.beside(edited, bystanders, deadline));
        match entries {
            Ok(entries) => {
                for entry in entries.0 {
                    reports.extend(self.reports(entry).await);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "diagnostics could not be asked for");
                // No report at all would mean that no server covers the files.
                reports.extend(edited.iter().map(|path| unanswered(path, deadline, &error)));
            }
        }
        reports
    }

    async fn late(&self) -> Vec<Report> {
        let (entries, dropped) = lock(&self.late).take();
        if dropped > 0 {
            let many = counted(dropped, "late answer");
            self.show(Event::Progress { text: format!("{many} of language servers dropped: too many came at once") });
        }
        let mut reports = Vec::new();
        for entry in entries {
            reports.extend(self.reports(entry).await);
        }
        reports.extend(self.commands.late());
        reports
    }

    fn late_news(&self) -> watch::Receiver<u64> {
        self.commands.signal().news()
    }

    async fn loaded(&self) -> Vec<String> {
        let mut loaded = self.buffers(false).await;
        if self.commands.reach_over_files() {
            let others = self.buffers(true).await.into_iter().filter(|path| self.commands.reach(path));
            let others: Vec<String> = others.filter(|path| !loaded.contains(path)).collect();
            loaded.extend(others);
        }
        loaded
    }

    async fn sharing(&self, edited: &[String], others: &[String]) -> Vec<String> {
        let absolute = |paths: &[String]| paths.iter().map(|path| self.absolute(path)).collect::<Vec<_>>();
        let params = json!({"edited": absolute(edited), "others": absolute(others)});
        let shared: Result<List<String>, _> = self.channel.call("sharing", &params, "clients", QUICK).await;
        // Without an answer any client may look at them.
        let shared = shared.map_or_else(|_| absolute(others), |list| list.0);
        let is_shared = |other: &&String| {
            shared.contains(&self.absolute(other)) || edited.iter().any(|file| self.commands.share(file, other))
        };
        others.iter().filter(is_shared).cloned().collect()
    }

    async fn probe(&self, _edits: &[FileEdit], _deadline: Deadline) -> Result<Vec<Report>, EditorError> {
        Err(EditorError::Unsupported("asking about an edit before it is applied".into()))
    }
}

impl Ui for NvimEditor {
    fn show(&self, event: Event) {
        self.channel.event(Some(&self.root), event);
    }
}
