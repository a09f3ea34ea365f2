//! `sextant forget`: removes the entries with a text from the record of a workspace, or all of them.

use crate::cli::exit_status::CommandStatus;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::answer_option::GivenAnswer;
use crate::cli::headless_run;
use crate::cli::join::{self, JoinOptions, JoinedWork};
use crate::cli::terminal;

#[derive(Debug, Args)]
pub(super) struct ForgetArguments {
    /// A word or phrase of what is to be forgotten; `everything` for all of it
    text: String,
    /// Answer to the question that comes where an undo would be lost with it, by its number
    #[arg(long = "answer", value_name = "N")]
    answers: Vec<GivenAnswer>,
    #[command(flatten)]
    folder: headless_run::Folder,
    #[command(flatten)]
    join: JoinOptions,
}

pub(super) fn run(arguments: &ForgetArguments) -> CommandStatus {
    let as_json = arguments.folder.as_json();
    let own: headless_run::HeadlessRun<'_> = &|session, _request, cancel| {
        let text = arguments.text.clone();
        Box::pin(async move { Ok(data(&session.forget(&text, cancel).await?, as_json)) })
    };
    let text = arguments.text.clone();
    let joined: join::JoinedRun<'_> = &move |session, _request, by| {
        let text = text.clone();
        Box::pin(async move { Ok(data(&session.forget(&text, by).await?, as_json)) })
    };
    let joined = JoinedWork { options: &arguments.join, run: joined };
    headless_run::run_answered(&arguments.folder, &arguments.answers, own, joined)
}

fn data(text: &str, as_json: bool) -> Value {
    if !as_json {
        terminal::line(text);
    }
    json!({"ok": true, "text": text})
}
