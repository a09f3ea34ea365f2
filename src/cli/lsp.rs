//! `sextant lsp`: the agent before a language server, or as a server by itself, for an editor that speaks LSP.

use crate::cli::exit_status::CommandStatus;
use std::path::PathBuf;

use clap::Args;

use crate::cli::settings::session_folders;
use crate::cli::{log, terminal};
use sextant_helix::proxy::{self, ProxyOptions};
use sextant_serve::discovery;

#[derive(Debug, Args)]
pub(super) struct LspArguments {
    /// Offer neither commands nor code actions: another proxy of the same language does
    #[arg(long)]
    quiet: bool,
    /// File that the log is appended to
    #[arg(long)]
    log: Option<PathBuf>,
    /// The language server and its arguments; without one, the agent alone
    #[arg(last = true, value_name = "SERVER")]
    server: Vec<String>,
}

pub(super) fn run(arguments: LspArguments) -> CommandStatus {
    if let Some(path) = &arguments.log {
        log::start(path);
    }
    let options = ProxyOptions {
        command: arguments.server,
        quiet: arguments.quiet,
        log: arguments.log,
        folder: Box::new(|root| discovery::of_workspace(&session_folders(), root)),
    };
    match proxy::run(options) {
        Ok(code) => CommandStatus::OfServer(code),
        Err(error) => {
            terminal::complain(&format!("sextant: {error}"));
            CommandStatus::NotDone
        }
    }
}
