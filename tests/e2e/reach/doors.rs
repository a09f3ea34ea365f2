//! The four doors: the shell, MCP, a Neovim and Helix's engine, each asked for the same edits.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::nvim::ask::step;
use crate::reach::edits::ProjectEdit;
use crate::reach::language::Language;
use crate::reach::setup::{LOOK_MS, configure, nvim, servers, with_toolchain};
use crate::reach::{Run, setting};
use crate::rpc::joined;
use crate::support::link_client::{EditorLink, hello};
use crate::support::mcp::McpClient;
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoorKind {
    Ask,
    Mcp,
    Nvim,
    Helix,
}

impl DoorKind {
    pub fn list(names: &str) -> Vec<Self> {
        let one = |name: &str| match name.trim() {
            "ask" => Self::Ask,
            "mcp" => Self::Mcp,
            "nvim" => Self::Nvim,
            "helix" => Self::Helix,
            other => panic!("no door {other}; there are ask, mcp, nvim, helix"),
        };
        names.split(',').map(one).collect()
    }
}

/// An answer about an edit, as every door gives it: `diagnostics_status`, `new_diagnostics`, `pending`.
#[derive(Debug)]
pub struct Answer {
    pub data: Value,
    pub elapsed: Duration,
}

enum Side {
    Shell,
    Mcp(Box<McpClient>),
    /// The editor, which stays as long as the door.
    Nvim(Box<Nvim>),
    Helix(Child, Box<EditorLink>),
}

pub struct Door<'a> {
    run: &'a Run,
    side: Side,
    model: ModelServer,
}

/// The program of the doors that need no editor.
pub fn binary() -> String {
    setting("REACH_BINARY", env!("CARGO_BIN_EXE_sextant"))
}

fn command(run: &Run, project: &Project, program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(project.root())
        .env("HOME", project.beside("home"))
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    with_toolchain(run, &mut command);
    command
}

fn writes(files: &[(&str, &str)]) -> Vec<Value> {
    files.iter().map(|(path, content)| json!({"path": path, "content": content})).collect()
}

impl<'a> Door<'a> {
    pub async fn open(kind: DoorKind, run: &'a Run, project: &Project) -> Self {
        let model = ModelServer::start([]).await;
        configure(run, project, &model);
        let side = match kind {
            DoorKind::Ask => Side::Shell,
            DoorKind::Mcp => {
                let folder = servers(run, project).display().to_string();
                let config = project.beside("config").join("sextant/config.toml").display().to_string();
                let mut client = McpClient::start_binary(
                    project,
                    &binary(),
                    project.root(),
                    &["--servers", &folder, "--config", &config],
                );
                client.begin("codex").await;
                Side::Mcp(Box::new(client))
            }
            DoorKind::Nvim => {
                let nvim = nvim(run, project, &model).await;
                nvim.edit(&first_file(run.language, project.root())).await;
                nvim.command("AgentHistory").await;
                joined(project).await;
                Side::Nvim(Box::new(nvim))
            }
            DoorKind::Helix => {
                assert_eq!(run.language, Language::Python, "the scripted editor of the door helix opens Python alone");
                let mut engine = command(run, project, env!("CARGO_BIN_EXE_sextant"));
                engine.env_remove("XDG_CONFIG_HOME").args(["engine", "--root"]).arg(project.root());
                engine.arg("--servers").arg(servers(run, project));
                let child = engine.spawn().expect("the engine starts");
                let options = json!({
                    "model": {"provider": "openai_compatible", "model": "m", "base_url": model.url(), "max_attempts": 1},
                    "diagnostics": {"timeout_ms": LOOK_MS.parse::<u64>().expect("a number"), "start_timeout_ms": 120_000, "max": 1000},
                });
                let link = EditorLink::with(project, hello(project, None, options)).await.expect("it takes us");
                link.open(&first_file(run.language, project.root()));
                joined(project).await;
                Side::Helix(child, Box::new(link))
            }
        };
        Self { run, side, model }
    }

    pub async fn make(&mut self, project: &Project, edit: &ProjectEdit) -> Answer {
        let files: Vec<(&str, &str)> = edit.files.iter().map(|file| (&*file.path, &*file.after)).collect();
        if let Side::Mcp(client) = &mut self.side {
            return through_mcp(client, &files).await;
        }
        let calls = writes(&files);
        for (at, call) in calls.iter().enumerate() {
            self.model.push(step("write_file", call.clone(), at + 1 < calls.len()));
        }
        let begun = Instant::now();
        let mut ask = command(self.run, project, &binary());
        ask.args(["ask", &edit.request, "--json", "--file", &edit.files[0].path]);
        if matches!(self.side, Side::Shell) {
            ask.args(["--headless", "--servers"]).arg(servers(self.run, project));
        }
        let output = ask.output().await.expect("the shell runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = said.lines().last().unwrap_or_default();
        let data: Value = serde_json::from_str(last)
            .unwrap_or_else(|error| panic!("{error}: {said}{}", String::from_utf8_lossy(&output.stderr)));
        let asked = || self.model.requests().last().map(|request| request.body.to_string()).unwrap_or_default();
        assert!(data["outcome"].is_object(), "{}: {data}; the last question: {}", edit.request, asked());
        Answer { data: data["outcome"].clone(), elapsed: begun.elapsed() }
    }

    /// The user takes it back.
    pub async fn take_back(&mut self, project: &Project, edit: &ProjectEdit) {
        if let Side::Mcp(client) = &mut self.side {
            let files: Vec<(&str, &str)> = edit.files.iter().map(|file| (&*file.path, &*file.before)).collect();
            through_mcp(client, &files).await;
            return;
        }
        let mut undo = command(self.run, project, &binary());
        undo.arg("undo");
        if matches!(self.side, Side::Shell) {
            undo.arg("--headless");
        }
        let output = undo.output().await.expect("the shell runs");
        assert!(output.status.success(), "{}: {}", edit.request, String::from_utf8_lossy(&output.stderr));
    }

    pub async fn close(self) {
        match self.side {
            Side::Shell => {}
            Side::Mcp(client) => assert!(client.end().await.success()),
            Side::Nvim(nvim) => drop(nvim),
            Side::Helix(mut engine, link) => {
                drop(link);
                let _ = engine.kill().await;
            }
        }
    }
}

async fn through_mcp(client: &mut McpClient, files: &[(&str, &str)]) -> Answer {
    let begun = Instant::now();
    let mut data = Value::Null;
    let calls = writes(files);
    for (at, call) in calls.iter().enumerate() {
        let mut call = call.clone();
        if at + 1 < calls.len() {
            call["diagnostics"] = json!("defer");
        }
        data = client.edit("write_file", call).await;
    }
    Answer { data, elapsed: begun.elapsed() }
}

/// A file that the editor has open from the start.
fn first_file(language: Language, root: &Path) -> String {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
        entries.sort();
        if let Some(found) = entries.iter().find(|path| path.extension().is_some_and(|end| end == language.ending())) {
            return found.strip_prefix(root).expect("inside").display().to_string();
        }
        folders.extend(entries.into_iter().filter(|path| path.is_dir()));
    }
    panic!("{} has no file of {language:?}", root.display());
}
