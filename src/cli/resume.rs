//! `sextant resume`: goes on with the last task of a folder that is not over.

use std::process::ExitCode;

use clap::Args;

use crate::base::failure::{Failure, Kind};
use crate::cli::headless;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Run a plan that was made and never approved, too; without this it is only printed
    #[arg(long)]
    approve: bool,
    /// Answer the question that a plan is paused with, by the number of an option
    #[arg(long, value_name = "NUMBER")]
    answer: Option<usize>,
    #[command(flatten)]
    folder: headless::Folder,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let (approve, answer) = (arguments.approve, arguments.answer);
    headless::run_without(&arguments.folder, &move |session, _request, cancel| {
        Box::pin(async move {
            let mut outcome = headless::shown(session, session.resume(approve, cancel).await)?;
            if let Some(choice) = answer {
                outcome = headless::shown(session, session.answer_question(choice, cancel).await)?;
            }
            serde_json::to_value(outcome)
                .map_err(|error| Failure::new(Kind::Internal, error.to_string(), "see the log"))
        })
    })
}
