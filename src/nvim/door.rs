//! The door for Neovim: the greeting, the commands, one task at a time, the end with the editor.

mod code_blocks;
mod given_request;
mod here;
mod inquiries;
mod plan_text;
mod queue;
mod review;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use nvim_rs::Neovim;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command_providers;
pub(crate) use crate::door::given_request::GivenRequest;
use crate::door::here::{answer, undo_request};
use crate::door::queue::RequestQueue;
use crate::editor::NvimEditor;
use crate::handler::NvimMessages;
use crate::lua_channel::{Channel, ChannelWriter};
use crate::lua_messages::ClientReport;
use crate::nvim_wording;
use crate::text_pages::Page;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_diagnostics::command::command_config::{CommandConfig, CommandSpec};
use sextant_diagnostics::{language_checkers, server_facts};
use sextant_engine::api::{Command, Config, Engine, Event, Origin, PlanMode, Request, Steps, Submitted, TaskTurn};
use sextant_model::step::Model;
use sextant_store::workspace::root::Root;

/// Makes a model from the `model` part of the options.
pub(super) type MakeModel = Box<dyn Fn(&Value) -> Result<Arc<dyn Model>, Failure> + Send + Sync>;

/// A callback for every workspace that is opened; it returns at once.
pub type OnOpen = Box<dyn Fn(&Arc<Engine>) + Send + Sync>;

/// How long finished work may take to leave after Neovim is gone.
const LEAVE: Duration = Duration::from_millis(200);

#[derive(Debug, Deserialize)]
struct NvimHello {
    cwd: PathBuf,
    #[serde(default)]
    options: Options,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Options {
    model: Value,
    /// The providers beside the editor's clients: built-in names, or commands in full.
    commands: Vec<CommandSpec>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

struct Ready {
    model: Arc<dyn Model>,
    config: Config,
    commands: Vec<CommandConfig>,
    cwd: PathBuf,
}

/// One workspace that a command has used: its editor and its session.
pub(super) struct UsedWorkspace {
    root: PathBuf,
    editor: Arc<NvimEditor>,
    pub(super) session: Arc<Engine>,
}

pub(super) struct NvimDoor {
    make_model: MakeModel,
    /// The folder for the memory of every workspace.
    state: Option<PathBuf>,
    channel: OnceLock<Arc<Channel>>,
    ready: OnceLock<Ready>,
    open: Mutex<Vec<Arc<UsedWorkspace>>>,
    /// The workspace of the last command: `stop`, `undo` and `approve` apply to it.
    current: Mutex<Option<Arc<UsedWorkspace>>>,
    /// The requests that were made while a task runs.
    queue: RequestQueue,
    /// Neovim shows one task at a time, no matter which client asked for it.
    turn: Arc<TaskTurn>,
    on_open: OnOpen,
    /// The mode that the user has set since the greeting.
    mode: Mutex<Option<PlanMode>>,
}

/// Serves the Neovim that is our parent, over stdio, until it is gone. `state` is Sextant's state folder. `on_open` is
/// called with each workspace when it is first used.
pub async fn run(make_model: MakeModel, state: Option<PathBuf>, on_open: OnOpen) -> Result<(), Failure> {
    let door = Arc::new(NvimDoor {
        make_model,
        state,
        channel: OnceLock::new(),
        ready: OnceLock::new(),
        open: Mutex::default(),
        current: Mutex::default(),
        queue: RequestQueue::default(),
        turn: Arc::default(),
        on_open,
        mode: Mutex::default(),
    });
    let started = nvim_rs::create::tokio::new_parent(NvimMessages::new(Arc::clone(&door))).await;
    let (nvim, io) = started.map_err(|error| {
        Failure::new(
            FailureKind::Editor,
            format!("no Neovim on standard input: {error}"),
            "Neovim starts this by itself; see :help sextant",
        )
    })?;
    // A client of type "remote" or "plugin" must answer nested requests in order; this one does not.
    let version = vec![("major".into(), 0.into())];
    if let Err(error) = nvim.set_client_info("sextant", version, "msgpack-rpc", vec![], vec![]).await {
        tracing::warn!(%error, "Neovim did not take our client info");
    }
    match io.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) if error.is_channel_closed() || error.is_reader_error() => tracing::info!("Neovim is gone"),
        Ok(Err(error)) => tracing::error!(%error, "the channel to Neovim broke"),
        Err(error) => tracing::error!(%error, "the channel's task ended"),
    }
    door.stop();
    door.close().await;
    tokio::time::sleep(LEAVE).await;
    Ok(())
}

