//! The headless editor with one real server, which dies on command.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sextant::base::deadline::Deadline;
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{Diagnostics, Editor};

use crate::first::Door;
use crate::job::Job;

pub struct Headless {
    editor: Arc<HeadlessEditor>,
    job: Job,
}

impl Headless {
    pub async fn new(job: &Job) -> Self {
        let door = Self { editor: Arc::new(editor(job)), job: job.clone() };
        door.settle().await;
        door
    }

    /// Waits until the server answers.
    async fn settle(&self) {
        for _ in 0..20 {
            let deadline = Deadline::after(Duration::from_secs(20));
            let reports = self.editor.diagnostics(std::slice::from_ref(&self.job.file), &[], deadline).await;
            if reports.iter().any(|report| report.provider.starts_with("lsp:") && report.version.is_some()) {
                return;
            }
        }
        panic!("{} never answers", self.job.server);
    }

    pub async fn end(&self) {
        self.editor.shutdown(Deadline::after(Duration::from_secs(5))).await;
    }
}

fn editor(job: &Job) -> HeadlessEditor {
    let (events, mut shown) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move { while shown.recv().await.is_some() {} });
    let server = ServerConfig {
        name: job.server.clone(),
        command: job.command.clone(),
        settings: serde_json::from_value(job.settings.clone()).expect("settings"),
        ..ServerConfig::default()
    };
    HeadlessEditor::new(Path::new(&job.root), vec![server], events).expect("a folder")
}

/// The processes that this one has started, with this word in their command.
fn children(program: &str) -> Vec<u32> {
    let own = std::process::id();
    let of_us = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        parent == Some(own) && command.contains(program)
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(of_us).collect()
}

#[async_trait]
impl Door for Headless {
    fn editor(&self) -> Arc<dyn Editor> {
        Arc::<HeadlessEditor>::clone(&self.editor)
    }

    async fn kill(&mut self) {
        let name = self.job.command[0].rsplit('/').next().unwrap_or_default();
        let found = children(name);
        assert!(!found.is_empty(), "no process of {name} to kill");
        for pid in found {
            let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.is_ok_and(|status| status.success()), "{pid} was not killed");
        }
    }

    async fn again(&mut self) {
        // A server that dies four times in a minute is given up: after each death a new editor starts another one.
        self.end().await;
        self.editor = Arc::new(editor(&self.job));
        self.settle().await;
    }
}
