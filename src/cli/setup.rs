//! `sextant setup helix`: changes the user's own configuration of Helix, after showing the changes, and undoes them.

pub(super) mod config_files;
pub(super) mod found;
pub(super) mod helix_config;
pub(super) mod helix_languages;
mod helix_servers;
pub(super) mod key_names;
pub(super) mod key_places;
mod tables;
mod taken_keys;
pub(super) mod unserved;
mod written;

use crate::cli::exit_status::CommandStatus;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::cli::doctor::programs::version;
use crate::cli::settings::user_folder;
use crate::cli::setup::config_files::{SetUpFile, UserFile};
use crate::cli::terminal;
use sextant_base::failure::{Failure, FailureKind};
use sextant_diagnostics::program;

/// The program that may be a shim of `rustup`.
pub(super) const SHIM: &str = "rust-analyzer";
pub(super) const INSTALLS: &str = "`rustup component add rust-analyzer` installs it";

#[derive(Debug, Args)]
pub(super) struct SetupArguments {
    #[command(subcommand)]
    editor: SetupEditor,
}

#[derive(Debug, Subcommand)]
enum SetupEditor {
    /// Put Sextant before the language servers of Helix, and its commands on keys
    Helix(HelixSetup),
}

#[derive(Debug, Args)]
struct HelixSetup {
    /// Print what would be changed, and change nothing
    #[arg(long, conflicts_with_all = ["undo", "yes"])]
    print: bool,
    /// Take out the lines that setup has written; everything else stays
    #[arg(long)]
    undo: bool,
    /// Change it without asking
    #[arg(long)]
    yes: bool,
    /// Keys before those of the agent's commands, in normal and select mode
    #[arg(long, value_name = "KEYS", default_value = helix_config::PREFIX, value_parser = key_names::sequence)]
    keys: String,
    /// Give a language that has no server the agent's commands, by Helix's name for it; may be given more than once
    #[arg(long, value_name = "LANGUAGE")]
    alone: Vec<String>,
    /// Folder to look for language servers in, before PATH; may be given more than once
    #[arg(long = "servers", value_name = "FOLDER")]
    servers: Vec<PathBuf>,
}

pub(super) fn run(arguments: &SetupArguments) -> CommandStatus {
    let SetupEditor::Helix(wish) = &arguments.editor;
    match if wish.undo { undo(wish).map(|()| CommandStatus::Done) } else { setup(wish) } {
        Ok(status) => status,
        Err(failure) => {
            terminal::fail(&failure);
            CommandStatus::NotDone
        }
    }
}

/// Helix's `languages.toml` and `config.toml`.
pub(super) fn paths() -> Result<[PathBuf; 2], Failure> {
    let none = || Failure::new(FailureKind::Config, "there is no configuration folder", "set XDG_CONFIG_HOME or HOME");
    let folder = user_folder().ok_or_else(none)?.join("helix");
    Ok([folder.join("languages.toml"), folder.join("config.toml")])
}

