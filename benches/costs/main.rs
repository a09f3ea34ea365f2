//! Measures Sextant beside its comparisons: loading, the first command, an edit, a stream, a large text, the matcher.
//!
//! `cargo bench --bench costs -- stream large` measures these two alone.
//!
//! Prints ratios and counts and asserts nothing about time: the machine may be busy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod counting;
mod editing;
mod embedded;
#[path = "../inside.rs"]
mod inside;
mod joined;
mod large;
mod matcher;
#[path = "../../tests/e2e/support/model_server.rs"]
mod model_server;
mod proxy;
mod review;
mod stream;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

fn sorted(list: &[f64]) -> Vec<f64> {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    list
}

fn percentile(list: &[f64], part: f64) -> f64 {
    let list = sorted(list);
    list.get(((list.len().saturating_sub(1)) as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}

fn median(list: &[f64]) -> f64 {
    percentile(list, 0.5)
}

/// The tool's path, looked for in `SEXTANT_TOOLS` and PATH.
fn tool(name: &str) -> Result<String, String> {
    let own = std::env::var_os("SEXTANT_TOOLS").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    found.map(|file| file.display().to_string()).ok_or_else(|| format!("{name} is needed: run `make tools`"))
}

#[derive(Serialize)]
struct Startup {
    repository: &'static str,
    sextant: &'static str,
    repetitions: usize,
    handshakes: usize,
    out: String,
}

#[derive(Deserialize)]
struct Times {
    plugin: Vec<f64>,
    setup: Vec<f64>,
    empty: Vec<f64>,
    handshake: Vec<f64>,
}

async fn startup() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let out = folder.path().join("out");
    let job = Startup {
        repository: env!("CARGO_MANIFEST_DIR"),
        sextant: env!("CARGO_BIN_EXE_sextant"),
        repetitions: 500,
        handshakes: 20,
        out: out.display().to_string(),
    };
    let script = include_str!("startup.lua");
    inside::start(folder.path(), folder.path(), script, &job, Duration::from_secs(120)).await?;
    let text = std::fs::read(&out).map_err(|error| format!("nothing measured: {error}"))?;
    let times: Times = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    println!("loading, in one Neovim, module cache cleared between");
    let row = |name: &str, list: &[f64]| {
        println!(
            "  {name:<38}median {:>7.3} ms, p95 {:>7.3} ms ({} times)",
            median(list),
            percentile(list, 0.95),
            list.len()
        );
    };
    row("sourcing an empty file", &times.empty);
    row("sourcing plugin/sextant.lua", &times.plugin);
    row("require('sextant').setup()", &times.setup);
    row("first command to handshake", &times.handshake);
    println!();
    Ok(())
}

/// Every measurement, or those named on the command line.
async fn everything(named: &[String]) -> Result<(), String> {
    let wanted = |name: &str| named.is_empty() || named.iter().any(|given| given == name);
    if wanted("startup") {
        startup().await?;
    }
    if wanted("joined") {
        joined::run().await?;
    }
    if wanted("proxy") {
        proxy::run()?;
    }
    if wanted("stream") {
        stream::run().await?;
    }
    if wanted("review") {
        review::run().await?;
    }
    if wanted("editing") {
        editing::run().await?;
        println!();
    }
    if wanted("large") {
        large::large()?;
        println!();
    }
    if wanted("matcher") {
        matcher::run();
    }
    Ok(())
}

#[tokio::main]
async fn measure() -> ExitCode {
    if inside::is_inside() {
        inside::serve(editing::inside).await;
        return ExitCode::SUCCESS;
    }
    let named: Vec<String> = std::env::args().skip(1).filter(|given| !given.starts_with("--")).collect();
    match everything(&named).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("costs: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn main() -> ExitCode {
    // The product itself, over the allocator that counts.
    if std::env::args().nth(1).as_deref() == Some("mcp") {
        let status = sextant::cli::run();
        counting::write();
        return status.into();
    }
    measure()
}
