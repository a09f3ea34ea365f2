//! `sextant undo`: takes back what the last tasks of a folder changed, task by task or in parts, or lists them.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::agent::commands::undo::{UndoRequest, list, take_back};
use crate::agent::state::undo_target::Target;
use crate::base::failure::{Failure, FailureKind};
use crate::cli::headless;
use crate::editor::event::Event;

#[derive(Debug, Args)]
pub(super) struct UndoArguments {
    /// `step` for the last step, a step's number, or a symbol as `Cart::total` [default: all of the task]
    #[arg(default_value = "", hide_default_value = true)]
    target: String,
    /// Why: kept, and told to the model when it is about to do the like again
    #[arg(long, default_value = "", hide_default_value = true)]
    because: String,
    /// Take back what can be where you changed the same places since, and leave the rest for good
    #[arg(long)]
    partial: bool,
    /// Take nothing back: list the last tasks, their steps, and what is undone
    #[arg(long, conflicts_with_all = ["target", "because", "partial"])]
    list: bool,
    #[command(flatten)]
    folder: headless::Folder,
}

pub(super) fn run(arguments: &UndoArguments) -> ExitCode {
    if arguments.list {
        return headless::run_without(&arguments.folder, None, &|session, _request, _cancel| {
            Box::pin(async move {
                let history = list::history(session).await?;
                let markdown = list::markdown(&history);
                session.emit(Event::Page { name: "history".to_owned(), markdown });
                Ok(json!({"ok": true, "history": history}))
            })
        });
    }
    let (target, partial, reason) = (Target::parse(&arguments.target), arguments.partial, arguments.because.clone());
    let wish = UndoRequest { target, partial, reason };
    headless::run_without(&arguments.folder, None, &move |session, _request, _cancel| {
        let wish = wish.clone();
        Box::pin(async move { outcome(headless::shown(session, take_back(session, &wish).await)?) })
    })
}

/// An outcome as the last line of JSON.
pub(super) fn outcome(outcome: impl serde::Serialize) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(outcome).map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))
}
