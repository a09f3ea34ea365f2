//! The questions and edits that the agent passes to an editor, and the events that the editor shows.

pub(crate) mod editor_error;
pub(crate) mod editor_lookup;
pub(crate) mod event;
pub mod workspace_edit;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use editor_error::EditorError;
use editor_lookup::{LookupAnswer, NameLookup};
use event::Event;
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::positions::Range;
use sextant_diagnostics::model::{Diagnostic, Report};
use sextant_text::edits::TextEdit;

/// A file as the editor has it now: the buffer where one is loaded, the disk otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Path relative to the root.
    pub path: String,
    /// The text with `\n` line ends and without a byte order mark, whatever the file has. The editor keeps both and
    /// writes them back. The text ends in `\n` exactly when the file's last line does. It is shared: what a task
    /// stores of a file is the text that it has read.
    pub text: Arc<str>,
    /// Opaque; differs whenever the text differs.
    pub version: i64,
    /// True if the file is on disk (a buffer can be of a file that is not written yet).
    pub exists: bool,
    /// True if the buffer holds changes that the user has not written.
    pub unsaved: bool,
    /// The reason why the editor would refuse an edit; `None` when it would accept one.
    pub locked: Option<String>,
}

/// The edit of one file. Hunks are in bytes of the document's text at `version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEdit {
    /// Minimal hunks, sorted, not overlapping. Refused when the version has moved.
    Change { path: String, version: i64, hunks: Vec<TextEdit> },
    /// A file that must not exist yet.
    Create { path: String, text: String },
    /// Removes file and buffer. Refused when the version has moved.
    Delete { path: String, version: i64 },
}

impl FileEdit {
    pub fn path(&self) -> &str {
        match self {
            Self::Change { path, .. } | Self::Create { path, .. } | Self::Delete { path, .. } => path,
        }
    }
}

/// The rule by which a file is written after an edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Save {
    /// Written unless the user has unsaved changes in it.
    #[default]
    IfClean,
    Never,
}

/// A file of an edit that may have stopped halfway, with the texts before and after it; `None` for no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HalfDone {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The result for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The document after the edit and after the editor's own changes on saving (formatters). `None` for a deleted
    /// file.
    pub document: Option<Document>,
    pub path: String,
    pub saved: bool,
    /// The reason why it was not saved, or another fact that the user should know.
    pub note: Option<String>,
}

/// A quick fix or a source action that a provider offers for a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// Valid until the next edit of the file.
    pub id: String,
    /// `lsp:NAME`.
    pub provider: String,
    pub title: String,
    /// The code action kind: `quickfix`, `source.fixAll.ruff`, …
    pub kind: String,
    pub preferred: bool,
    /// The diagnostics that it claims to repair; may be empty.
    pub repairs: Vec<Diagnostic>,
}

/// The fixes that providers offer for a place. An empty offer and a missing answer are not the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixAnswers {
    pub fixes: Vec<Fix>,
    /// Providers that were asked and did not answer in time, or could not: `lsp:NAME`.
    pub silent: Vec<String>,
}

/// An edit of a whole workspace, as LSP's `WorkspaceEdit`, in our types. Ranges are UTF-16.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceChange {
    pub files: Vec<(String, Vec<(Range, String)>)>,
    /// Requested create, rename and delete operations that are not carried out.
    pub operations: Vec<String>,
}

/// A file that a user has open in an editor, by its absolute path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldFile {
    pub path: PathBuf,
    /// True if it has text that is not on disk.
    pub unsaved: bool,
}

/// The language servers of an editor, by the names of their providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachments {
    /// The loaded files.
    pub files: Vec<String>,
    /// The pairs of file and attached server, as path and provider.
    pub pairs: Vec<(String, String)>,
    /// The running servers.
    pub running: Vec<String>,
    /// The servers that the user has stopped or disabled, and that have not been started since.
    pub stopped: Vec<String>,
}

impl Attachments {
    /// True if the user has detached a provider from a file, as path and provider. A server that has died does not
    /// count.
    pub fn is_taken(&self, pair: &(String, String)) -> bool {
        let (file, provider) = pair;
        let detached = || self.running.contains(provider) && self.files.contains(file) && !self.pairs.contains(pair);
        self.stopped.contains(provider) || detached()
    }
}

/// Positions that an edit may destroy and a rollback restores; opaque to everything but its editor.
pub type Marks = serde_json::Value;

