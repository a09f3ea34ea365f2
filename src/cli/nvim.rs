//! `sextant nvim`: the remote plugin's process.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::settings::state_folder;
use crate::cli::{log, models};
use crate::editors::nvim;

#[derive(Debug, Args)]
pub(super) struct NvimArguments {
    /// File that the log is appended to
    #[arg(long)]
    log: Option<PathBuf>,
}

pub(super) fn run(arguments: &NvimArguments) -> ExitCode {
    if let Some(path) = &arguments.log {
        log::start(path);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "no runtime");
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(nvim::run(Box::new(models::make), state_folder()));
    // The reader of standard input is a thread that cannot be stopped; it must not hold the process.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tracing::error!("{}", failure.one_line());
            ExitCode::FAILURE
        }
    }
}
