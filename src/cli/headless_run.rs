//! Runs the common part of `ask` and `plan`: a folder as an editor, events as lines, the end as an exit status.

use crate::cli::exit_status::CommandStatus;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::cli::answer_option::{Answers, GivenAnswer};
use crate::cli::join::{self, JoinOptions, JoinedWork, WorkPlace};
use crate::cli::printing::Printer;
use crate::cli::settings::{AllowedFiles, Settings, UserFiles, WorkOptions};
use crate::cli::{cli_wording, log, models, runtime, terminal};
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;
use sextant_engine::api::{Ending, Engine, Event, Outcome, PlanMode, QuestionKind, Request};
use sextant_headless::HeadlessEditor;
use sextant_store::workspace::root::Root;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The time that the language servers have to leave.
const LEAVE: Duration = Duration::from_secs(1);

/// A request on a folder, as the command line gives it.
#[derive(Debug, Args)]
pub(super) struct Job {
    /// What to do
    pub(super) text: String,
    /// File that the request is about, `FILE:LINE` or `FILE:FIRST-LAST` for a place in it [default: the workspace]
    #[arg(long)]
    pub(super) file: Option<String>,
    /// Symbol that may be changed, as `src/cart.py::Cart::total`; may be given more than once
    #[arg(long = "symbol")]
    pub(super) symbols: Vec<String>,
    #[command(flatten)]
    pub(super) folder: Folder,
    #[command(flatten)]
    pub(super) options: WorkOptions,
    #[command(flatten)]
    pub(super) join: JoinOptions,
}

/// The place of the work, and the form of its output.
#[derive(Debug, Args)]
pub(super) struct Folder {
    #[command(flatten)]
    at: Where,
    #[command(flatten)]
    files: UserFiles,
}

impl Job {
    fn request(&self) -> Result<Request, Failure> {
        let place = self.file.as_deref().map(place).transpose()?;
        let (path, lines) = place.map_or((None, None), |place| (Some(place.file), place.lines));
        Ok(Request { text: self.text.clone(), path, lines, symbols: self.symbols.clone(), ..Request::default() })
    }
}

/// A workspace, for every subcommand.
#[derive(Debug, Args)]
pub(super) struct Where {
    /// Workspace folder [default: the project around the current folder]
    #[arg(long)]
    root: Option<PathBuf>,
    /// Print JSON, a line an event, the outcome last
    #[arg(long)]
    pub(super) json: bool,
}

impl Where {
    /// The current folder, and the workspace.
    pub(super) fn find(&self) -> Result<(PathBuf, Root), Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::user(format!("the current folder cannot be read: {error}"), "go to a folder that exists")
        })?;
        let root = match &self.root {
            Some(root) => Root::new(root)?,
            None => Root::find(&here)?,
        };
        Ok((here, root))
    }
}

impl Folder {
    pub(super) fn as_json(&self) -> bool {
        self.at.json
    }

    /// The given options that only a session of this command's own can follow.
    fn own_options(&self, who: Option<Work<'_>>) -> Vec<&'static str> {
        let mut given = who.map_or_else(Vec::new, |who| who.options.given());
        given.extend(self.files.config_given().then_some("--config"));
        given.extend(who.and_then(|who| who.mode).map(|_| "--mode"));
        given
    }
}

/// A file, and one-based lines of it.
#[derive(Debug, PartialEq, Eq)]
struct FileLines {
    file: String,
    lines: Option<(usize, usize)>,
}

/// Reads `FILE`, `FILE:LINE` or `FILE:FIRST-LAST`.
fn place(given: &str) -> Result<FileLines, Failure> {
    let Some((file, lines)) =
        given.rsplit_once(':').filter(|(_, lines)| lines.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Ok(FileLines { file: given.to_owned(), lines: None });
    };
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first > 0 && last >= first => {
            Ok(FileLines { file: file.to_owned(), lines: Some((first, last)) })
        }
        _ => Err(Failure::user(format!("{lines:?} is no range of lines"), "write --file src/cart.py:10-20")),
    }
}

/// The work of a subcommand in its session; the outcome is printed last.
pub(super) type HeadlessRun<'r> =
    &'r dyn for<'a> Fn(
        &'a Engine,
        &'a Request,
        &'a CancellationToken,
    ) -> futures::future::BoxFuture<'a, Result<serde_json::Value, Failure>>;

