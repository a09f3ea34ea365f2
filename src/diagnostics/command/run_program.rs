//! Runs one program to its end within its limits: time, output, and no process left behind.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::environment;
use crate::program::{self, ProcessGroup};

/// Bytes of standard output. A larger report helps nobody.
pub const OUTPUT: u64 = 8 * 1024 * 1024;

/// Bytes of standard error that are kept, from its end.
const ERRORS: usize = 64 * 1024;

/// Characters of the last line of standard error.
const WORDS: usize = 300;

#[derive(Debug)]
pub struct CommandReports {
    pub status: i32,
    pub stdout: Vec<u8>,
    /// The last line of standard error; empty without one.
    pub last_words: String,
}

/// The reason why there is no output to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    TimedOut,
    TooMuch,
    Failed(String),
}

/// Runs a program in a folder. If it exceeds its limits, or the caller goes away, it is killed with all its children.
pub async fn run(
    program: &Path,
    arguments: &[String],
    folder: &Path,
    input: Option<&str>,
    limit: Duration,
) -> Result<CommandReports, Stopped> {
    let failed = |error: std::io::Error| Stopped::Failed(format!("{} cannot be run: {error}", program.display()));
    let mut command = program::command(program).map_err(failed)?;
    environment::without_secrets(&mut command);
    let mut child = command
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let group = ProcessGroup::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let ended = async {
            let status = child.wait().await.map_err(failed);
            // Children that still run would keep its pipes open.
            drop(group);
            status
        };
        let written = async {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A program may stop reading before the end; its exit status shows the reason.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
            Ok(())
        };
        let (status, stdout, last_words, ()) = tokio::try_join!(ended, output(stdout), last_line(stderr), written)?;
        match status.code() {
            Some(status) => Ok(CommandReports { status, stdout, last_words }),
            None => Err(Stopped::Failed(format!("it was ended by a signal ({status})"))),
        }
    };
    tokio::time::timeout(limit, work).await.unwrap_or(Err(Stopped::TimedOut))
}

async fn output(pipe: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Stopped> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let read = pipe.take(OUTPUT + 1).read_to_end(&mut bytes).await;
        read.map_err(|error| Stopped::Failed(format!("its output cannot be read: {error}")))?;
    }
    if bytes.len() as u64 > OUTPUT { Err(Stopped::TooMuch) } else { Ok(bytes) }
}

async fn last_line(pipe: Option<impl AsyncRead + Unpin>) -> Result<String, Stopped> {
    let Some(mut pipe) = pipe else { return Ok(String::new()) };
    let mut kept: Vec<u8> = Vec::new();
    let mut piece = [0; 4096];
    // Read to its end at any length: a full pipe would stop the program.
    while let Ok(read @ 1..) = pipe.read(&mut piece).await {
        kept.extend_from_slice(&piece[..read]);
        let excess = kept.len().saturating_sub(ERRORS);
        kept.drain(..excess);
    }
    let text = String::from_utf8_lossy(&kept);
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    Ok(last.chars().filter(|c| !c.is_control()).take(WORDS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    async fn sh(script: &str, input: Option<&str>, limit: Duration) -> Result<CommandReports, Stopped> {
        run(Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()], Path::new("/"), input, limit).await
    }

    #[tokio::test]
    async fn output_status_and_last_words_come_back() {
        let ran = sh("cat; echo one >&2; echo two >&2; exit 3", Some("text"), PATIENCE).await.unwrap();
        assert_eq!((ran.status, ran.stdout.as_slice(), ran.last_words.as_str()), (3, b"text".as_slice(), "two"));
        let missing = run(Path::new("/nonexistent"), &[], Path::new("/"), None, PATIENCE).await;
        assert!(matches!(missing, Err(Stopped::Failed(_))));
        assert!(matches!(sh("kill -9 $$", None, PATIENCE).await, Err(Stopped::Failed(why)) if why.contains("signal")));
    }

    #[tokio::test]
    async fn what_it_started_does_not_outlive_it() {
        // The background process holds the output open; it is killed when its parent is gone.
        let ran = sh("sleep 1000 & echo done", None, PATIENCE).await.unwrap();
        assert_eq!(ran.stdout, b"done\n");
        let late = sh("sleep 1000 & sleep 1000", None, Duration::from_millis(100)).await;
        assert_eq!(late.unwrap_err(), Stopped::TimedOut);
    }

    #[tokio::test]
    async fn a_flood_is_cut_off() {
        assert_eq!(sh("exec yes", None, PATIENCE).await.unwrap_err(), Stopped::TooMuch);
        let errors = sh("yes | head -c 1000000 >&2; echo end >&2", None, PATIENCE).await.unwrap();
        assert_eq!(errors.last_words, "end");
    }
}
