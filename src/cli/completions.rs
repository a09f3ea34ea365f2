//! Completions for shells and manual pages, made from the command line itself.

use crate::cli::exit_status::CommandStatus;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::terminal;
use sextant_base::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// Shell that they are for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// Folder that the pages are written into, which is made where it is missing
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub(super) fn completions(arguments: &CompletionsArguments, mut command: Command) -> CommandStatus {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "sextant", &mut script);
    terminal::piece(&String::from_utf8_lossy(&script));
    CommandStatus::Done
}

/// Writes a manual page for each subcommand.
pub(super) fn man(arguments: &ManArguments, command: Command) -> CommandStatus {
    match write(&arguments.folder, command) {
        Ok(()) => {
            terminal::line(&format!("man -l {}", arguments.folder.join("sextant.1").display()));
            CommandStatus::Done
        }
        Err(error) => {
            let message = format!("{} cannot be written: {error}", arguments.folder.display());
            terminal::fail(&Failure::user(message, "name another folder"));
            CommandStatus::NotDone
        }
    }
}

fn write(folder: &Path, command: Command) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command, folder)
}
