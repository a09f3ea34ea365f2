//! `sextant undo`: takes back what the last task of a folder changed, or a part of it.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::agent::undo::Target;
use crate::cli::headless;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// `step` for the last step, a step's number, or a symbol as `Cart::total` [default: all of the task]
    #[arg(default_value = "", hide_default_value = true)]
    target: String,
    /// Why: kept, and told to the model when it is about to do the like again
    #[arg(long, default_value = "", hide_default_value = true)]
    because: String,
    /// Take back what can be where you changed the same places since, and name the rest
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    folder: headless::Folder,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let (target, partial) = (Target::parse(&arguments.target), arguments.partial);
    headless::run_without(&arguments.folder, &move |session, _request, _cancel| {
        let (target, reason) = (target.clone(), arguments.because.clone());
        Box::pin(async move {
            let summary = headless::shown(session, session.undo_because(&target, partial, &reason).await)?;
            Ok(json!({"ok": true, "summary": summary}))
        })
    })
}
