//! `sextant doctor`: checks that everything Sextant needs is there and sound. It changes and starts nothing of a
//! project.

mod doctor_checks;
mod helix_checks;
mod language_checks;
pub(in crate::cli) mod programs;

use crate::cli::exit_status::CommandStatus;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use crate::cli::headless_run::{self, Where};
use crate::cli::settings::{ServerFolders, UserFiles};
use crate::cli::{log, terminal};
use sextant_base::failure::{Failure, FailureKind};

#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// Look at what this editor needs instead
    #[arg(value_enum)]
    editor: Option<DoctorEditor>,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    servers: ServerFolders,
    #[command(flatten)]
    files: UserFiles,
}

/// Editors that need more than a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DoctorEditor {
    /// Helix: its version, its two files as `sextant setup helix` writes them, and the servers behind Sextant
    Helix,
}

/// The seriousness of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Health {
    Ok,
    /// A part is missing that not every user needs.
    Note,
    /// It works, but not as well as it could.
    Warning,
    /// A part does not work.
    Error,
}

/// The finding about one thing.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CheckedThing {
    name: &'static str,
    state: Health,
    text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

impl CheckedThing {
    fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, state: Health::Ok, text: text.into(), hint: String::new() }
    }

    fn of(name: &'static str, state: Health, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, state, text: text.into(), hint: hint.into() }
    }

    fn failed(name: &'static str, failure: &Failure) -> Self {
        let failure = crate::cli::cli_wording::failure(failure);
        Self::of(name, Health::Error, failure.message.clone(), failure.hint.text())
    }
}

pub(super) fn run(arguments: &DoctorArguments) -> CommandStatus {
    if let Some(path) = &arguments.files.log {
        log::start(path);
    }
    let found = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let found = match found {
        Ok(runtime) => runtime.block_on(async {
            match arguments.editor {
                Some(DoctorEditor::Helix) => helix_checks::all(&arguments.place).await,
                None => doctor_checks::all(&arguments.place, &arguments.servers, &arguments.files).await,
            }
        }),
        Err(error) => Err(Failure::new(FailureKind::Internal, format!("no runtime: {error}"), "free some memory")),
    };
    match found {
        Ok(found) => print_all(&found, arguments.place.json),
        Err(failure) => {
            headless_run::fail(&failure, arguments.place.json);
            CommandStatus::NotDone
        }
    }
}

fn print_all(found: &[CheckedThing], as_json: bool) -> CommandStatus {
    let worst = found.iter().map(|thing| thing.state).max().unwrap_or(Health::Ok);
    if as_json {
        terminal::json(&json!({"ok": worst < Health::Error, "checks": found}));
    } else {
        for thing in found {
            let mark = match thing.state {
                Health::Ok => "ok",
                Health::Note => "–",
                Health::Warning => "warning",
                Health::Error => "ERROR",
            };
            terminal::line(&format!("{mark:<8} {:<10} {}", thing.name, thing.text));
            if !thing.hint.is_empty() {
                terminal::line(&format!("{:<19} → {}", "", thing.hint));
            }
        }
    }
    CommandStatus::of(worst < Health::Error)
}
