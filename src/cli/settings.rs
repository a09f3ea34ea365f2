//! Reads the configuration of the headless doors: the user's own file, then the command line.
//!
//! Never a file of the repository: it could name a server to run or a place to send the code to.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::answer_option::GivenAnswer;
use sextant_base::failure::{Failure, FailureKind};
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::command::command_config::{CommandConfig, CommandSpec};
use sextant_diagnostics::model::DiagnosticsProvider;
use sextant_diagnostics::program;
use sextant_diagnostics::server::detect_servers;
use sextant_diagnostics::server::server_config::ServerConfig;
use sextant_diagnostics::syntax::Syntax;
use sextant_engine::api::{Config, PlanMode};
use sextant_model::dialect;
use sextant_serve::discovery;
use sextant_store::workspace::record_folder;

/// The user's own files, for every subcommand that works on a folder.
#[derive(Debug, Args)]
pub(super) struct UserFiles {
    /// Configuration file [default: sextant/config.toml in the user's configuration folder]
    #[arg(long)]
    config: Option<PathBuf>,
    /// File that the log is appended to
    #[arg(long)]
    pub(super) log: Option<PathBuf>,
}

/// The folders of language servers, for every subcommand that starts some.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ServerFolders {
    /// Folder to look for language servers in, before PATH; may be given more than once
    #[arg(long = "servers", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

/// The files that something runs and that a subcommand may write.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct AllowedFiles {
    /// File that may be changed without a question though something runs it; may be given more than once
    #[arg(long = "allow-file", value_name = "PATH")]
    pub(super) files: Vec<PathBuf>,
}

/// The options of a subcommand that gives work to a model.
#[derive(Debug, Default, Args)]
pub(super) struct WorkOptions {
    #[command(flatten)]
    servers: ServerFolders,
    /// Answer to a question of the run, by its number: to one of a plan or of the model. `plan=N`, `ask=N`, `scope=N`
    /// and `edit=N` say which kind is meant. May be given more than once, for one question each. Commands and files that
    /// run are never answered for here
    #[arg(long = "answer", value_name = "[KIND=]N")]
    pub(super) answers: Vec<GivenAnswer>,
    #[command(flatten)]
    pub(super) allowed: AllowedFiles,
    #[arg(long, help = format!("`offline`, or `PROVIDER:MODEL` with one of {}", dialect::names().join(", ")))]
    model: Option<String>,
    /// Address of an OpenAI-compatible server
    #[arg(long)]
    base_url: Option<String>,
    /// Milliseconds that the diagnostics of one edit may take
    #[arg(long)]
    timeout_ms: Option<u64>,
}

/// The mode in which a plan is carried out.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ModeOption {
    /// What a plan does when a step leaves it: plan again, or pause and ask [default: the configuration's, or planner]
    #[arg(long, value_enum)]
    mode: Option<GivenMode>,
}

impl ModeOption {
    pub(super) fn given(self) -> Option<PlanMode> {
        self.mode.map(PlanMode::from)
    }
}

/// The modes that a plan can have; `ask` is the third, simple mode.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum GivenMode {
    Planner,
    Supervised,
}