impl NvimDoor {
    pub(super) fn channel(&self) -> Option<&Arc<Channel>> {
        self.channel.get()
    }

    /// Handles one notification. The next one waits for its end, so long work is spawned.
    pub(super) async fn take(self: Arc<Self>, name: &str, json: &str, nvim: Neovim<ChannelWriter>) {
        match name {
            "hello" => self.greet(json, nvim).await,
            "late" => self.late(json),
            _ => match GivenRequest::read(json) {
                Ok(given) => self.carry_out(name, given),
                Err(failure) => self.refuse(failure),
            },
        }
    }

    fn carry_out(self: &Arc<Self>, name: &str, given: GivenRequest) {
        match name {
            // A stop in words is for the running task, wherever the cursor is.
            "ask" if self.is_stop(&given) || self.is_steered(&given) => {}
            "ask" => self.start(given, true, Command::Ask),
            "plan" => match self.change(&given) {
                Some(words) => self.start_current(&given, "no plan was made here yet", Command::ChangePlan(words)),
                None => self.start(given, false, Command::Plan),
            },
            "approve" => {
                let steps = if given.word("steps") == "one" { Steps::One } else { Steps::All };
                self.start_current(&given, "no plan was made here yet", Command::Approve { steps, is_read: true });
            }
            "answer" => self.start_current(&given, "no question is open", Command::Answer(answer(&given))),
            "undo" => self.start_here(&given, Command::Undo(undo_request(&given))),
            "redo" => self.start_here(&given, Command::Redo),
            "history" => self.page(&given, Page::History),
            "diff" => self.page(&given, Page::Diff),
            "show_plan" => self.start_here(&given, Command::ShowPlan),
            "resume" => {
                self.start_in(&given, Command::Resume { which: given.word("which").to_owned(), approved: false });
            }
            "discard" => self.start_in(&given, Command::Discard(given.word("which").to_owned())),
            "waiting" => self.page(&given, Page::Waiting),
            "write_plan" => self.write_plan(given),
            "review" => self.review(&given),
            "locate" => self.locate(&given),
            "find_target" => self.find_target(&given),
            "outlines" => self.outlines(&given),
            "names_starting" => self.names_starting(&given),
            "titles_waiting" => self.titles_waiting(&given),
            "memory_fault" => self.memory_fault(&given),
            "standing" => self.standing(&given),
            "asked_before" => self.asked_before(&given),
            "ask_again" => self.ask_again(&given),
            "apply" => self.apply(&given),
            "log" => self.log(&given),
            "reopen" => self.reopen(&given),
            "trace" => self.trace(&given),
            "stats" => self.page(&given, Page::Statistics),
            "memory" => self.page(&given, Page::Memory),
            "mode" => self.set_mode(&given),
            "stop" => {
                self.take_all_back();
                if !self.stop() {
                    self.refuse(Failure::user("nothing is running", ""));
                }
            }
            "take_back" => {
                if !self.take_back() {
                    self.refuse(Failure::user("no request waits", ""));
                }
            }
            _ => tracing::warn!(name, "an unknown notification was dropped"),
        }
    }

