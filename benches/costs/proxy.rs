//! Measures the cost that the proxy adds before a language server: to a message, to a long list, and in memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::median;
use crate::percentile;
use crate::tool;

const MESSAGES: usize = 5_000;
const MANY: usize = 100_000;
const LISTS: usize = 60;
/// Bytes of a long list.
const LIST: usize = 1_700_000;

/// Answers every request with the number of bytes that it names.
const SERVER: &str = r#"
import os, re, sys
read, answers = sys.stdin.buffer, {}
while True:
    header = read.readline()
    if not header: break
    read.readline()
    body = read.read(int(header.split(b":")[1]))
    found = re.search(rb'"id":(\d+),"method":"[^"]*","params":\{"size":(\d+)', body)
    if not found: continue
    size = int(found[2])
    if size not in answers:
        answers[size] = b',"result":[' + b",".join([b'{"label":"name","kind":3,"data":[1,2,"\\"x"]}'] * (size // 45 + 1)) + b']}'
    body = b'{"jsonrpc":"2.0","id":' + found[1] + answers[size]
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
"#;

struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Served {
    fn start(folder: &Path, proxied: bool) -> Result<Self, String> {
        let server = [tool("python3")?, "-uc".to_owned(), SERVER.to_owned()];
        let mut command = if proxied {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
            command.args(["lsp", "--quiet", "--"]).args(&server);
            command
        } else {
            let mut command = Command::new(&server[0]);
            command.args(&server[1..]);
            command
        };
        let command = command.current_dir(folder).env("XDG_RUNTIME_DIR", folder);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".to_owned());
        };
        Ok(Self { child, input, output: BufReader::with_capacity(1 << 20, output) })
    }

    /// Milliseconds from the request to the whole answer.
    fn ask(&mut self, id: usize, size: usize) -> Result<f64, String> {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\",\"params\":{{\"size\":{size}}}}}");
        let start = Instant::now();
        let text = |error: std::io::Error| error.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).map_err(text)?;
        self.input.flush().map_err(text)?;
        let (mut line, mut length) = (String::new(), 0_usize);
        loop {
            line.clear();
            if self.output.read_line(&mut line).map_err(text)? == 0 {
                return Err("the server ended".to_owned());
            }
            match line.strip_prefix("Content-Length: ") {
                Some(number) => length = number.trim().parse().map_err(|_| "no length")?,
                None if line == "\r\n" => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).map_err(text)?;
        Ok(start.elapsed().as_secs_f64() * 1000.0)
    }

    fn memory_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kilobytes.unwrap_or(f64::NAN) / 1024.0
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One after the other, in turns, so that a busy machine is as busy for both.
fn beside(direct: &mut Served, proxied: &mut Served, times: usize, size: usize) -> Result<[Vec<f64>; 2], String> {
    let mut all = [Vec::with_capacity(times), Vec::with_capacity(times)];
    for id in 0..times {
        all[0].push(direct.ask(id, size)?);
        all[1].push(proxied.ask(id, size)?);
    }
    Ok(all)
}

pub fn run() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (mut direct, mut proxied) = (Served::start(folder.path(), false)?, Served::start(folder.path(), true)?);
    beside(&mut direct, &mut proxied, 200, 0)?;
    println!("a language server behind the proxy, request and answer together");
    for (name, times, size) in [("a message", MESSAGES, 0), ("a list of 1.7 MB", LISTS, LIST)] {
        let [without, with] = beside(&mut direct, &mut proxied, times, size)?;
        let row = |what: &str, median: f64, p99: f64| {
            println!("  {:<38}median {median:>7.3} ms, p99 {p99:>7.3} ms ({times} times)", format!("{name}, {what}"));
        };
        row("without", median(&without), percentile(&without, 0.99));
        row("with", median(&with), percentile(&with, 0.99));
        row("added", median(&with) - median(&without), percentile(&with, 0.99) - percentile(&without, 0.99));
    }
    let before = proxied.memory_mb();
    for id in 0..MANY {
        proxied.ask(id, 0)?;
    }
    std::thread::sleep(Duration::from_millis(100));
    println!(
        "  {:<38}{before:>7.1} MB, then {:>7.1} MB",
        format!("memory after {MANY} messages more"),
        proxied.memory_mb()
    );
    println!();
    Ok(())
}