impl From<GivenMode> for PlanMode {
    fn from(given: GivenMode) -> Self {
        match given {
            GivenMode::Planner => Self::Planner,
            GivenMode::Supervised => Self::Supervised,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SettingsFile {
    model: Value,
    /// Language servers; those found on PATH if none are named.
    servers: Option<Vec<ServerConfig>>,
    /// The commands that are asked beside the servers: built-in names, or commands in full.
    commands: Vec<CommandSpec>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) model: Value,
    pub(super) servers: Vec<ServerConfig>,
    /// The providers beside the servers: the syntax, and the user's commands.
    pub(super) providers: Vec<Box<dyn DiagnosticsProvider>>,
    pub(super) commands: Vec<CommandProvider>,
}

impl Settings {
    /// For work that asks no model: a fault in its configuration must not stop such work.
    pub(super) fn without_model(self) -> Self {
        Self { model: Value::Null, ..self }
    }
}

/// Everything that can be asked for diagnostics without an editor.
#[derive(Clone, Debug)]
pub(super) struct Providers {
    pub(super) servers: Vec<ServerConfig>,
    pub(super) commands: Vec<CommandConfig>,
    /// The folders that commands are searched in.
    pub(super) places: Vec<PathBuf>,
}

impl Providers {
    /// The providers of these sources (`lsp:NAME`, `tool:NAME`) alone.
    pub(super) fn only(&self, sources: &std::collections::BTreeSet<String>) -> Self {
        let mut only = self.clone();
        only.servers.retain(|server| sources.contains(&format!("lsp:{}", server.name)));
        only.commands.retain(|command| sources.contains(&format!("tool:{}", command.name)));
        only
    }
}

impl ServerFolders {
    /// The configured language servers, or else the installed ones, and the configured commands.
    pub(super) fn providers(&self, files: &UserFiles, root: &Path) -> Result<Providers, Failure> {
        let file = files.file()?;
        let commands = file.commands.into_iter().map(CommandSpec::config).collect::<Result<_, String>>();
        let commands = commands.map_err(|why| files.unusable(&why))?;
        let path = std::env::var_os("PATH");
        let places = program::places(root, &self.folders(), path.as_deref());
        Ok(Providers { servers: self.of(file.servers, root), commands, places })
    }

    fn of(&self, configured: Option<Vec<ServerConfig>>, root: &Path) -> Vec<ServerConfig> {
        let path = std::env::var_os("PATH");
        let Some(mut servers) = configured else {
            return detect_servers::detect(root, &self.folders(), path.as_deref());
        };
        let places = program::places(root, &self.folders(), path.as_deref());
        servers.iter_mut().for_each(|server| server.look_up(&places));
        servers
    }

    /// The named folders. A program is started in another folder; a relative name would mean another one there.
    fn folders(&self) -> Vec<PathBuf> {
        let absolute = |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        self.folders.iter().map(absolute).collect()
    }
}

impl UserFiles {
    pub(super) fn config_given(&self) -> bool {
        self.config.is_some()
    }

    /// These options replace those of the file, key by key.
    fn file_with(&self, options: &Value) -> Result<SettingsFile, Failure> {
        if options.is_null() {
            return self.file();
        }
        let wrong = |error: serde_json::Error| match self.file() {
            Err(of_the_file) => of_the_file,
            Ok(_) => config_error(format!("the options cannot be used: {error}")),
        };
        let mut all: Value = match self.text()? {
            Some((path, text)) => toml::from_str(&text).map_err(|error| of_file(&path, &error))?,
            None => json!({}),
        };
        let Some(given) = options.as_object() else {
            return Err(config_error("the options cannot be used: they are no table".to_owned()));
        };
        for (key, value) in given {
            all[key] = value.clone();
        }
        serde_json::from_value(all).map_err(wrong)
    }

    fn file(&self) -> Result<SettingsFile, Failure> {
        let Some((path, text)) = self.text()? else { return Ok(SettingsFile::default()) };
        toml::from_str(&text).map_err(|error| of_file(&path, &error))
    }

    /// The failure for a configuration that is read and has a wrong value.
    fn unusable(&self, why: &dyn std::fmt::Display) -> Failure {
        let file = self.text().ok().flatten().map(|(path, _)| format!(" ({})", path.display()));
        config_error(format!("the configuration{} cannot be used: {why}", file.unwrap_or_default()))
    }

    /// The file and its text; `None` if there is no file.
    fn text(&self) -> Result<Option<(PathBuf, String)>, Failure> {
        let default = user_folder().map(|folder| folder.join("sextant").join("config.toml"));
        let (path, named) = match (&self.config, default) {
            (Some(path), _) => (path.clone(), true),
            (None, Some(path)) => (path, false),
            (None, None) => return Ok(None),
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some((path, text))),
            Err(error) if named || error.kind() != std::io::ErrorKind::NotFound => {
                Err(config_error(format!("{} cannot be read: {error}", path.display())))
            }
            Err(_) => Ok(None),
        }
    }
}

impl WorkOptions {
    /// The given options that a running session has its own of.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--servers", !self.servers.folders.is_empty()),
            ("--model", self.model.is_some()),
            ("--base-url", self.base_url.is_some()),
            ("--timeout-ms", self.timeout_ms.is_some()),
            ("--allow-file", !self.allowed.files.is_empty()),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }

