//! `sextant resume`: goes on with the last task of a folder that is not over.

use crate::cli::exit_status::CommandStatus;

use clap::Args;

use crate::cli::headless_run::{self, Work};
use crate::cli::join::{self, JoinOptions, JoinedWork};
use crate::cli::settings::{ModeOption, WorkOptions};

#[derive(Debug, Args)]
pub(super) struct ResumeArguments {
    /// Run a plan that was made and never approved, too; without this it is only printed
    #[arg(long)]
    approve: bool,
    #[command(flatten)]
    folder: headless_run::Folder,
    #[command(flatten)]
    options: WorkOptions,
    #[command(flatten)]
    mode: ModeOption,
    #[command(flatten)]
    join: JoinOptions,
}

pub(super) fn run(arguments: &ResumeArguments) -> CommandStatus {
    let (approve, answers) = (arguments.approve, !arguments.options.answers.is_empty());
    let who = Work { options: &arguments.options, mode: arguments.mode.given(), asks_model: true };
    let own: headless_run::HeadlessRun<'_> = &move |session, _request, cancel| {
        Box::pin(async move {
            let mut ending = session.resume(approve, cancel).await;
            if answers {
                ending = headless_run::answered(session, ending, cancel).await;
            }
            join::value(headless_run::shown(session, ending)?)
        })
    };
    let joined: join::JoinedRun<'_> =
        &move |session, _request, by| Box::pin(async move { join::value(session.resume(approve, by).await?) });
    let joined = JoinedWork { options: &arguments.join, run: joined };
    headless_run::run_without(&arguments.folder, Some(who), own, Some(joined))
}
