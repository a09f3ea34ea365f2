//! Checks the other programs: git, Neovim, language servers, the commands of the configuration, by language.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use futures::future::join_all;

use crate::cli::doctor::language_checks::{FoundLanguages, WorkingChecker};
use crate::cli::doctor::{CheckedThing, Health};
use crate::cli::settings::Settings;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::language_checkers::CHECKERS;
use sextant_diagnostics::model::DiagnosticsProvider;
use sextant_diagnostics::program;
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::server_config::ServerConfig;
use sextant_store::workspace::root::Root;

/// The time limit for a program to print its version.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The time limit for a language server's handshake, and for its end.
const HANDSHAKE: Duration = Duration::from_secs(10);
const LEAVE: Duration = Duration::from_secs(1);
/// The oldest Neovim that the plugin works in.
const NEOVIM: (u32, u32) = (0, 11);

pub(super) async fn all(root: &Root, settings: Option<&Settings>) -> Vec<CheckedThing> {
    let places = program::places(root.path(), &[], std::env::var_os("PATH").as_deref());
    let mut found = vec![git(&places).await, neovim(&places).await];
    let Some(settings) = settings else { return found };
    let languages = FoundLanguages::of(root);
    // A server of another language is not started.
    let is_of_it = |server: &&ServerConfig| languages.concern(&server.languages);
    let (servers, others): (Vec<&ServerConfig>, Vec<_>) = settings.servers.iter().partition(is_of_it);
    found.extend(others.into_iter().filter_map(unused));
    let answers = join_all(servers.iter().map(|server| answered((*server).clone()))).await;
    let is_ok = |answer: &CheckedThing| answer.state == Health::Ok;
    let answering = servers.iter().zip(&answers).filter(|(_, answer)| is_ok(answer)).map(|(server, _)| *server);
    let mut working: Vec<WorkingChecker> =
        answering.map(|server| WorkingChecker { name: &server.name, languages: &server.languages }).collect();
    let commands = settings.commands.iter().filter(|command| command.program().is_some());
    working.extend(commands.map(|command| WorkingChecker {
        name: command.name().trim_start_matches("tool:"),
        languages: command.languages(),
    }));
    let checked = languages.checked(root.path(), &working, &places).await;
    if settings.servers.is_empty() && checked.is_empty() {
        let hint =
            "install one, such as basedpyright or ruff, or name it in the configuration; --servers names a folder";
        let text = "none is found: little is known of what an edit does to the diagnostics";
        found.push(CheckedThing::of("server", Health::Warning, text, hint));
    }
    found.extend(answers);
    found.extend(settings.commands.iter().map(command));
    found.extend(checked);
    found
}

/// A server that fits no file of the workspace, if its configuration may be the reason.
fn unused(config: &ServerConfig) -> Option<CheckedThing> {
    let is_known = |id: &&String| CHECKERS.iter().any(|row| row.languages.contains(&id.as_str()));
    let unknown = config.languages.iter().find(|id| !is_known(id));
    let program = config.command.first().map(PathBuf::from).unwrap_or_default();
    let text = match unknown {
        Some(id) => format!("{}: no file here is of the language {id}", config.name),
        None if !program.is_file() => {
            format!("{}: {} is not found, and no file here is of its languages", config.name, program.display())
        }
        None => return None,
    };
    let hint = "languages are LSP language ids, such as cpp or typescript";
    Some(CheckedThing::of("server", Health::Note, text, hint))
}

fn command(command: &CommandProvider) -> CheckedThing {
    const NAME: &str = "command";
    match command.program() {
        Some(program) => CheckedThing::ok(NAME, format!("{} ({})", command.name(), program.display())),
        None => {
            let hint = "install it, or put its folder on PATH; folders inside of the project are passed over";
            CheckedThing::of(NAME, Health::Warning, format!("{} is not installed", command.name()), hint)
        }
    }
}

/// A language server, by its answer to the handshake: a program of the right name may be no server. It starts in an
/// empty folder: some servers run the code of the project that they are started in.
pub(super) async fn answered(config: ServerConfig) -> CheckedThing {
    const NAME: &str = "server";
    let program = config.command.first().map(PathBuf::from).unwrap_or_default();
    let (name, place) = (config.name.clone(), program.display());
    if !program.is_absolute() || !program.is_file() {
        let hint = "install it, or give its whole path in the configuration";
        return CheckedThing::of(NAME, Health::Error, format!("{name}: {place} is not found"), hint);
    }
    let greeted = match tempfile::tempdir() {
        Ok(folder) => {
            let server = LanguageServer::new(config, folder.path());
            let greeted = server.greet(Deadline::after(HANDSHAKE)).await;
            server.shutdown(Deadline::after(LEAVE)).await;
            greeted
        }
        Err(error) => Err(format!("no folder to start it in: {error}")),
    };
    match greeted {
        Ok(own) if own.is_empty() || own == name => CheckedThing::ok(NAME, format!("{name} ({place}) answers")),
        Ok(own) => CheckedThing::ok(NAME, format!("{name} ({place}) answers as {own}")),
        Err(reason) => {
            let hint = "start it by hand; it must speak LSP over its standard input and output";
            CheckedThing::of(NAME, Health::Error, format!("{name} ({place}): {reason}"), hint)
        }
    }
}

async fn git(places: &[PathBuf]) -> CheckedThing {
    let Some(git) = program::find(places, "git") else {
        return CheckedThing::of("git", Health::Warning, "git is not found", "`sextant diff` needs it");
    };
    match version(&git).await {
        Some(version) => CheckedThing::ok("git", format!("{version} ({})", git.display())),
        None => CheckedThing::of("git", Health::Warning, format!("{} reports no version", git.display()), ""),
    }
}

async fn neovim(places: &[PathBuf]) -> CheckedThing {
    let Some(nvim) = program::find(places, "nvim") else {
        let hint = "the plugin needs Neovim 0.11 or newer; everything in a shell works without it";
        return CheckedThing::of("neovim", Health::Note, "Neovim is not found", hint);
    };
    let answer = version(&nvim).await.unwrap_or_default();
    let old = numbers(&answer).is_none_or(|version| version < NEOVIM);
    if old {
        let hint = "the plugin needs Neovim 0.11 or newer";
        return CheckedThing::of("neovim", Health::Warning, format!("{answer} ({})", nvim.display()), hint);
    }
    CheckedThing::ok("neovim", format!("{answer} ({})", nvim.display()))
}

/// The first line of a program's answer about its version. It starts outside of the project: a shim may read files there.
pub(in crate::cli) async fn version(program: &Path) -> Option<String> {
    let mut command = program::command(program).ok()?;
    command.arg("--version").current_dir("/").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The first two numbers of a version.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let from = version.find(|c: char| c.is_ascii_digit())?;
    let mut parts = version[from..].split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_two_numbers() {
        assert_eq!(numbers("NVIM v0.11.4"), Some((0, 11)));
        assert_eq!(numbers("NVIM v0.9.5-dev"), Some((0, 9)));
        assert!(numbers("NVIM v1.0").is_some_and(|version| version >= NEOVIM));
        assert_eq!(numbers("none"), None);
    }
}