    async fn greet(&self, json: &str, nvim: Neovim<ChannelWriter>) {
        let channel = Arc::clone(self.channel.get_or_init(|| Arc::new(Channel::new(nvim))));
        let mut welcome = json!({"version": env!("CARGO_PKG_VERSION"), "root": "", "model": "",
            "servers": server_facts::handshake(), "languages": language_checkers::handshake()});
        match self.prepare(json) {
            Ok((ready, commands)) => {
                let root = Root::find(&ready.cwd).map(|root| root.path().display().to_string()).unwrap_or_default();
                (welcome["root"], welcome["commands"]) = (json!(root), commands);
                welcome["model"] = json!(ready.model.name());
                let _ = self.ready.set(ready);
            }
            Err(failure) => welcome["problem"] = json!(nvim_wording::failure(&failure).one_line()),
        }
        if let Err(error) = channel.tell("require('sextant.rpc.dispatch').welcome(...)", welcome.to_string()).await {
            tracing::error!(%error, "the greeting was not answered");
        }
    }

    /// Keeps the content of the greeting, and finds the programs of its commands.
    fn prepare(&self, json: &str) -> Result<(Ready, Value), Failure> {
        let options = |why: String| {
            Failure::new(FailureKind::Config, format!("the options cannot be read: {why}"), "see :help sextant-options")
        };
        let wrong = |error: serde_json::Error| options(error.to_string());
        let hello: NvimHello = serde_json::from_str(json).map_err(wrong)?;
        let mut config: Config = serde_json::from_value(Value::Object(hello.options.rest)).map_err(wrong)?;
        config.memory.state.clone_from(&self.state);
        let commands = hello.options.commands.into_iter().map(CommandSpec::config).collect::<Result<Vec<_>, _>>();
        let commands = commands.map_err(options)?;
        let providers = command_providers::commands(&commands, &hello.cwd).map_err(options)?;
        let found = command_providers::found(&providers, &commands);
        let model = (self.make_model)(&hello.options.model)?;
        Ok((Ready { model, config, commands, cwd: hello.cwd }, found))
    }

    fn late(&self, json: &str) {
        match serde_json::from_str::<ClientReport>(json) {
            Ok(entry) => {
                let open = lock(&self.open);
                if let Some(open) = open.iter().find(|open| open.editor.owns(&entry.path)) {
                    open.editor.take_late(entry);
                }
            }
            Err(error) => tracing::warn!(%error, "a late answer cannot be read"),
        }
    }

    fn start(self: &Arc<Self>, given: GivenRequest, at_cursor: bool, command: impl FnOnce(Request) -> Command) {
        match self.request(&given, at_cursor) {
            Ok((open, request)) => self.submit(&open, command(request)),
            Err(failure) => self.show(Event::Refused { failure, request: given.text }),
        }
    }

    /// Carries a command out in a workspace. While another one is carried out, a request waits and anything else is
    /// refused.
    pub(super) fn submit(self: &Arc<Self>, open: &Arc<UsedWorkspace>, command: Command) {
        if let Err(command) = self.try_submit(open, command) {
            self.enqueue(open, *command);
        }
    }

    /// The same; a request that has to wait comes back.
    fn try_submit(self: &Arc<Self>, open: &Arc<UsedWorkspace>, command: Command) -> Result<(), Box<Command>> {
        // The task goes on with its question: the refused command is not the answer to it.
        let is_answer = matches!(command, Command::Answer(_)) && open.session.is_asking();
        let waits = queue::words(&command).map(|_| command.clone());
        let request = match &command {
            Command::ChangePlan(words) => words.clone(),
            other => queue::words(other).unwrap_or_default().to_owned(),
        };
        match (open.session.submit(command, Origin::new("Neovim")), waits) {
            (Ok(submitted), _) => {
                *lock(&self.current) = Some(Arc::clone(open));
                let is_task = matches!(submitted, Submitted::Taken { .. });
                let (door, open) = (Arc::clone(self), Arc::clone(open));
                tokio::spawn(async move {
                    // The events of the session have the outcome.
                    let _ = submitted.outcome().await;
                    if is_task {
                        door.queue_unread(&open);
                    }
                    door.tell_waiting(&open).await;
                });
            }
            (Err(failure), Some(command)) if failure.kind == FailureKind::Busy => return Err(Box::new(command)),
            (Err(failure), _) if is_answer => {
                self.show(Event::Progress { text: nvim_wording::failure(&failure).one_line() });
            }
            (Err(failure), _) => open.session.emit(Event::Refused { failure, request }),
        }
        Ok(())
    }