/// The model and the options of the work; without it no model and no language server is needed.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) options: &'a WorkOptions,
    pub(super) mode: Option<PlanMode>,
    /// True if a model is needed; its configuration has to be right then.
    pub(super) asks_model: bool,
}

pub(super) fn run(
    arguments: &Job,
    mode: Option<PlanMode>,
    work: HeadlessRun<'_>,
    joined: join::JoinedRun<'_>,
) -> CommandStatus {
    let who = Work { options: &arguments.options, mode, asks_model: true };
    let joined = JoinedWork { options: &arguments.join, run: joined };
    work_on(&arguments.folder, Some(who), arguments.request(), work, Some(joined))
}

/// The same without a request of its own. Without `joined` the command only looks, and needs no other session.
pub(super) fn run_without(
    folder: &Folder,
    who: Option<Work<'_>>,
    work: HeadlessRun<'_>,
    joined: Option<JoinedWork<'_>>,
) -> CommandStatus {
    work_on(folder, who, Ok(Request::default()), work, joined)
}

/// The same for a command that takes edits back or brings them back.
pub(super) fn run_allowed(
    folder: &Folder,
    allowed: &AllowedFiles,
    work: HeadlessRun<'_>,
    joined: JoinedWork<'_>,
) -> CommandStatus {
    let options = WorkOptions::allowing(allowed);
    let who = Work { options: &options, mode: None, asks_model: false };
    work_on(folder, Some(who), Ok(Request::default()), work, Some(joined))
}

/// The same for a command that may ask a question, and that asks no model.
pub(super) fn run_answered(
    folder: &Folder,
    answers: &[GivenAnswer],
    work: HeadlessRun<'_>,
    joined: JoinedWork<'_>,
) -> CommandStatus {
    let options = WorkOptions::answering(answers);
    let who = Work { options: &options, mode: None, asks_model: false };
    work_on(folder, Some(who), Ok(Request::default()), work, Some(joined))
}

fn work_on(
    arguments: &Folder,
    who: Option<Work<'_>>,
    request: Result<Request, Failure>,
    work: HeadlessRun<'_>,
    joined: Option<JoinedWork<'_>>,
) -> CommandStatus {
    if let Some(path) = &arguments.files.log {
        log::start(path);
    }
    let ended = match runtime::start() {
        Ok(runtime) => {
            let ended = runtime.block_on(serve(arguments, who, request, work, joined));
            runtime.shutdown_timeout(Duration::from_millis(200));
            ended
        }
        Err(failure) => Err(failure),
    };
    match ended {
        Ok(status) => status,
        Err(failure) => {
            fail(&failure, arguments.at.json);
            CommandStatus::NotDone
        }
    }
}

/// Shows the remaining events, but no failure: that is the last line of the command itself.
pub(super) fn shown<T>(session: &Engine, ending: Ending<T>) -> Result<T, Failure> {
    for event in ending.events {
        if !matches!(event, Event::Failed { .. }) {
            session.emit(event);
        }
    }
    ending.result
}

/// Passes the questions of a pausing run on, until it pauses no more or there is no answer.
pub(super) async fn answered(
    session: &Engine,
    mut ending: Ending<Outcome>,
    cancel: &CancellationToken,
) -> Ending<Outcome> {
    while let Some((text, options)) = session.open_question(&mut ending.events) {
        let Ok(answer) = session.ask_user(&text, &options).await else {
            return session.pause().await;
        };
        ending = session.answer_question(answer, cancel).await;
    }
    ending
}

/// The file that a request is about.
fn about(request: &Request, root: &Root) -> Option<PathBuf> {
    let symbol = || Some(SymbolPath::parse(request.symbols.first()?).file).filter(|file| !file.is_empty());
    request.path.clone().or_else(symbol).map(|file| root.path().join(file))
}

fn settings(arguments: &Folder, who: Option<Work<'_>>, root: &Root) -> Result<Settings, Failure> {
    let mut settings = match who {
        Some(who) if who.asks_model => who.options.settings(&arguments.files, root.path())?,
        _ => WorkOptions::default().settings(&arguments.files, root.path())?.without_model(),
    };
    if let Some(mode) = who.and_then(|who| who.mode) {
        settings.config.mode = mode;
    }
    Ok(settings)
}

