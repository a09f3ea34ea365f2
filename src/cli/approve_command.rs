//! `sextant approve`: runs the waiting plan of a workspace, in the session that made it or in one of its own.

use crate::cli::exit_status::CommandStatus;

use clap::Args;

use crate::cli::headless_run::{self, Work};
use crate::cli::join::{self, JoinOptions, JoinedWork};
use crate::cli::settings::{ModeOption, WorkOptions};
use sextant_engine::api::Steps;

#[derive(Debug, Args)]
pub(super) struct ApproveArguments {
    /// Run only its next step
    #[arg(long)]
    step: bool,
    #[command(flatten)]
    folder: headless_run::Folder,
    #[command(flatten)]
    options: WorkOptions,
    #[command(flatten)]
    mode: ModeOption,
    #[command(flatten)]
    join: JoinOptions,
}

pub(super) fn run(arguments: &ApproveArguments) -> CommandStatus {
    let steps = if arguments.step { Steps::One } else { Steps::All };
    let own: headless_run::HeadlessRun<'_> = &move |session, _request, cancel| {
        Box::pin(async move {
            let ending = session.approve(steps, cancel).await;
            let ending = headless_run::answered(session, ending, cancel).await;
            join::value(headless_run::shown(session, ending)?)
        })
    };
    let joined: join::JoinedRun<'_> =
        &move |session, _request, by| Box::pin(async move { join::value(session.approve(steps, false, by).await?) });
    let joined = JoinedWork { options: &arguments.join, run: joined };
    let who = Work { options: &arguments.options, mode: arguments.mode.given(), asks_model: true };
    headless_run::run_without(&arguments.folder, Some(who), own, Some(joined))
}
