//! Measures Neovim under a model that streams faster than a screen shows: processor time, longest stall, way to rest.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use crate::embedded::{Asked, Ears, Seen, neovim};
use crate::model_server::{Dealing, ModelServer, Reply};

const LINES: usize = 5_000;
/// Lines of a stream that is stopped: more than one frame has room for.
const MANY: usize = 20_000;
/// The number of shown lines after which a stop comes.
const STOPPED_AT: usize = 200;
/// The number of runs of each kind.
const RUNS: usize = 5;
/// Longer than the rest of words before they are coloured, and than a stop may take.
const REST: Duration = Duration::from_millis(1500);

/// A Neovim that has asked for a stream of so many lines.
async fn asked(watched: bool, lines: usize) -> Result<Asked, String> {
    let text: String = (0..lines).map(|number| format!("- {number} *many* `x`\n")).collect();
    let answer = json!({"reasoning": "", "action": null, "continue": false, "confidence": 1, "answer": text});
    let server = ModelServer::dealing([Reply::Json(answer)], Dealing { characters: 6, bytes: 4096 }).await;
    let asked = Asked::start("", server).await?;
    if watched {
        asked.watch().await?;
    }
    asked.lua("vim.cmd('AgentAsk what is this?')").await?;
    Ok(asked)
}

/// Waits for the end of the task, and for the words to be coloured.
async fn rested(asked: &mut Asked) -> Result<(), String> {
    asked.ended().await?;
    tokio::time::sleep(REST).await;
    Ok(())
}

/// The processor time of a whole stream, and of one without a window.
async fn used() -> Result<f64, String> {
    let mut asked = asked(false, LINES).await?;
    let before = asked.processor();
    rested(&mut asked).await?;
    Ok(asked.processor() - before)
}

async fn whole() -> Result<Seen, String> {
    let mut asked = asked(true, LINES).await?;
    rested(&mut asked).await?;
    let lines: usize = asked.lua("return tostring(_G.bench_lines())").await?.parse().unwrap_or(0);
    if lines < LINES { Err(format!("{lines} of {LINES} lines are shown")) } else { asked.seen().await }
}

async fn stopped() -> Result<Seen, String> {
    let mut asked = asked(true, MANY).await?;
    asked.lua(&format!("_G.bench_stop({STOPPED_AT})")).await?;
    rested(&mut asked).await?;
    asked.seen().await
}

/// The same words, put into a buffer of Neovim's at once, and coloured.
async fn alone() -> Result<f64, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (nvim, _child) = neovim(folder.path(), "", Ears(unbounded_channel().0)).await?;
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