async fn serve(
    arguments: &Folder,
    who: Option<Work<'_>>,
    request: Result<Request, Failure>,
    work: HeadlessRun<'_>,
    joined: Option<JoinedWork<'_>>,
) -> Result<CommandStatus, Failure> {
    let (here, root) = arguments.at.find()?;
    let mut request = request?;
    // A path on the command line is relative to the user's current folder.
    request.path = request.path.map(|path| here.join(path).to_string_lossy().into_owned());
    let mut gate = None;
    if let Some(joined) = &joined {
        match join::session(joined.options, &root, about(&request, &root).as_deref(), arguments.at.json).await? {
            WorkPlace::Joined(session) => {
                join::refuse_own(&session, &arguments.own_options(who)).await?;
                let request = join::placed(request, &root, &session.entry);
                let answers: &[GivenAnswer] = who.map_or(&[], |who| &who.options.answers);
                return join::work(*session, joined, &request, answers, arguments.at.json).await;
            }
            WorkPlace::Own(held) => gate = held,
        }
    }
    let settings = settings(arguments, who, &root)?;
    let model = models::make(&settings.model)?;
    let (events, queue) = unbounded_channel();
    let editor = HeadlessEditor::new(root.path(), settings.servers, events)?.with_providers(settings.providers);
    let editor = Arc::new(editor.with_commands(settings.commands));
    let session = Arc::new(Engine::new(Arc::<HeadlessEditor>::clone(&editor), model, root, settings.config));
    let answers = Arc::new(Answers::new(who.map_or(&[], |who| &who.options.answers), arguments.at.json));
    if answers.any() {
        session.answers_come();
    }
    allow_files(&session, who, &here)?;
    let asking = Arc::downgrade(&session);
    let printer = tokio::spawn(print(queue, arguments.at.json, move |kind| answers.answer(&asking, kind)));
    let shared = if joined.is_some() { join::serve_own(&session, &request, gate).await } else { None };
    let cancel = shared.as_ref().map_or_else(CancellationToken::new, |shared| shared.cancel());
    let stop = cancel.clone();
    tokio::spawn(async move {
        runtime::interrupted().await;
        stop.cancel();
    });
    let ended = work(&session, &request, &cancel).await;
    if let Some(shared) = shared {
        shared.end().await;
    }
    session.close().await;
    editor.shutdown(Deadline::after(LEAVE)).await;
    drop(session);
    drop(editor);
    let _ = printer.await;
    let outcome = ended?;
    if arguments.at.json {
        terminal::json(&json!({"type": "outcome", "outcome": outcome, "session": null}));
    }
    Ok(CommandStatus::of_outcome(&outcome))
}

/// Allows the files of the command line, relative to the user's current folder.
fn allow_files(session: &Engine, who: Option<Work<'_>>, here: &Path) -> Result<(), Failure> {
    let paths = who.map_or(&[][..], |who| &who.options.allowed.files);
    paths.iter().try_for_each(|path| session.allow_file(&here.join(path).to_string_lossy()))
}

pub(super) fn fail(failure: &Failure, as_json: bool) {
    if as_json {
        terminal::json(&json!({"type": "failed", "failure": cli_wording::failure(failure)}));
    } else {
        terminal::fail(failure);
    }
}

async fn print(mut queue: UnboundedReceiver<Event>, as_json: bool, answer: impl Fn(QuestionKind) + Send) {
    let mut printer = Printer::new(as_json);
    while let Some(event) = queue.recv().await {
        let asks = if let Event::Question { kind, .. } = &event { Some(*kind) } else { None };
        printer.print(event);
        if let Some(kind) = asks {
            answer(kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_a_line_or_a_range() {
        let read = |given: &str| place(given).map(|place| (place.file, place.lines));
        assert_eq!(read("a.py"), Ok(("a.py".into(), None)));
        assert_eq!(read("a.py:3"), Ok(("a.py".into(), Some((3, 3)))));
        assert_eq!(read("a.py:3-9"), Ok(("a.py".into(), Some((3, 9)))));
        assert_eq!(read("a:b.py"), Ok(("a:b.py".into(), None)));
        assert!(place("a.py:9-3").is_err() && place("a.py:0").is_err());
    }
}
