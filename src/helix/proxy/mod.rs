//! Stands between an editor and its language server.
//!
//! Messages go through as they came, on a thread for each direction, and Sextant works beside them.

mod comment_request;
mod document_mirror;
mod editor_side;
mod engine_client;
mod engine_link;
mod frame;
mod held_actions;
mod helix_code_actions;
mod initialize_patch;
mod message_head;
mod own_answers;
mod proxy_state;
mod server_process;
mod server_side;
mod shared_files;
mod write_queue;

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::proxy::document_mirror::MirrorEvent;
use crate::proxy::editor_side::Forward;
use crate::proxy::frame::{Pieces, StreamPiece};
use crate::proxy::proxy_state::{EditorSide, EngineTask, ProxyState, ServerSide, Table};
use crate::proxy::write_queue::Outlet;
use sextant_base::lock::lock;

/// The time that the server has to end after the editor has left, and the time for its last messages.
const LEAVE: Duration = Duration::from_secs(3);
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes that are read at once.
const BUFFER: usize = 64 * 1024;

/// Makes the folder in which the engine of a root is found.
pub type FolderOf = Box<dyn Fn(&Path) -> io::Result<PathBuf> + Send + Sync>;

/// The options that a proxy was started with.
pub struct ProxyOptions {
    /// The server's command; empty if there is no server.
    pub command: Vec<String>,
    /// Offers neither commands nor code actions of its own, beside another proxy that does.
    pub quiet: bool,
    /// The file that the engine logs to.
    pub log: Option<PathBuf>,
    pub folder: FolderOf,
}

impl std::fmt::Debug for ProxyOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyOptions")
            .field("command", &self.command)
            .field("quiet", &self.quiet)
            .finish_non_exhaustive()
    }
}

impl ProxyOptions {
    /// The server's name for users.
    fn name(&self) -> String {
        let file = self.command.first().and_then(|program| Path::new(program).file_name());
        let name = file.map_or_else(|| "sextant".to_owned(), |name| name.to_string_lossy().into_owned());
        name.strip_suffix("-langserver").map_or(name.clone(), str::to_owned)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proxy) enum ProxySide {
    Editor,
    Server,
}

/// Serves the editor at standard input and output until it leaves. Returns the exit status of the server.
///
/// # Errors
/// Standard input or output cannot be used, or no thread can be started.
pub fn run(options: ProxyOptions) -> io::Result<u8> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (editor, written) = Outlet::start("to-editor", output)?;
    let (mirror, events) = channel();
    let (engine, tasks) = unbounded_channel();
    let configured = !options.command.is_empty();
    let shared = Arc::new(ProxyState {
        options,
        table: Mutex::new(Table {
            editor: EditorSide {
                outlet: editor.clone(),
                asked: Default::default(),
                client: Value::Null,
                options: Value::Null,
                document: None,
                held: Default::default(),
            },
            server: ServerSide { configured, ..ServerSide::default() },
            second: Default::default(),
            agent: Default::default(),
            files: Default::default(),
            mirror,
            received: 0,
            engine,
        }),
        texts: Mutex::default(),
        mirrored: Condvar::new(),
        encoding: OnceLock::new(),
        leaving: (Mutex::new(false), Condvar::new()),
        process: AtomicU32::new(0),
        folder: OnceLock::new(),
        socket: Mutex::default(),
    });
    start_beside(&shared, events, tasks)?;
    let server = if configured { Some(start_server(&shared)?) } else { None };
    read_editor(&shared, input);
    let code = leave(&shared, server.as_ref());
    editor.close();
    // An editor that no longer reads is not waited for.
    let _ = written.recv_timeout(LAST_WORDS);
    if let Some(socket) = lock(&shared.socket).take() {
        let _ = std::fs::remove_file(socket);
    }
    Ok(code)
}

/// Starts the mirror, and the link to the engine.
fn start_beside(
    shared: &Arc<ProxyState>,
    events: Receiver<MirrorEvent>,
    tasks: UnboundedReceiver<EngineTask>,
) -> io::Result<()> {
    let mirroring = Arc::clone(shared);
    thread::Builder::new().name("mirror".to_owned()).spawn(move || document_mirror::run(&mirroring, &events))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let linking = Arc::clone(shared);
    thread::Builder::new()
        .name("engine".to_owned())
        .spawn(move || runtime.block_on(engine_link::run(linking, tasks)))?;
    Ok(())
}

/// Returns when the first process is there, or cannot be. The receiver gets the exit code of the last one.
fn start_server(shared: &Arc<ProxyState>) -> io::Result<Receiver<Option<i32>>> {
    let (ready, is_ready) = channel();
    let (ended, end) = channel();
    let shared = Arc::clone(shared);
    thread::Builder::new().name("from-server".to_owned()).spawn(move || {
        let status = server_process::supervise(&shared, &ready);
        let _ = ended.send(status.and_then(|status| status.code()));
    })?;
    // A thread that has ended at once has sent this too.
    let _ = is_ready.recv();
    Ok(end)
}

/// Reads until the editor sends `exit`, or closes its side.
fn read_editor(shared: &ProxyState, input: File) {
    let mut pieces = Pieces::new(BufReader::with_capacity(BUFFER, input), frame::FROM_EDITOR);
    while let Ok(Some(piece)) = pieces.next() {
        if pass(shared, ProxySide::Editor, piece) {
            return;
        }
    }
}

/// Gives the server time to end by itself. The code is the server's.
fn leave(shared: &ProxyState, server: Option<&Receiver<Option<i32>>>) -> u8 {
    *lock(&shared.leaving.0) = true;
    shared.leaving.1.notify_all();
    if let Some(outlet) = lock(&shared.table).server.outlet.take() {
        outlet.close();
    }
    let Some(server) = server else { return 0 };
    let code = match server.recv_timeout(LEAVE) {
        Err(RecvTimeoutError::Timeout) => {
            server_process::kill(shared);
            server.recv_timeout(LAST_WORDS).ok().flatten()
        }
        ended => ended.ok().flatten(),
    };
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(0)
}

/// Sends a piece from one side on. True if there is more to do: the editor leaves, or a new server needs the earlier
/// messages.
pub(in crate::proxy) fn pass(shared: &ProxyState, from: ProxySide, piece: StreamPiece) -> bool {
    let mut table = lock(&shared.table);
    let message = match piece {
        StreamPiece::Message(message) => message,
        StreamPiece::Part { bytes, last } => {
            let to = if from == ProxySide::Editor { table.server.outlet.as_ref() } else { Some(&table.editor.outlet) };
            to.into_iter().for_each(|to| to.part(bytes.clone(), last));
            return false;
        }
    };
    // A failure here costs Sextant's part, and never the message.
    let decided = catch_unwind(AssertUnwindSafe(|| match from {
        ProxySide::Editor => editor_side::decide(shared, &mut table, &message),
        ProxySide::Server => server_side::decide(shared, &mut table, &message),
    }));
    let decided = decided.unwrap_or_else(|_| {
        tracing::error!(?from, "a message could not be looked at");
        Forward::Raw
    });
    let left = from == ProxySide::Editor && editor_side::leaves(&message);
    let send = |bytes: Vec<u8>| match from {
        ProxySide::Editor => table.to_server(bytes),
        ProxySide::Server => table.editor.outlet.raw(bytes),
    };
    match decided {
        Forward::Raw => send(message.bytes),
        Forward::Instead(bytes) => send(bytes),
        Forward::Then(after) => {
            send(message.bytes);
            after.into_iter().for_each(send);
        }
        Forward::Nothing => {}
    }
    left || (from == ProxySide::Server && table.server.replay_due)
}
