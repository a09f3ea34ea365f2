//! Runs the server's process: starts it, restarts it, gives it up, and replays the earlier messages to a new one.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::proxy::document_mirror;
use crate::proxy::editor_side;
use crate::proxy::engine_client;
use crate::proxy::frame::{self, Pieces};
use crate::proxy::own_answers;
use crate::proxy::proxy_state::{EditorAsked, ProxyState, REPLAY_ID, Table};
use crate::proxy::shared_files;
use crate::proxy::write_queue::Outlet;
use crate::proxy::{ProxySide, pass};
use sextant_base::lock::lock;
use sextant_diagnostics::program::{self, ProcessGroup};
use sextant_diagnostics::server::restart::{Deaths, Next};
use sextant_store::workspace::root::Root;

/// The time that a server that has closed its output has to end.
const END: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(10);
/// Bytes that are read at once.
const BUFFER: usize = 256 * 1024;

/// Runs one process after the other. `ready` is signalled when the first is there or cannot be.
pub(super) fn supervise(shared: &ProxyState, ready: &Sender<()>) -> Option<ExitStatus> {
    let mut deaths = Deaths::default();
    loop {
        let why = match run(shared, ready) {
            Ok(status) if *lock(&shared.leaving.0) => return Some(status),
            Ok(status) => format!("it ended with {status}"),
            Err(error) => {
                let why = format!("{} cannot be started: {error}", shared.options.command[0]);
                give_up(&mut lock(&shared.table), shared, why);
                let _ = ready.send(());
                return None;
            }
        };
        let name = shared.options.name();
        tracing::warn!(name, why, "the language server ended");
        let mut table = lock(&shared.table);
        died(shared, &mut table);
        let Next::Again(pause) = deaths.record(Instant::now()) else {
            give_up(&mut table, shared, format!("{name} ended four times within a minute ({why})"));
            return None;
        };
        table.say(2, &format!("sextant: {name} has ended ({why}) and is started again"));
        drop(table);
        let waited = shared.leaving.1.wait_timeout_while(lock(&shared.leaving.0), pause, |leaving| !*leaving);
        if *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0 {
            return None;
        }
    }
}

fn run(shared: &ProxyState, ready: &Sender<()>) -> std::io::Result<ExitStatus> {
    let mut child = spawn(&shared.options.command)?;
    let group = ProcessGroup::of_id(child.id());
    shared.process.store(child.id(), Ordering::SeqCst);
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::Error::other("no pipes to the server"));
    };
    let (outlet, _) = Outlet::start("to-server", stdin)?;
    begin(&mut lock(&shared.table), outlet);
    let _ = ready.send(());
    let mut pieces = Pieces::new(BufReader::with_capacity(BUFFER, stdout), frame::FROM_SERVER);
    loop {
        match pieces.next() {
            Ok(Some(piece)) => {
                if pass(shared, ProxySide::Server, piece) {
                    replay(shared);
                }
            }
            Ok(None) => break,
            Err(error) => {
                // The bytes from here on cannot be separated; the next process starts fresh.
                tracing::warn!(%error, "a language server is ended");
                kill(shared);
                break;
            }
        }
    }
    if let Some(outlet) = lock(&shared.table).server.outlet.take() {
        outlet.close();
    }
    let status = end(&mut child, group);
    shared.process.store(0, Ordering::SeqCst);
    status
}

/// Finds the program as the user's shell would; in `PATH`, folders of the project are passed over.
fn spawn(command: &[String]) -> std::io::Result<Child> {
    let (name, arguments) = command.split_first().ok_or_else(|| std::io::Error::other("the command is empty"))?;
    let mut command = program::command(&whole(name)?)?.into_std();
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()
}

/// The whole path of a program.
fn whole(name: &str) -> std::io::Result<PathBuf> {
    if name.contains('/') { std::path::absolute(name) } else { look_up(name) }
}

/// The command with the program that it starts; as it was given if there is no such program.
pub(super) fn whole_command(command: &[String]) -> Vec<String> {
    let mut command = command.to_vec();
    if let Some(name) = command.first_mut()
        && let Ok(program) = whole(name)
    {
        *name = program.display().to_string();
    }
    command
}

