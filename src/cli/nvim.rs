//! `sextant nvim`: the remote plugin's process.

use crate::cli::exit_status::CommandStatus;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::Args;
use futures::future::join_all;

use crate::cli::settings::{session_folders, state_folder};
use crate::cli::{log, models, runtime};
use sextant_base::lock::lock;
use sextant_serve::discovery::Advertisement;
use sextant_serve::rpc::rpc_server::{Serving, serve};

/// The workspaces that this process serves to other processes.
type ServedWorkspaces = Arc<Mutex<Vec<Serving>>>;

#[derive(Debug, Args)]
pub(super) struct NvimArguments {
    /// File that the log is appended to
    #[arg(long)]
    log: Option<PathBuf>,
}

pub(super) fn run(arguments: &NvimArguments) -> CommandStatus {
    if let Some(path) = &arguments.log {
        log::start(path);
    }
    let runtime = match runtime::start() {
        Ok(runtime) => runtime,
        Err(failure) => {
            tracing::error!(%failure, "nothing can be served");
            return CommandStatus::NotDone;
        }
    };
    let served: ServedWorkspaces = Arc::default();
    let ended = runtime.block_on(async {
        let ended = sextant_nvim::run(Box::new(models::make), state_folder(), on_open(&served)).await;
        let serving = std::mem::take(&mut *lock(&served));
        join_all(serving.into_iter().map(Serving::end)).await;
        ended
    });
    // The reader of standard input is a thread that cannot be stopped; it must not hold the process.
    runtime.shutdown_background();
    match ended {
        Ok(()) => CommandStatus::Done,
        Err(failure) => {
            tracing::error!("{}", failure.one_line());
            CommandStatus::NotDone
        }
    }
}

/// Serves each workspace that Neovim opens, beside all of Neovim's requests: none of them waits for it.
fn on_open(served: &ServedWorkspaces) -> sextant_nvim::OnOpen {
    let served = Arc::clone(served);
    let editor_pid = rustix::process::getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    Box::new(move |agent| {
        let (agent, served) = (Arc::clone(agent), Arc::clone(&served));
        tokio::spawn(async move {
            let what = Advertisement { root: agent.root().path().to_owned(), door: "nvim", editor_pid };
            match serve(&agent, what, session_folders()).await {
                Ok(serving) => lock(&served).push(serving),
                Err(error) => tracing::warn!(%error, "no other program can join this session"),
            }
        });
    })
}
