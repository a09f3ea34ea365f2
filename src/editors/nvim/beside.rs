//! What is asked beside the editor's clients: the user's commands, and the syntax, which is known at once.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Instant;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agent::session::Session;
use crate::base::deadline::Deadline;
use crate::diagnostics::command::CommandProvider;
use crate::diagnostics::command::background::Asked;
use crate::diagnostics::command::config::CommandConfig;
use crate::diagnostics::model::Report;
use crate::diagnostics::program;
use crate::diagnostics::syntax;
use crate::editors::nvim::editor::NvimEditor;
use crate::editors::nvim::wire::Facts;

/// The commands of a workspace. Their programs are looked for in `PATH`, never inside of the project.
///
/// # Errors
/// What is wrong with one of them.
pub(super) fn commands(configs: &[CommandConfig], root: &Path) -> Result<Vec<CommandProvider>, String> {
    let places = program::places(root, &[], std::env::var_os("PATH").as_deref());
    configs.iter().map(|config| CommandProvider::new(config.clone(), root, &places)).collect()
}

/// Name and program of each command, for the health check; `null` where it is not installed.
pub(super) fn found(commands: &[CommandProvider], configs: &[CommandConfig]) -> Value {
    let rows = configs.iter().zip(commands);
    rows.map(|(config, command)| json!({"name": config.name, "program": command.program()})).collect()
}

/// Amends what was shown of the last task with every answer that comes late while no task runs.
pub(super) async fn tell_late(mut news: watch::Receiver<u64>, session: Weak<Session>, idle: impl Fn() -> bool) {
    while news.changed().await.is_ok() {
        let Some(session) = session.upgrade() else { return };
        // A running task takes it with its next edit, or at its end.
        if idle() {
            session.amend().await;
        }
    }
}

impl NvimEditor {
    pub(super) async fn beside(&self, edited: &[String], bystanders: &[String], deadline: Deadline) -> Vec<Report> {
        let paths: Vec<(&String, bool)> =
            edited.iter().map(|path| (path, true)).chain(bystanders.iter().map(|path| (path, false))).collect();
        let reads = join_all(paths.iter().map(|(path, _)| self.fetch(path)));
        // The same deadline for all: who has no text in time has nothing to be asked about.
        let Ok(texts) = tokio::time::timeout(deadline.left(), reads).await else { return Vec::new() };
        let known: Vec<(&String, bool, Facts, Arc<str>)> = paths
            .into_iter()
            .zip(texts)
            .filter_map(|((path, edited), read)| read.ok().map(|(facts, text)| (path, edited, facts, text)))
            .collect();
        let mut reports: Vec<Report> = known
            .iter()
            .filter_map(|(path, _, facts, text)| {
                let start = Instant::now();
                let report = syntax::report(path, text, Some(facts.version), 0)?;
                let elapsed_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
                Some(Report { elapsed_ms, ..report })
            })
            .collect();
        if !self.commands.is_empty() {
            let asked = |(path, edited, facts, text): (&String, bool, Facts, Arc<str>)| Asked {
                path: path.clone(),
                text: text.to_string(),
                version: facts.version,
                edited,
            };
            let asked: Vec<Asked> = known.into_iter().map(asked).collect();
            reports.extend(self.commands.ask(&asked, deadline).await);
        }
        reports
    }
}