fn setup(wish: &HelixSetup) -> Result<CommandStatus, Failure> {
    let [languages, config] = paths()?;
    let (mut languages, mut document) = config_files::read(languages)?;
    let places = program::places(Path::new("/nonexistent"), &wish.servers, std::env::var_os("PATH").as_deref());
    if let Err(unknown) = waited(helix_languages::check(&places, &document, &wish.alone))? {
        terminal::fail(&unknown);
        return Ok(CommandStatus::Invalid);
    }
    let broken = waited(shim_without_server(&places))?;
    let installed = |name: &str| program::find(&places, name).is_some_and(|file| broken.as_ref() != Some(&file));
    let here = std::env::current_dir().unwrap_or_default();
    let offers = unserved::notes(&here, &document, installed, &wish.alone);
    let mut notes = helix_config::languages(&mut document, &program(&places), installed, &wish.alone);
    notes.extend(
        broken
            .as_ref()
            .filter(|_| unserved::has_rust(&here))
            .map(|file| format!("{} does not start, so rust is left out; {INSTALLS}", file.display())),
    );
    notes.extend(offers);
    languages.become_text_of(&document);
    let (mut config, mut document) = config_files::read(config)?;
    notes.extend(helix_config::keys(&mut document, &wish.keys));
    notes.extend(taken_keys::note(&wish.keys, &key_places::free_option(&document)));
    config.become_text_of(&document);
    let changed: Vec<UserFile> = [languages, config].into_iter().filter(UserFile::differs).collect();
    notes.iter().for_each(|note| terminal::complain(note));
    if changed.is_empty() {
        let left = if notes.is_empty() { "" } else { ", but for what is named above" };
        terminal::line(&format!("Helix is set up already{left}."));
        return Ok(CommandStatus::Done);
    }
    changed.iter().for_each(|file| terminal::line(&file.diff()));
    if wish.print || !agreed(wish, "Change these files?")? {
        return Ok(CommandStatus::Done);
    }
    for file in &changed {
        file.write()?;
    }
    terminal::line("Done. Start Helix again; `sextant setup helix --undo` takes these lines out.");
    Ok(CommandStatus::Done)
}

fn undo(wish: &HelixSetup) -> Result<(), Failure> {
    let [languages, config] = paths()?;
    let places = program::places(Path::new("/nonexistent"), &wish.servers, std::env::var_os("PATH").as_deref());
    let mut known = Vec::new();
    known.extend(config_files::backed_up(&languages, |document| {
        let installed = |name: &str| program::find(&places, name).is_some();
        drop(helix_config::languages(document, &program(&places), installed, &wish.alone));
    })?);
    known.extend(config_files::backed_up(&config, |document| drop(helix_config::keys(document, &wish.keys)))?);
    if known.is_empty() {
        return Err(Failure::user("nothing was set up here", "`sextant setup helix` does"));
    }
    let mut changed = Vec::new();
    for file in &mut known {
        changed.extend(file.take_back(false)?);
    }
    let show = |known: &[SetUpFile]| {
        known.iter().filter(|known| known.file.differs()).for_each(|known| terminal::line(&known.file.diff()));
    };
    show(&known);
    if !agreed(wish, "Take these lines out? Everything else stays.")? {
        return Ok(());
    }
    let mut all = true;
    if !changed.is_empty() {
        let before: Vec<String> = known.iter().map(|known| known.file.after.clone()).collect();
        for file in &mut known {
            file.take_back(true)?;
        }
        terminal::line(&format!("You have changed these since: {}. With them, it is:", changed.join(", ")));
        show(&known);
        all = agreed(wish, "Take them out too?")?;
        if !all {
            known.iter_mut().zip(before).for_each(|(known, before)| known.file.after = before);
        }
    }
    for file in &known {
        file.bring_back(all)?;
    }
    terminal::line("Done. Files that were changed have a copy beside them, ending in .with-sextant.");
    Ok(())
}

/// The server of Rust if it does not start: `rustup` puts its name on `PATH` before it is installed.
pub(super) async fn shim_without_server(places: &[PathBuf]) -> Option<PathBuf> {
    let file = program::find(places, SHIM)?;
    version(&file).await.is_none().then_some(file)
}

fn waited<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "try again"))?;
    Ok(runtime.block_on(work))
}

/// # Errors
/// There is no user to ask.
fn agreed(wish: &HelixSetup, question: &str) -> Result<bool, Failure> {
    if wish.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::user(
            "nobody can be asked here, and nothing was changed",
            "--yes does it, --print shows it",
        ));
    }
    terminal::note(&format!("{question} [y/N] "));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    Ok(read.is_ok() && ["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

/// This program: by its name if `PATH` finds it, else by its path.
pub(super) fn program(places: &[PathBuf]) -> String {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let found = program::find(places, "sextant").and_then(|path| path.canonicalize().ok());
    match own {
        Some(own) if found.as_ref() != Some(&own) => own.display().to_string(),
        _ => "sextant".to_owned(),
    }
}
