//! What a large text costs: one `write_file` over MCP, the time until its answer and the most memory.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

/// Megabytes of text in one edit.
const SIZES: [usize; 4] = [1, 2, 5, 9];

pub fn large() -> Result<(), String> {
    println!("one write_file over MCP, of lines `x = 1`");
    for megabytes in SIZES {
        let (seconds, memory) = write(megabytes).map_err(|error| error.to_string())?;
        println!("  {:<38}{seconds:>7.2} s, {memory:>5} MB at most", format!("{megabytes} MB"));
    }
    Ok(())
}

fn write(megabytes: usize) -> std::io::Result<(f64, u64)> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("pyproject.toml"), "")?;
    let mut server = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .arg("mcp")
        .current_dir(folder.path())
        .envs(["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"].map(|name| (name, folder.path().join("own"))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let missing = || std::io::Error::other("no pipe");
    let mut input = server.stdin.take().ok_or_else(missing)?;
    let mut output = BufReader::new(server.stdout.take().ok_or_else(missing)?).lines();
    let about =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}))?;
    output.next().transpose()?;
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    let text = "x = 1\n".repeat((megabytes << 20) / 6);
    let call = json!({"name": "write_file", "arguments": {"path": "a.py", "content": text}});
    let began = Instant::now();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}))?;
    let answer: Value = serde_json::from_str(&output.next().transpose()?.unwrap_or_default())?;
    let seconds = began.elapsed().as_secs_f64();
    if answer["result"]["isError"] != false {
        return Err(std::io::Error::other(format!("it was not written: {answer}")));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: u64 = peak.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0);
    drop(input);
    server.wait()?;
    Ok((seconds, kilobytes >> 10))
}
