//! Measures Neovim under a model that streams faster than a screen shows: processor time, longest stall, way to rest.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Handler, Neovim, UiAttachOptions, Value};
use serde::Deserialize;
use serde_json::json;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::model_server::{Dealing, ModelServer, Reply};

const SCRIPT: &str = include_str!("stream.lua");
const LINES: usize = 5_000;
/// Lines of a stream that is stopped: more than one frame has room for.
const MANY: usize = 20_000;
/// The number of shown lines after which a stop comes.
const STOPPED_AT: usize = 200;
/// The number of runs of each kind.
const RUNS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than the rest of words before they are coloured, and than a stop may take.
const REST: Duration = Duration::from_millis(1500);

type Writer = Compat<ChildStdin>;

#[derive(Clone)]
struct Ears(UnboundedSender<()>);

#[async_trait]
impl Handler for Ears {
    type Writer = Writer;

    async fn handle_notify(&self, name: String, _args: Vec<Value>, _nvim: Neovim<Writer>) {
        if name == "ended" {
            let _ = self.0.send(());
        }
    }
}

/// Times in milliseconds.
#[derive(Deserialize)]
struct Seen {
    longest: f64,
    busiest: f64,
    rest: f64,
    pieces: usize,
}

/// A Neovim with a screen of 80 columns that has asked.
struct Asked {
    nvim: Neovim<Writer>,
    ended: UnboundedReceiver<()>,
    child: Child,
    _server: ModelServer,
    _folder: tempfile::TempDir,
}

impl Asked {
    async fn start(watched: bool, lines: usize) -> Result<Self, String> {
        let text: String = (0..lines).map(|number| format!("- {number} *many* `x`\n")).collect();
        let answer = json!({"reasoning": "", "action": null, "continue": false, "confidence": 1, "answer": text});
        let server = ModelServer::dealing([Reply::Json(answer)], Dealing { characters: 6, bytes: 4096 }).await;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (heard, ended) = unbounded_channel();
        let (nvim, child) = neovim(folder.path(), Ears(heard)).await?;
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let mut how = UiAttachOptions::new();
        how.set_linegrid_external(true);
        nvim.ui_attach(80, 24, &how).await.map_err(|error| words(&error))?;
        let channel = nvim.get_api_info().await.map_err(|error| words(&error))?[0].clone();
        let given = vec![channel, server.url().into(), env!("CARGO_BIN_EXE_sextant").into()];
        nvim.exec_lua(SCRIPT, given).await.map_err(|error| words(&error))?;
        let asked = Self { nvim, ended, child, _server: server, _folder: folder };
        if watched {
            asked.lua("_G.bench_watch()").await?;
        }
        asked.lua("vim.cmd('AgentAsk what is this?')").await?;
        Ok(asked)
    }

    async fn lua(&self, code: &str) -> Result<String, String> {
        let value = self.nvim.exec_lua(code, vec![]).await.map_err(|error| format!("{code}: {error}"))?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }

    async fn ended(&mut self) -> Result<(), String> {
        let ended = tokio::time::timeout(PATIENCE, self.ended.recv()).await;
        ended.map_err(|_| "the task does not end".to_owned())?.ok_or("Neovim is gone")?;
        tokio::time::sleep(REST).await;
        Ok(())
    }

    async fn seen(&self) -> Result<Seen, String> {
        serde_json::from_str(&self.lua("return _G.bench_seen()").await?).map_err(|error| error.to_string())
    }

    /// The processor time that the process has used, in milliseconds.
    fn processor(&self) -> f64 {
        let id = self.child.id().unwrap_or_default();
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let behind_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        ticks.sum::<f64>() * 1000.0 / rustix::param::clock_ticks_per_second() as f64
    }
}

async fn neovim(folder: &Path, ears: Ears) -> Result<(Neovim<Writer>, Child), String> {
    let root = folder.join("project");
    std::fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    for name in ["a.py", "pyproject.toml"] {
        std::fs::write(root.join(name), "").map_err(|error| error.to_string())?;
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

/// The processor time of a whole stream, and of one without a window.
async fn used() -> Result<f64, String> {
    let mut asked = Asked::start(false, LINES).await?;
    let before = asked.processor();
    asked.ended().await?;
    Ok(asked.processor() - before)
}

async fn whole() -> Result<Seen, String> {
    let mut asked = Asked::start(true, LINES).await?;
    asked.ended().await?;
    let lines: usize = asked.lua("return tostring(_G.bench_lines())").await?.parse().unwrap_or(0);
    if lines < LINES { Err(format!("{lines} of {LINES} lines are shown")) } else { asked.seen().await }
}

async fn stopped() -> Result<Seen, String> {
    let mut asked = Asked::start(true, MANY).await?;
    asked.lua(&format!("_G.bench_stop({STOPPED_AT})")).await?;
    asked.ended().await?;
    asked.seen().await
}

/// The same words, put into a buffer of Neovim's at once, and coloured.
async fn alone() -> Result<f64, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (nvim, _child) = neovim(folder.path(), Ears(unbounded_channel().0)).await?;
    let took = nvim.exec_lua(include_str!("stream_alone.lua"), vec![LINES.into()]).await;
    took.map_err(|error| error.to_string())?.as_f64().ok_or_else(|| "no time".to_owned())
}

pub async fn run() -> Result<(), String> {
    println!("a model that streams {LINES} lines in pieces of 6 characters into a Neovim with a screen, {RUNS} runs");
    let (mut processor, mut wholes, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        processor.push(used().await?);
        wholes.push(whole().await?);
        stops.push(stopped().await?);
    }
    let row = |name: &str, list: Vec<f64>, goal: &str| {
        let (median, longest) = (crate::median(&list), crate::percentile(&list, 1.0));
        println!("  {name:<58}median {median:>7.1} ms, longest {longest:>7.1} ms{goal}");
    };
    row("Neovim's processor time, to 1.5 s behind the end", processor, "");
    row("  the same text set at once and parsed, Neovim alone", vec![alone().await?], "");
    row(
        "longest time without a turn of Neovim's loop",
        wholes.iter().map(|seen| seen.longest).collect(),
        ", goal 16 ms",
    );
    row("  processor time of the busiest turn", wholes.iter().map(|seen| seen.busiest).collect(), "");
    row(
        "from :AgentStop to the last change of the answer",
        stops.iter().map(|seen| seen.rest).collect(),
        ", goal 200 ms",
    );
    println!("  pieces: {:?}", wholes.iter().map(|seen| seen.pieces).collect::<Vec<_>>());
    println!();
    Ok(())
}
