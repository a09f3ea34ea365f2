//! `sextant why`: shows which diagnostics led to which step of a task, and which ideas were set aside and why.

use crate::cli::exit_status::CommandStatus;

use clap::Args;
use serde_json::json;

use crate::cli::headless_run;
use sextant_engine::api::{Event, traces_markdown};

#[derive(Debug, Args)]
pub(super) struct WhyArguments {
    /// Which task: 1 is the last one, 2 the one before, or the name of a task [default: the last one]
    #[arg(default_value = "", hide_default_value = true)]
    task: String,
    /// List the tasks that have a trace, with their numbers
    #[arg(long, conflicts_with = "task")]
    list: bool,
    #[command(flatten)]
    folder: headless_run::Folder,
}

pub(super) fn run(arguments: &WhyArguments) -> CommandStatus {
    let (task, list) = (arguments.task.clone(), arguments.list);
    let look: headless_run::HeadlessRun<'_> = &move |session, _request, _cancel| {
        let task = task.clone();
        Box::pin(async move {
            if list {
                let tasks = session.traces().await?;
                session.emit(Event::Trace { markdown: traces_markdown(&tasks) });
                return Ok(json!({"ok": true, "tasks": tasks}));
            }
            let found = session.traced(&task).await?;
            session.emit(Event::Trace { markdown: found.markdown() });
            Ok(json!({"ok": true, "task": found.task, "request": found.request, "entries": found.entries}))
        })
    };
    headless_run::run_without(&arguments.folder, None, look, None)
}
