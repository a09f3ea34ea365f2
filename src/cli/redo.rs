//! `sextant redo`: brings back what was undone last in a folder.

use std::process::ExitCode;

use clap::Args;

use crate::agent::commands::undo::redo::bring_back;
use crate::cli::{headless, undo};

#[derive(Debug, Args)]
pub(super) struct RedoArguments {
    #[command(flatten)]
    folder: headless::Folder,
}

pub(super) fn run(arguments: &RedoArguments) -> ExitCode {
    headless::run_without(&arguments.folder, None, &|session, _request, _cancel| {
        Box::pin(async move { undo::outcome(headless::shown(session, bring_back(session).await)?) })
    })
}
