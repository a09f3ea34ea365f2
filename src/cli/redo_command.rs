//! `sextant redo`: brings back the changes of the last undo in a folder.

use crate::cli::exit_status::CommandStatus;

use clap::Args;

use crate::cli::headless_run;
use crate::cli::join::{self, JoinOptions, JoinedWork};
use crate::cli::settings::AllowedFiles;

#[derive(Debug, Args)]
pub(super) struct RedoArguments {
    #[command(flatten)]
    allowed: AllowedFiles,
    #[command(flatten)]
    folder: headless_run::Folder,
    #[command(flatten)]
    join: JoinOptions,
}

pub(super) fn run(arguments: &RedoArguments) -> CommandStatus {
    let own: headless_run::HeadlessRun<'_> = &|session, _request, _cancel| {
        Box::pin(async move { join::value(headless_run::shown(session, session.bring_back().await)?) })
    };
    let joined: join::JoinedRun<'_> =
        &|session, _request, by| Box::pin(async move { join::value(session.redo(by).await?) });
    let joined = JoinedWork { options: &arguments.join, run: joined };
    headless_run::run_allowed(&arguments.folder, &arguments.allowed, own, joined)
}
