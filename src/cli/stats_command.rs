//! `sextant stats`: shows the results of the runs in a workspace, from its own record. It starts and makes nothing.

use crate::cli::exit_status::CommandStatus;
use std::path::PathBuf;

use clap::Args;

use crate::cli::settings::state_folder;
use crate::cli::{headless_run, terminal};
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::statistics;
use sextant_store::workspace::record_folder::Record;
use sextant_store::workspace::root::Root;

#[derive(Debug, Args)]
pub(super) struct StatsArguments {
    /// Workspace folder [default: the project around the current folder]
    #[arg(long)]
    root: Option<PathBuf>,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &StatsArguments) -> CommandStatus {
    match text(arguments) {
        Ok(text) => {
            terminal::line(&text);
            CommandStatus::Done
        }
        Err(failure) => {
            headless_run::fail(&failure, arguments.json);
            CommandStatus::NotDone
        }
    }
}

fn text(arguments: &StatsArguments) -> Result<String, Failure> {
    let root = match &arguments.root {
        Some(folder) => Root::new(folder)?,
        None => {
            let here = std::env::current_dir().map_err(|error| {
                Failure::user(format!("the current folder cannot be read: {error}"), "name one with --root")
            })?;
            Root::find(&here)?
        }
    };
    let record = state_folder().map(|state| Record::of(&state, &root));
    let Some(stats) = record.map(|record| statistics::of_record(&record)).transpose()?.flatten() else {
        let message = format!("nothing was recorded in {} yet", root.path().display());
        return Err(Failure::user(message, "`sextant ask` does something there"));
    };
    if arguments.json {
        serde_json::to_string(&stats)
            .map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))
    } else {
        Ok(statistics::report(&stats))
    }
}
