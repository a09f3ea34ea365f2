//! Asks the providers beside the editor's clients: the user's commands, and the syntax, which is known at once.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::editor::NvimEditor;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::command::background::EditorText;
use sextant_diagnostics::command::command_config::CommandConfig;
use sextant_diagnostics::model::Report;
use sextant_diagnostics::{program, syntax};

/// The commands of a workspace. Their programs are looked for in `PATH`, never inside the project.
///
/// # Errors
/// The fault of the first command that cannot be used.
pub(super) fn commands(configs: &[CommandConfig], root: &Path) -> Result<Vec<CommandProvider>, String> {
    let places = program::places(root, &[], std::env::var_os("PATH").as_deref());
    configs.iter().map(|config| CommandProvider::new(config.clone(), root, &places)).collect()
}

/// Name, program and languages of each command, for the health check; the program is `null` where it is not installed.
pub(super) fn found(commands: &[CommandProvider], configs: &[CommandConfig]) -> Value {
    let rows = configs.iter().zip(commands);
    let row = |(config, command): (&CommandConfig, &CommandProvider)| json!({"name": config.name, "program": command.program(), "languages": config.languages});
    rows.map(row).collect()
}

impl NvimEditor {
    /// The text as it was read last. The caller has just read or changed the file, and holds the answer against that
    /// version. Reading it again would only cost Neovim time.
    async fn last_read(&self, path: &str) -> Option<(i64, Arc<str>)> {
        match self.known(path) {
            Some(known) => Some(known),
            None => self.fetch(path).await.ok().map(|(facts, text)| (facts.version, text)),
        }
    }

    pub(super) async fn beside(&self, edited: &[String], bystanders: &[String], deadline: Deadline) -> Vec<Report> {
        let paths: Vec<(&String, bool)> =
            edited.iter().map(|path| (path, true)).chain(bystanders.iter().map(|path| (path, false))).collect();
        let reads = join_all(paths.iter().map(|(path, _)| self.last_read(path)));
        // All reads share one deadline: without its text in time, a file is not asked about.
        let Ok(texts) = tokio::time::timeout(deadline.left(), reads).await else { return Vec::new() };
        let known: Vec<EditorText> = paths
            .into_iter()
            .zip(texts)
            .filter_map(|((path, edited), read)| {
                let (version, text) = read?;
                Some(EditorText { path: path.clone(), text, version, edited })
            })
            .collect();
        let mut reports: Vec<Report> = known
            .iter()
            .filter_map(|file| {
                let start = Instant::now();
                let report = syntax::report(&file.path, &file.text, Some(file.version), 0)?;
                let elapsed_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
                Some(Report { elapsed_ms, ..report })
            })
            .collect();
        reports.extend(self.commands.ask(&known, deadline).await);
        reports
    }
}
