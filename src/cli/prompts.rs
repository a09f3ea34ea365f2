//! `sextant prompts`: lists the texts that open a prompt and the user's replacements, or prints one.

use crate::cli::exit_status::CommandStatus;
use std::path::PathBuf;

use clap::Args;

use crate::cli::settings::user_folder;
use crate::cli::terminal;
use sextant_base::failure::{Failure, FailureKind};
use sextant_model::prompt_texts::{self, TEXTS};

#[derive(Debug, Args)]
pub(super) struct PromptsArguments {
    /// Print this text as it is in force; without a name, list them all
    name: Option<String>,
}

/// The folder of the user's own texts.
fn folder() -> Option<PathBuf> {
    user_folder().map(|folder| folder.join("sextant").join("prompts"))
}

/// Puts the user's own texts in force.
pub(super) fn load() -> Result<(), Failure> {
    if let Some(folder) = folder() {
        prompt_texts::use_own(prompt_texts::read(&folder)?);
    }
    Ok(())
}

pub(super) fn run(arguments: &PromptsArguments) -> CommandStatus {
    match print(arguments.name.as_deref()) {
        Ok(text) => {
            terminal::piece(&text);
            CommandStatus::Done
        }
        Err(failure) => {
            terminal::fail(&failure);
            CommandStatus::NotDone
        }
    }
}

fn print(name: Option<&str>) -> Result<String, Failure> {
    let folder = folder();
    let own = folder.as_deref().map(prompt_texts::read).transpose()?.unwrap_or_default();
    let Some(name) = name else {
        let lines = TEXTS.iter().map(|(name, _)| {
            let path = folder.as_ref().map(|folder| folder.join(format!("{name}.txt")).display().to_string());
            match (own.contains_key(*name), path) {
                (true, Some(path)) => format!("{name}: yours, {path}\n"),
                (_, Some(path)) => format!("{name}: built in; yours would be {path}\n"),
                (_, None) => format!("{name}: built in\n"),
            }
        });
        return Ok(lines.collect());
    };
    let built_in = TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    own.get(name).cloned().or(built_in).ok_or_else(|| {
        let names: Vec<&str> = TEXTS.iter().map(|(name, _)| *name).collect();
        Failure::new(
            FailureKind::User,
            format!("there is no prompt {name:?}"),
            format!("there are {}", names.join(", ")),
        )
    })
}