/// The files of an editor, or of a folder that is treated as one.
#[async_trait]
pub trait Documents: Send + Sync {
    /// Reads a file, opening it hidden where it is not open. No swap prompt, no focus change.
    async fn read(&self, path: &str) -> Result<Document, EditorError>;

    /// Closes files that [`Documents::read`] has opened and that nobody else looks at; a file with unsaved changes stays.
    async fn close(&self, paths: &[String]);

    /// Applies edits to several files: all of them or none. Each file gets one undo step.
    async fn apply(&self, edits: &[FileEdit], save: Save) -> Result<Vec<Applied>, EditorError>;

    /// Those of these files that a user has open here, or that have text here that is not on disk. The paths are
    /// absolute, since the asking session may have a workspace with another root.
    async fn held(&self, files: &[PathBuf]) -> Result<Vec<HeldFile>, EditorError>;

    /// Reads loaded files without changes again, after another program has written them.
    async fn sync(&self, files: &[PathBuf]);

    /// Repairs on disk the traces of a process that died in the middle of an edit of these files. Removes the files
    /// that it left beside them, and restores those that an interrupted write had set aside.
    async fn tidy(&self, files: &[HalfDone]);
}

/// The parts of a file that its text does not show: the marks of its user, and its format.
#[async_trait]
pub trait FileMarks: Send + Sync {
    /// Remembers the user's marks in a file.
    async fn marks(&self, path: &str) -> Marks;

    /// Puts the marks back where they were, unless the user has moved them since.
    async fn restore_marks(&self, path: &str, then: &Marks, after_edit: &Marks);

    /// Restores the line ends and the byte order mark of a file, where its text alone does not show them. Nothing else
    /// of the file changes. Returns whether it was written.
    async fn restore_format(&self, path: &str, text: &str, then: &Marks) -> bool;
}

/// The diagnostics of an editor's providers.
#[async_trait]
pub trait Diagnostics: Send + Sync {
    /// One report for each provider of each file, each as fresh as the deadline allows. No report at all means that no
    /// provider covers the file. Bystanders are files that no edit touched: a provider that looks at one file at a time
    /// need not be asked about them again.
    async fn diagnostics(&self, edited: &[String], bystanders: &[String], deadline: Deadline) -> Vec<Report>;

    /// Answers that came after their deadline, each once.
    async fn late(&self) -> Vec<Report>;

    /// Changes with every answer that comes after its deadline.
    fn late_news(&self) -> watch::Receiver<u64>;

    /// The loaded files that have a provider: those that an edit elsewhere may break.
    async fn loaded(&self) -> Vec<String>;

    /// Those of the other files that a server or command of an edited file looks at as well. One that looks at single
    /// files does not count.
    async fn sharing(&self, edited: &[String], others: &[String]) -> Vec<String>;

    /// Like `diagnostics`, for a text that is not applied.
    async fn probe(&self, edits: &[FileEdit], deadline: Deadline) -> Result<Vec<Report>, EditorError>;
}

/// Questions to an editor's language servers.
#[async_trait]
pub trait LanguageServers: Send + Sync {
    /// The language servers of the editor; `None` where an absent provider shows in a report of its own.
    async fn attached(&self) -> Option<Attachments>;

    /// The fixes offered for a place; with `range` absent, source actions for the whole file.
    async fn fixes(&self, path: &str, range: Option<Range>, patience: AnswerWait) -> Result<FixAnswers, EditorError>;

    /// The edits that a fix would make.
    async fn fix_change(&self, id: &str, deadline: Deadline) -> Result<WorkspaceChange, EditorError>;

    /// Asks the servers that cover a file about a name in it. Returns one answer each, in a stable order, up to the
    /// first with content. No answer at all means that no server offers this.
    async fn look_up(&self, wanted: &NameLookup, deadline: Deadline) -> Result<Vec<LookupAnswer>, EditorError>;
}

/// The front end that the user reads.
pub trait Ui: Send + Sync {
    /// Shows an event; never waits.
    fn show(&self, event: Event);
}

/// An editor, or a folder that is treated as one. Everything is asynchronous and nothing blocks the editor's own loop.
/// All paths are relative to the workspace root and were checked by the caller.
pub trait Editor: Documents + FileMarks + Diagnostics + LanguageServers + Ui {}

impl<T: Documents + FileMarks + Diagnostics + LanguageServers + Ui> Editor for T {}
