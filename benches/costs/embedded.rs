//! Starts a Neovim with the plugin on a project of its own, driven over its standard channel.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Handler, Neovim, UiAttachOptions, Value};
use serde::Deserialize;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::model_server::ModelServer;

const PATIENCE: Duration = Duration::from_secs(60);

pub type Writer = Compat<ChildStdin>;

#[derive(Clone)]
pub struct Ears(pub UnboundedSender<()>);

#[async_trait]
impl Handler for Ears {
    type Writer = Writer;

    async fn handle_notify(&self, name: String, _args: Vec<Value>, _nvim: Neovim<Writer>) {
        if name == "ended" {
            let _ = self.0.send(());
        }
    }
}

/// A Neovim in `FOLDER/project`, on an `a.py` of this text.
pub async fn neovim(folder: &Path, text: &str, ears: Ears) -> Result<(Neovim<Writer>, Child), String> {
    let root = folder.join("project");
    std::fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    for (name, text) in [("a.py", text), ("pyproject.toml", "")] {
        std::fs::write(root.join(name), text).map_err(|error| error.to_string())?;
    }
    let program = std::env::var("SEXTANT_NVIM").unwrap_or_else(|_| "nvim".to_owned());
    let mut command = Command::new(&program);
    command
        .args(["--clean", "--headless", "--embed", "-n", "a.py"])
        .args(["--cmd", &format!("set runtimepath^={}", env!("CARGO_MANIFEST_DIR"))])
        .current_dir(&root)
        .env("HOME", folder)
        .stderr(Stdio::null())
        .kill_on_drop(true);
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
        command.env(name, folder.join(name));
    }
    let started = nvim_rs::create::tokio::new_child_cmd(&mut command, ears).await;
    let (nvim, _io, child) = started.map_err(|error| format!("{program} is needed: {error}"))?;
    Ok((nvim, child))
}

/// Times in milliseconds, since the last look.
#[derive(Deserialize)]
pub struct Seen {
    pub longest: f64,
    pub busiest: f64,
    pub rest: f64,
    pub pieces: usize,
}

/// A Neovim with a screen of 80 columns that asks this model server.
pub struct Asked {
    pub nvim: Neovim<Writer>,
    ended: UnboundedReceiver<()>,
    child: Child,
    _server: ModelServer,
    _folder: tempfile::TempDir,
}

impl Asked {
    pub async fn start(text: &str, server: ModelServer) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (heard, ended) = unbounded_channel();
        let (nvim, child) = neovim(folder.path(), text, Ears(heard)).await?;
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let mut how = UiAttachOptions::new();
        how.set_linegrid_external(true);
        nvim.ui_attach(80, 24, &how).await.map_err(|error| words(&error))?;
        let channel = nvim.get_api_info().await.map_err(|error| words(&error))?[0].clone();
        let given = vec![channel, server.url().into(), env!("CARGO_BIN_EXE_sextant").into()];
        nvim.exec_lua(include_str!("embedded.lua"), given).await.map_err(|error| words(&error))?;
        Ok(Self { nvim, ended, child, _server: server, _folder: folder })
    }

    /// Begins to note the turns of Neovim's loop.
    pub async fn watch(&self) -> Result<(), String> {
        self.lua("_G.bench_watch()").await.map(drop)
    }

    pub async fn lua(&self, code: &str) -> Result<String, String> {
        let value = self.nvim.exec_lua(code, vec![]).await.map_err(|error| format!("{code}: {error}"))?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }

    /// Waits for the end of the task.
    pub async fn ended(&mut self) -> Result<(), String> {
        let ended = tokio::time::timeout(PATIENCE, self.ended.recv()).await;
        ended.map_err(|_| "the task does not end".to_owned())?.ok_or("Neovim is gone".to_owned())
    }

    pub async fn seen(&self) -> Result<Seen, String> {
        serde_json::from_str(&self.lua("return _G.bench_seen()").await?).map_err(|error| error.to_string())
    }

    /// The processor time that the process has used, in milliseconds.
    pub fn processor(&self) -> f64 {
        let id = self.child.id().unwrap_or_default();
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let behind_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        ticks.sum::<f64>() * 1000.0 / rustix::param::clock_ticks_per_second() as f64
    }
}
