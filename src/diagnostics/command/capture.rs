//! Runs one program to capture its output: no shell, a short list of variables, a time limit, and a bounded part of the
//! output.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use crate::environment;
use crate::program::{self, ProcessGroup};
use sextant_base::lock::lock;
use sextant_base::plural::counted;

/// The time that a program may run, and the bytes of its output that are kept: a quarter of them from the beginning,
/// the rest from the end, where test runners sum up.
#[derive(Clone, Copy, Debug)]
pub struct CaptureLimits {
    pub time: Duration,
    pub bytes: usize,
    /// The same limit for a program that ends with status 0: its output holds less to find.
    pub passed: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Captured {
    /// `None` if a signal or its time limit ended it.
    pub status: Option<i32>,
    pub timed_out: bool,
    /// Both outputs in their order, without control characters; a long one is cut in the middle.
    pub text: String,
}

/// Decides of a line of the output whether it is kept.
pub type Sieve<'s> = &'s (dyn Fn(&str) -> bool + Send + Sync);

/// Bytes of a line from which on it is read in parts.
const LINE: usize = 64 * 1024;

/// Runs a program in a folder, with the variables that programs need and those `named`. When its time is over, or the
/// caller goes away, it is killed with all its children. Returns an error if it cannot be run.
pub async fn run(
    program: &Path,
    arguments: &[String],
    folder: &Path,
    named: &[String],
    limits: CaptureLimits,
    sieve: Sieve<'_>,
) -> Result<Captured, String> {
    let mut command = program::command(program).map_err(|error| failed(program, &error))?;
    command.args(arguments).current_dir(folder);
    environment::needed_alone(&mut command, named);
    program::whole_path(&mut command);
    run_prepared(command, limits, sieve).await
}

fn failed(program: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be run: {error}", program.display())
}

/// The same for a program whose arguments, folder and variables are set already.
pub async fn run_prepared(mut command: Command, limits: CaptureLimits, sieve: Sieve<'_>) -> Result<Captured, String> {
    let program = Path::new(command.as_std().get_program()).to_owned();
    let failed = |error: std::io::Error| failed(&program, &error);
    command.env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(failed)?;
    let group = ProcessGroup::of(&child);
    let kept = Mutex::new(Kept::of(limits.bytes));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let ended = async {
            let status = child.wait().await;
            // Children that still run would keep its pipes open.
            drop(group);
            status
        };
        tokio::join!(ended, drain(stdout, &kept, sieve), drain(stderr, &kept, sieve)).0
    };
    let ended = tokio::time::timeout(limits.time, work).await;
    let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (status, timed_out) = match ended {
        Ok(status) => (status.map_err(failed)?.code(), false),
        Err(_) => (None, true),
    };
    let kept = if status == Some(0) { kept.narrowed(limits.passed) } else { kept };
    Ok(Captured { status, timed_out, text: kept.text() })
}

async fn drain(pipe: Option<impl AsyncRead + Unpin>, kept: &Mutex<Kept>, sieve: Sieve<'_>) {
    let Some(mut pipe) = pipe else { return };
    let mut piece = [0; 4096];
    let mut line = Vec::new();
    // The decision for the beginning of a line holds for all of it.
    let mut begun = None;
    let mut keep = |line: &mut Vec<u8>| {
        // A zero byte ends a name if the arguments ask for that.
        let text: Vec<u8> = line.iter().map(|byte| if *byte == 0 { b':' } else { *byte }).collect();
        let keeps = begun.unwrap_or_else(|| sieve(&plain(&text)));
        if keeps {
            lock(kept).push(line);
        }
        begun = (!line.ends_with(b"\n")).then_some(keeps);
        line.clear();
    };
    // Read to its end at any length: a full pipe would stop the program.
    while let Ok(read @ 1..) = pipe.read(&mut piece).await {
        for part in piece[..read].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.ends_with(b"\n") || line.len() >= LINE {
                keep(&mut line);
            }
        }
    }
    keep(&mut line);
}

/// The beginning and the end of an output.
#[derive(Debug, Default)]
struct Kept {
    /// Bytes that are kept of both.
    room: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The bytes between them.
    bytes: usize,
    lines: usize,
}

impl Kept {
    fn of(room: usize) -> Self {
        Self { room, ..Self::default() }
    }

    fn push(&mut self, bytes: &[u8]) {
        let most = self.room / 4;
        let room = most.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(&bytes[room..]);
        let excess = self.tail.len().saturating_sub(self.room - most);
        self.leave_out(excess);
    }

    fn leave_out(&mut self, bytes: usize) {
        self.lines += self.tail.drain(..bytes).filter(|byte| *byte == b'\n').count();
        self.bytes += bytes;
    }

    /// The same with less room.
    fn narrowed(mut self, room: usize) -> Self {
        let most = room / 4;
        let cut = self.head.split_off(most.min(self.head.len()));
        if self.bytes == 0 {
            self.tail.splice(..0, cut);
        } else {
            self.lines += cut.iter().filter(|byte| **byte == b'\n').count();
            self.bytes += cut.len();
        }
        let excess = self.tail.len().saturating_sub(room - most);
        self.leave_out(excess);
        self
    }

