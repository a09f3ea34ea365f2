//! Measures a large text: one `write_file` over MCP, the time until its answer, the most memory, the allocations.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::counting::{self, Counts};

/// Megabytes of text in one edit.
const SIZES: [usize; 4] = [1, 2, 4, 9];
/// A short line, so that there are as many lines, symbols and hunks as possible.
const LINE: &str = "x = 1\n";

struct Cost {
    seconds: f64,
    /// The most memory of the whole process, in bytes.
    resident: usize,
    counts: Counts,
}

pub fn large() -> Result<(), String> {
    println!("one write_file over MCP, of lines `x = 1`");
    let head = ["seconds", "MB resident", "MB at once", "allocated in all", "allocations"];
    println!("  {:<30}{:>9}{:>13}{:>12}{:>18}{:>13}", "", head[0], head[1], head[2], head[3], head[4]);
    let sizes = [("a line".to_owned(), LINE.len()), ("0.3 MB, 55,000 lines".to_owned(), 330_000)];
    let sizes = sizes.into_iter().chain(SIZES.iter().map(|size| (format!("{size} MB"), size << 20)));
    for (name, bytes) in sizes {
        for (how, old) in [("new", None), ("over another", Some(changed(bytes)))] {
            let cost = write(bytes, old.as_deref()).map_err(|error| format!("{name}: {error}"))?;
            let mb = |bytes: usize| bytes as f64 / f64::from(1 << 20);
            let Counts { peak, bytes, times } = cost.counts;
            println!(
                "  {:<30}{:>9.2}{:>13.0}{:>12.0}{:>15.0} MB{times:>13}",
                format!("{name}, {how}"),
                cost.seconds,
                mb(cost.resident),
                mb(peak),
                mb(bytes)
            );
        }
    }
    Ok(())
}

fn text(bytes: usize) -> String {
    LINE.repeat(bytes / LINE.len())
}

/// A text of the same length, with another line at both ends.
fn changed(bytes: usize) -> String {
    format!("y = 1\n{}z = 1\n", text(bytes.saturating_sub(2 * LINE.len())))
}

/// The cost of one write in a process of its own, over an existing text or as a new file.
fn write(bytes: usize, old: Option<&str>) -> std::io::Result<Cost> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("project");
    std::fs::create_dir(&root)?;
    std::fs::write(root.join("pyproject.toml"), "")?;
    if let Some(old) = old {
        std::fs::write(root.join("a.py"), old)?;
    }
    let (counts, own) = (folder.path().join("counts"), folder.path().join("own"));
    let mut server = Command::new(std::env::current_exe()?)
        .arg("mcp")
        .current_dir(&root)
        .envs(["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"].map(|name| (name, &own)))
        .env(counting::VARIABLE, &counts)
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
    let call = json!({"name": "write_file", "arguments": {"path": "a.py", "content": text(bytes)}});
    let began = Instant::now();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}))?;
    let answer: Value = serde_json::from_str(&output.next().transpose()?.unwrap_or_default())?;
    let seconds = began.elapsed().as_secs_f64();
    if answer["result"]["isError"] != false {
        return Err(std::io::Error::other(format!("it was not written: {answer}")));
    }
    let resident = peak(Path::new(&format!("/proc/{}/status", server.id())))?;
    drop(input);
    server.wait()?;
    Ok(Cost { seconds, resident, counts: counting::read(&counts)? })
}

/// The most bytes of a process that were in memory at once.
fn peak(status: &Path) -> std::io::Result<usize> {
    let status = std::fs::read_to_string(status)?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: usize = peak.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0);
    Ok(kilobytes << 10)
}