    /// For work that asks no model, with the user's answers to its questions.
    pub(super) fn answering(answers: &[GivenAnswer]) -> Self {
        Self { answers: answers.to_vec(), ..Self::default() }
    }

    /// For work that asks no model, and may write these files.
    pub(super) fn allowing(allowed: &AllowedFiles) -> Self {
        Self { allowed: allowed.clone(), ..Self::default() }
    }

    /// For work that asks no model.
    pub(super) fn without_model(servers: ServerFolders, timeout_ms: Option<u64>) -> Self {
        Self { servers, timeout_ms, ..Self::default() }
    }

    pub(super) fn settings(&self, files: &UserFiles, root: &Path) -> Result<Settings, Failure> {
        self.settings_with(files, &Value::Null, root)
    }

    /// The same for an editor with options of its own, in the form of the file.
    pub(super) fn settings_with(&self, files: &UserFiles, options: &Value, root: &Path) -> Result<Settings, Failure> {
        let file = files.file_with(options)?;
        let wrong = |error: serde_json::Error| files.unusable(&error);
        let mut config: Config = serde_json::from_value(Value::Object(file.rest)).map_err(wrong)?;
        if let Some(timeout_ms) = self.timeout_ms {
            config.diagnostics.timeout_ms = timeout_ms;
        }
        config.memory.state = state_folder();
        let servers = self.servers.of(file.servers, root);
        let places = program::places(root, &self.servers.folders(), std::env::var_os("PATH").as_deref());
        let providers: Vec<Box<dyn DiagnosticsProvider>> = vec![Box::new(Syntax::default())];
        let commands = file.commands.into_iter().map(CommandSpec::config);
        let commands = commands.map(|command| CommandProvider::new(command?, root, &places));
        let commands = commands.collect::<Result<_, String>>();
        let commands = commands.map_err(|why| files.unusable(&why))?;
        Ok(Settings { config, model: self.model(file.model)?, servers, providers, commands })
    }

    fn model(&self, from_file: Value) -> Result<Value, Failure> {
        let mut model = match self.model.as_deref() {
            None => from_file,
            Some("offline") => json!({"provider": "offline"}),
            Some(given) => {
                let (provider, name) = given.split_once(':').ok_or_else(|| {
                    Failure::user(format!("--model {given} names no provider"), "write it as openai:NAME, or offline")
                })?;
                json!({"provider": provider, "model": name})
            }
        };
        if let Some(url) = &self.base_url {
            if model.is_null() {
                model = json!({});
            }
            model["base_url"] = json!(url);
        }
        Ok(model)
    }
}

fn of_file(path: &Path, error: &toml::de::Error) -> Failure {
    config_error(format!("{}: {error}", path.display()))
}

fn config_error(message: String) -> Failure {
    Failure::new(FailureKind::Config, message, "see the section on configuration in the README")
}

pub(super) fn user_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))
}

/// The folder of Sextant's memory, by this process's environment.
pub(super) fn state_folder() -> Option<PathBuf> {
    record_folder::state_folder(|name| std::env::var_os(name))
}

/// The folders of sessions, by this process's environment.
pub(super) fn session_folders() -> Vec<PathBuf> {
    discovery::folders(|name| std::env::var_os(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_cannot_be_used_is_reported_with_the_place_that_it_stands_in() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let files = UserFiles { config: Some(path.clone()), log: None };
        let of_the_file = path.display().to_string();
        for (text, options, words) in [
            ("[model\n", json!({"model": {}}), Some(of_the_file.as_str())),
            ("servers = 3\n", json!({"model": {}}), Some(of_the_file.as_str())),
            ("servers = 3\n", json!({"servers": []}), None),
            ("", json!({"servers": 3}), Some("the options cannot be used")),
            ("", json!([]), Some("they are no table")),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = files.file_with(&options).err().map(|failure| failure.message);
            assert_eq!(error.is_some(), words.is_some(), "{text} {options}: {error:?}");
            assert!(error.is_none_or(|error| words.is_some_and(|words| error.contains(words))), "{text} {options}");
        }
    }
}
