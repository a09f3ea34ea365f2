//! `sextant engine`: the session of a workspace for the proxies of an editor. The first proxy starts it.

use crate::cli::exit_status::CommandStatus;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cli::settings::{ServerFolders, UserFiles, WorkOptions, session_folders};
use crate::cli::{log, models, runtime, terminal};
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_base::private_files;
use sextant_engine::api::Engine;
use sextant_helix::engine::{self, EngineParts, EngineSetup, MakeParts, OnSession};
use sextant_helix::link::{ENGINE_LOCK, ENGINE_SOCKET};
use sextant_serve::discovery::{Advertisement, of_workspace};
use sextant_serve::rpc::rpc_server::{Serving, serve};
use sextant_store::workspace::root::Root;

#[derive(Debug, Args)]
pub(super) struct EngineArguments {
    /// Workspace folder
    #[arg(long)]
    root: PathBuf,
    #[command(flatten)]
    servers: ServerFolders,
    #[command(flatten)]
    files: UserFiles,
}

/// The session that other processes find, until the engine ends.
type ServedSession = Arc<Mutex<Option<Serving>>>;

pub(super) fn run(arguments: EngineArguments) -> CommandStatus {
    if let Some(path) = &arguments.files.log {
        log::start(path);
    }
    // The engine has a session of its own: an editor that is stopped or hung up from its terminal does not take it
    // along.
    let _ = rustix::process::setsid();
    match start(arguments) {
        Ok(()) => CommandStatus::Done,
        Err(failure) => {
            tracing::error!("{}", failure.one_line());
            terminal::fail(&failure);
            CommandStatus::NotDone
        }
    }
}

fn start(arguments: EngineArguments) -> Result<(), Failure> {
    let root = Root::new(&arguments.root)?;
    let failed = |what: &str, error: io::Error| {
        Failure::new(FailureKind::Internal, format!("{what}: {error}"), "set XDG_RUNTIME_DIR to a folder of yours")
    };
    let folder = of_workspace(&session_folders(), root.path())
        .map_err(|error| failed("no folder can hold the engine's socket", error))?;
    let locked = take(&folder.join(ENGINE_LOCK)).map_err(|error| failed("the engine's lock cannot be taken", error))?;
    let Some(locked) = locked else {
        tracing::info!("an engine of this workspace runs already");
        return Ok(());
    };
    let socket = folder.join(ENGINE_SOCKET);
    let listener = listen(&socket).map_err(|error| failed("the engine cannot listen", error))?;
    let runtime = runtime::start()?;
    let served = ServedSession::default();
    let EngineArguments { servers, files, .. } = arguments;
    let setup =
        EngineSetup { root, folder: folder.clone(), make: make(servers, files), on_session: on_session(&served) };
    let ended = runtime.block_on(async {
        let ended = engine::run(listener, setup).await;
        let serving = lock(&served).take();
        if let Some(serving) = serving {
            serving.end().await;
        }
        ended
    });
    runtime.shutdown_background();
    for path in [socket, folder.join(ENGINE_LOCK)] {
        let _ = fs::remove_file(path);
    }
    drop(locked);
    // The call removes the folder only if it is empty.
    let _ = fs::remove_dir(folder);
    ended.map_err(|error| failed("the engine cannot listen", error))
}

/// The lock of the workspace's engine; `None` if another one holds it.
fn take(path: &Path) -> io::Result<Option<File>> {
    match private_files::lock_removed(path, Deadline::after(Duration::ZERO)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a socket for this user alone. An existing one is from an engine that died: this one holds the lock.
fn listen(socket: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn make(servers: ServerFolders, files: UserFiles) -> MakeParts {
    let options = WorkOptions::without_model(servers, None);
    let parts = move |given: &Value, root: &Path| -> Result<EngineParts, Failure> {
        let settings = options.settings_with(&files, given, root)?;
        let model = models::make(&settings.model)?;
        let (config, servers) = (settings.config, settings.servers);
        Ok(EngineParts { config, model, servers, providers: settings.providers, commands: settings.commands })
    };
    Box::new(move |given, root| {
        parts(given, root).map_err(|failure| {
            let is_of_editor = !given.is_null() && parts(&Value::Null, root).is_ok();
            short(failure, if is_of_editor { "languages.toml" } else { "sextant/config.toml" })
        })
    })
}

/// The failure of an option for one line of an editor: the option and its file come first.
fn short(failure: Failure, file: &str) -> Failure {
    let Some((_, why)) = failure.message.split_once("cannot be used: ").filter(|_| failure.kind == FailureKind::Config)
    else {
        return failure;
    };
    let (option, others) = why
        .split_once(", expected")
        .map_or((why, String::new()), |(option, others)| (option, format!(", expected{others}")));
    Failure::new(FailureKind::Config, format!("{option} in {file}{others}"), "see the README")
}

fn on_session(served: &ServedSession) -> OnSession {
    let served = Arc::clone(served);
    Box::new(move |agent: Arc<Engine>, editor_pid| {
        let served = Arc::clone(&served);
        Box::pin(async move {
            let what = Advertisement { root: agent.root().path().to_owned(), door: "lsp", editor_pid };
            match serve(&agent, what, session_folders()).await {
                Ok(serving) => {
                    let name = serving.entry().name.clone();
                    *lock(&served) = Some(serving);
                    name
                }
                Err(error) => {
                    tracing::warn!(%error, "no other program can join this session");
                    String::new()
                }
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn one_engine_alone_has_the_lock_and_a_socket_of_this_user() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(ENGINE_LOCK);
        let held = take(&path).unwrap().expect("nobody has it");
        assert!(take(&path).unwrap().is_none());
        drop(held);
        // A process that another test starts has the lock until it is executed.
        drop(private_files::lock_removed(&path, Deadline::after(Duration::from_secs(30))).expect("nobody has it"));
        let socket = dir.path().join(ENGINE_SOCKET);
        drop(listen(&socket).unwrap());
        let _again = listen(&socket).unwrap();
        assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("link")).unwrap();
        assert!(take(&dir.path().join("link")).is_err(), "no link is followed");
    }
}