    fn text(mut self) -> String {
        if self.bytes == 0 {
            return plain(&[self.head.as_slice(), self.tail.as_slice()].concat());
        }
        // Whole lines on both sides, if their ends are near.
        let near = |at: Option<usize>| at.filter(|at| *at < LINE_ENDS);
        if let Some(over) = near(self.head.iter().rev().position(|byte| *byte == b'\n')) {
            self.bytes += over;
            self.head.truncate(self.head.len() - over);
        }
        if let Some(begun) = near(self.tail.iter().position(|byte| *byte == b'\n')) {
            self.leave_out(begun + 1);
        }
        let between = format!("[{} ({}) left out]", counted(self.lines, "line"), counted(self.bytes, "byte"));
        format!("{}\n{between}\n{}", plain(&self.head), plain(&self.tail))
    }
}

/// Bytes that may be given up to reach the end of a line.
const LINE_ENDS: usize = 400;

/// Removes control characters and the sequences that move a terminal's cursor or colour it.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.next_if_eq(&'[').is_some() {
                // A control sequence ends with its first character from `@` on (ECMA-48, 5.4).
                while chars.next_if(|c| !('@'..='~').contains(c)).is_some() {}
                chars.next();
            }
        } else if c == '\n' || c == '\t' || !c.is_control() {
            out.push(c);
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);
    const BYTES: usize = 8 * 1024;

    fn within(time: Duration) -> CaptureLimits {
        CaptureLimits { time, bytes: BYTES, passed: BYTES / 2 }
    }

    async fn sh(script: &str, limit: Duration) -> Captured {
        run(Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()], Path::new("/"), &[], within(limit), &|line| {
            line != "no"
        })
        .await
        .unwrap()
    }

    #[tokio::test]
    async fn both_outputs_and_the_status_come_back_plain() {
        let ran = sh("printf '\\033[31mred\\033[0m\\a\\r\\n'; echo err >&2; exit 3", PATIENCE).await;
        assert_eq!((ran.status, ran.timed_out), (Some(3), false));
        assert!(ran.text.contains("red") && ran.text.contains("err"), "{:?}", ran.text);
        assert!(!ran.text.contains(['\u{1b}', '\u{7}', '\r']) && !ran.text.contains("[31m"), "{:?}", ran.text);
        assert!(run(Path::new("/nonexistent"), &[], Path::new("/"), &[], within(PATIENCE), &|_| true).await.is_err());
    }

    #[tokio::test]
    async fn a_line_that_is_not_kept_is_nowhere_however_it_comes() {
        let script = "printf 'yes\\nno\\nn'; printf 'o\\n\\033[31mno\\033[0m\\nyes too\\nno' | cat; echo no >&2";
        assert_eq!(sh(script, PATIENCE).await.text, "yes\nyes too");
    }

    #[tokio::test]
    async fn a_long_output_keeps_its_two_ends() {
        let ran = sh("echo first; yes | head -c 1000000; echo last", PATIENCE).await;
        assert!(ran.text.starts_with("first") && ran.text.ends_with("last"), "{:?}", ran.text);
        assert!(ran.text.contains(" lines (") && ran.text.contains("bytes) left out]"), "{:?}", ran.text);
        assert!(ran.text.len() < BYTES / 2 + 100, "it passed: {}", ran.text.len());
        let ran = sh("echo first; yes | head -c 1000000; echo last; exit 1", PATIENCE).await;
        assert!(ran.text.len() > BYTES / 2 + 100 && ran.text.len() < BYTES + 100, "{}", ran.text.len());
    }

    #[test]
    fn what_is_left_out_is_counted_and_both_sides_are_whole_lines() {
        let lines: Vec<String> = (1..=50).map(|n| format!("line {n}")).collect();
        let filled = |room: usize| {
            let mut kept = Kept::of(room);
            lines.iter().for_each(|line| kept.push(format!("{line}\n").as_bytes()));
            kept
        };
        for kept in [filled(100), filled(200).narrowed(100), filled(10_000).narrowed(100)] {
            whole_lines(&kept.text(), &lines);
        }
        assert_eq!(filled(10_000).narrowed(5_000).text(), filled(10_000).text(), "a fitting output is whole");
    }

    fn whole_lines(text: &str, lines: &[String]) {
        let (head, rest) = text.split_once("\n[").unwrap();
        let (note, tail) = rest.split_once("left out]\n").unwrap();
        let shown = head.lines().count() + tail.lines().count();
        assert!(head.starts_with("line 1\n") && tail.ends_with("line 50"), "{text}");
        assert!(head.lines().chain(tail.lines()).all(|line| lines.iter().any(|known| known == line)), "{text}");
        assert_eq!(note.split(' ').next(), Some((50 - shown).to_string().as_str()), "{text}");
    }

    #[tokio::test]
    async fn time_ends_it_with_all_that_it_started() {
        let ran = sh("echo $$; sleep 1000 & sleep 1000", Duration::from_millis(300)).await;
        assert!(ran.timed_out && ran.status.is_none(), "{ran:?}");
        let left = sh("sleep 1000 & echo done", PATIENCE).await;
        assert_eq!((left.status, left.text.as_str()), (Some(0), "done"));
    }
}
