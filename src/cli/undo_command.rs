//! `sextant undo`: undoes the changes of the last tasks of a folder, task by task or in parts, or lists them.

use crate::cli::exit_status::CommandStatus;

use clap::Args;
use serde_json::json;

use crate::cli::headless_run;
use crate::cli::join::{self, JoinOptions, JoinedWork};
use crate::cli::settings::AllowedFiles;
use sextant_engine::api::{Event, Target, UndoRequest, history};
use sextant_serve::rpc::api::agent_api::UndoPart;

#[derive(Debug, Args)]
pub(super) struct UndoArguments {
    /// `step` for the last step, a step's number, a symbol as `Cart::total`, the words of a task, or `task NAME` where
    /// several have these words [default: all of the last task]
    #[arg(value_parser = named)]
    target: Option<String>,
    /// Why: kept, and shown to the model when it is about to do the like again
    #[arg(long, default_value = "", hide_default_value = true)]
    because: String,
    /// Take back what can be where you changed the same places since, and leave the rest for good
    #[arg(long)]
    partial: bool,
    /// Take nothing back: list the last tasks, their steps, and what is undone
    #[arg(long, conflicts_with_all = ["target", "because", "partial"])]
    list: bool,
    #[command(flatten)]
    allowed: AllowedFiles,
    #[command(flatten)]
    folder: headless_run::Folder,
    #[command(flatten)]
    join: JoinOptions,
}

/// A target that names something. An empty one may be a script's variable without a value, and no wish to undo it all.
fn named(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty; name `step`, a number or a symbol, or leave it out for all of the task".to_owned()),
        named => Ok(named.to_owned()),
    }
}

pub(super) fn run(arguments: &UndoArguments) -> CommandStatus {
    if arguments.list {
        let look: headless_run::HeadlessRun<'_> = &|session, _request, _cancel| {
            Box::pin(async move {
                let known = session.history().await?;
                let (markdown, entries) = history::page(&known);
                session.emit(Event::Page { name: "history".to_owned(), markdown, entries });
                Ok(json!({"ok": true, "history": known}))
            })
        };
        return headless_run::run_without(&arguments.folder, None, look, None);
    }
    let target = arguments.target.clone().unwrap_or_default();
    let (partial, because) = (arguments.partial, arguments.because.clone());
    let wish =
        UndoRequest { target: Target::parse(&target), partial, reason: because.clone(), ..UndoRequest::default() };
    let own: headless_run::HeadlessRun<'_> = &move |session, _request, _cancel| {
        let wish = wish.clone();
        Box::pin(async move { join::value(headless_run::shown(session, session.take_back(&wish).await)?) })
    };
    let part = UndoPart { target, partial, because };
    let joined: join::JoinedRun<'_> = &move |session, _request, by| {
        let part = part.clone();
        Box::pin(async move { join::value(session.undo(part, by).await?) })
    };
    let joined = JoinedWork { options: &arguments.join, run: joined };
    headless_run::run_allowed(&arguments.folder, &arguments.allowed, own, joined)
}
