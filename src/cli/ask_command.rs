//! `sextant ask`: one request on a folder, with its own language servers.

use crate::cli::exit_status::CommandStatus;

use crate::cli::headless_run::{self, Job};
use crate::cli::join;

pub(super) fn run(arguments: &Job) -> CommandStatus {
    let own: headless_run::HeadlessRun<'_> = &|session, request, cancel| {
        Box::pin(async move {
            let outcome = headless_run::shown(session, session.ask(request, cancel).await)?;
            join::value(outcome)
        })
    };
    let joined: join::JoinedRun<'_> =
        &|session, request, by| Box::pin(async move { join::value(session.ask(request, by).await?) });
    headless_run::run(arguments, None, own, joined)
}
