//! `sextant resume`: goes on with the last task of a folder that is not over.

use std::process::ExitCode;

use clap::Args;

use crate::base::failure::{Failure, FailureKind};
use crate::cli::headless::{self, Work};
use crate::cli::settings::{ModeOption, WorkOptions};

#[derive(Debug, Args)]
pub(super) struct ResumeArguments {
    /// Run a plan that was made and never approved, too; without this it is only printed
    #[arg(long)]
    approve: bool,
    #[command(flatten)]
    folder: headless::Folder,
    #[command(flatten)]
    options: WorkOptions,
    #[command(flatten)]
    mode: ModeOption,
}

pub(super) fn run(arguments: &ResumeArguments) -> ExitCode {
    let (approve, answers) = (arguments.approve, !arguments.options.answers.is_empty());
    let who = Work { options: &arguments.options, mode: arguments.mode.given() };
    headless::run_without(&arguments.folder, Some(who), &move |session, _request, cancel| {
        Box::pin(async move {
            let mut ending = session.resume(approve, cancel).await;
            if answers {
                ending = headless::answered(session, ending, cancel).await;
            }
            let outcome = headless::shown(session, ending)?;
            serde_json::to_value(outcome)
                .map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))
        })
    })
}
