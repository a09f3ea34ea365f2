//! `sextant ask`: one request on a folder, with its own language servers.

use std::process::ExitCode;

use crate::base::failure::{Failure, FailureKind};
use crate::cli::headless::{self, Job};

pub(super) fn run(arguments: &Job) -> ExitCode {
    headless::run(arguments, None, &|session, request, cancel| {
        Box::pin(async move {
            let outcome = headless::shown(session, session.ask(request, cancel).await)?;
            serde_json::to_value(outcome)
                .map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))
        })
    })
}