fn look_up(name: &str) -> std::io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let here = std::env::current_dir()?;
    let root = Root::find(&here).map_or(here, |root| root.path().to_owned());
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    // A project that holds the user's own folder does not count: every program of the user would belong to it.
    let places = if home.starts_with(&root) {
        std::env::split_paths(&path).filter(|place| place.is_absolute()).collect()
    } else {
        program::places(&root, &[], Some(&path))
    };
    let missing = || {
        let why = format!("{name} is not on PATH, apart from folders of the project");
        std::io::Error::new(std::io::ErrorKind::NotFound, why)
    };
    program::find(&places, Path::new(name).to_str().unwrap_or_default()).ok_or_else(missing)
}

/// Begins with a new process. The first one gets the editor's messages; a later one gets the earlier messages again.
fn begin(table: &mut Table, outlet: Outlet) {
    let first = table.server.result.is_none();
    let body = table.server.initialize.clone();
    match body {
        // The editor still waits for its answer.
        Some(body) if first => outlet.raw(sextant_diagnostics::server::content_length::encode(&body)),
        Some(body) => {
            let mut request: Value = serde_json::from_slice(&body).unwrap_or_default();
            request["id"] = REPLAY_ID.into();
            outlet.json(&request);
        }
        None => {}
    }
    // The new process will report again what the one before has reported.
    table.files.values_mut().for_each(|file| (file.published, file.pulled, file.passed) = (None, Vec::new(), None));
    table.server.live = first;
    table.server.outlet = Some(outlet);
}

/// Opens every open document in a new process. No message goes through meanwhile.
fn replay(shared: &ProxyState) {
    document_mirror::caught_up(shared, |texts, table| {
        table.server.replay_due = false;
        let Some(outlet) = table.server.outlet.clone() else { return };
        outlet.json(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        table.server.replayed.iter().for_each(|(_, message)| outlet.raw(message.clone()));
        texts.open.values().for_each(|known| outlet.raw(shared_files::reopened(known)));
        table.server.live = true;
        engine_client::initialized(table);
    });
}

fn died(shared: &ProxyState, table: &mut Table) {
    table.server.outlet = None;
    table.server.live = false;
    table.server.replay_due = false;
    editor_side::orphaned(shared, table, "the language server has ended");
    let wants = std::mem::take(&mut table.server.calls.wants);
    wants.into_iter().for_each(|(id, count)| *table.server.calls.stale.entry(id).or_default() += count);
    for token in std::mem::take(&mut table.server.calls.progress) {
        end_progress(table, &token);
    }
}

/// Ends a progress, so that nothing turns for ever on the editor's status line.
pub(super) fn end_progress(table: &Table, token: &Value) {
    let params = json!({"token": token, "value": {"kind": "end"}});
    table.editor.outlet.json(&json!({"jsonrpc": "2.0", "method": "$/progress", "params": params}));
}

fn give_up(table: &mut Table, shared: &ProxyState, why: String) {
    let answered = table.server.result.is_some();
    if answered {
        table.say(1, &format!("sextant: {why}"));
    }
    table.server.ended = Some(why);
    if table.editor.asked.values().any(|asked| matches!(asked, EditorAsked::Initialize)) {
        editor_side::alone(shared, table);
    }
    engine_client::initialized(table);
    let shown: Vec<String> =
        table.files.iter().filter(|(_, f)| f.published.is_some()).map(|(k, _)| k.clone()).collect();
    for key in shown {
        if let Some(file) = table.files.get_mut(&key) {
            file.published = None;
            own_answers::show(table, &key, true);
        }
        table.sweep(&key);
    }
}

/// Ends the process with all that it started, also if it ends by itself.
fn end(child: &mut Child, group: ProcessGroup) -> std::io::Result<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < END {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(STEP);
    }
    drop(group);
    child.wait()
}

/// Ends the server from outside, with all that it started.
pub(super) fn kill(shared: &ProxyState) {
    drop(ProcessGroup::of_id(shared.process.load(Ordering::SeqCst)));
}