    /// A request without a range is about the cursor's line if it has `at_cursor`, else about the file.
    fn request(&self, given: &GivenRequest, at_cursor: bool) -> Result<(Arc<UsedWorkspace>, Request), Failure> {
        let (text, place) = (given.text.clone(), given.place.clone());
        // It goes on with the conversation before it.
        let follows = given.is_set("follows");
        let ready = self.greeted()?;
        if place.workspace && (place.path.is_empty() || !place.buftype.is_empty()) {
            let open = self.open(&ready.cwd.join("."))?;
            return Ok((open, Request { text, workspace: true, follows, ..Request::default() }));
        }
        if place.path.is_empty() {
            return Err(Failure::user(
                "this buffer has no file name",
                "write it to a file first (:write name.py), or ask about the whole workspace (:AgentAsk!)",
            ));
        }
        if !place.buftype.is_empty() {
            let message = format!("this buffer is not a file (it is of type '{}')", place.buftype);
            return Err(Failure::user(message, "go to the window of a file and ask there"));
        }
        let open = self.open(Path::new(&place.path))?;
        let range = place.first.zip(place.last);
        let lines = range.or_else(|| at_cursor.then_some((place.line, place.line)));
        let (path, workspace) = (Some(place.path), place.workspace);
        let entry = place.entry;
        Ok((open, Request { text, path, lines, workspace, follows, entry, ..Request::default() }))
    }

    /// # Errors
    /// Neovim has not sent its greeting.
    fn greeted(&self) -> Result<&Ready, Failure> {
        let ready = self.ready.get();
        ready.ok_or_else(|| Failure::new(FailureKind::Internal, "no greeting came", "start Neovim again"))
    }

    /// The session of the workspace that a file belongs to: the folder that Neovim was started in, if the file is
    /// inside.
    pub(super) fn open(&self, file: &Path) -> Result<Arc<UsedWorkspace>, Failure> {
        let ready = self.greeted()?;
        let channel = self
            .channel
            .get()
            .ok_or_else(|| Failure::new(FailureKind::Internal, "no channel", "start Neovim again"))?;
        let start = file.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(&ready.cwd);
        let root = match Root::find(&ready.cwd) {
            Ok(root) if file.starts_with(root.path()) => root,
            _ => Root::find(start)?,
        };
        let mut open = lock(&self.open);
        if let Some(known) = open.iter().find(|known| known.root == root.path()) {
            return Ok(Arc::clone(known));
        }
        let commands = command_providers::commands(&ready.commands, root.path())
            .map_err(|why| Failure::new(FailureKind::Config, why, "see :help sextant-options"))?;
        let editor = NvimEditor::new(root.path().to_owned(), Arc::clone(channel)).with_commands(commands);
        let editor = Arc::new(editor);
        let model = Arc::clone(&ready.model);
        let path = root.path().to_owned();
        let (own, turn) = (Arc::<NvimEditor>::clone(&editor), Arc::clone(&self.turn));
        let session = Arc::new(Engine::in_turn(own, model, root, ready.config.clone(), turn));
        session.answers_come();
        if let Some(mode) = *lock(&self.mode) {
            session.set_mode(mode);
        }
        let new = Arc::new(UsedWorkspace { root: path, editor, session });
        (self.on_open)(&new.session);
        open.push(Arc::clone(&new));
        Ok(new)
    }

    /// Stops the running task; false if no task runs.
    fn stop(&self) -> bool {
        self.turn.stop()
    }

    /// Shows an event that belongs to no workspace in particular.
    pub(super) fn show(&self, event: Event) {
        if let Some(channel) = self.channel.get() {
            channel.event(None, event);
        }
    }

    /// Reports that a command which is no request was not taken on.
    pub(super) fn refuse(&self, failure: Failure) {
        self.show(Event::refused(failure));
    }
}
