//! What a command did while it ran: its output, the processor, the memory, and how long it only waited.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::sandbox::SECRET;

/// Longest that a command may take before it is killed, on a machine that does other things too.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Longest that a command may wait for anything: time in which neither it nor a program of its own has work to do. A
/// busy machine does not make it longer, since what waits for a processor has work to do.
pub const IDLE: Duration = Duration::from_secs(5);
/// Processor time that a command may use; without optimisation it takes some five times as much.
pub const PROCESSOR: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 5 });
/// Memory that a command may use, in bytes.
pub const MEMORY: u64 = 300 << 20;
/// At most so much of an output is kept, in bytes.
const OUTPUT: u64 = 8 << 20;
const TICK: Duration = Duration::from_millis(10);

/// What a command did.
#[derive(Debug)]
pub struct Run {
    pub arguments: Vec<String>,
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub took: Duration,
    /// How much of that it only waited.
    pub idle: Duration,
    pub processor: Duration,
    /// Largest resident set, in bytes.
    pub memory: u64,
    pub killed: bool,
}

impl Run {
    pub fn text(&self) -> String {
        format!("{}{}", String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&self.stderr))
    }
}

/// The most that any command has used so far.
#[derive(Debug, Default)]
pub struct Most {
    took: Duration,
    idle: Duration,
    processor: Duration,
    memory: u64,
}

impl Most {
    pub fn note(&mut self, run: &Run) {
        self.join(&Self { took: run.took, idle: run.idle, processor: run.processor, memory: run.memory });
    }

    pub fn join(&mut self, other: &Self) {
        self.took = self.took.max(other.took);
        self.idle = self.idle.max(other.idle);
        self.processor = self.processor.max(other.processor);
        self.memory = self.memory.max(other.memory);
    }
}

impl std::fmt::Display for Most {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [took, idle, processor] = [self.took, self.idle, self.processor].map(|time| time.as_secs_f64());
        let memory = self.memory >> 20;
        write!(f, "at most {took:.1} s, of which {idle:.1} s of waiting, {processor:.1} s of processor, {memory} MB")
    }
}

/// How long a process that goes on only waits, from now to the end of this.
pub struct Pause {
    end: mpsc::Sender<()>,
    watch: std::thread::JoinHandle<Watch>,
}

impl Pause {
    pub fn of(id: u32) -> Self {
        let (end, ended) = mpsc::channel();
        Self { end, watch: std::thread::spawn(move || Watch::over(id, &ended)) }
    }

    pub fn end(self) -> Duration {
        let _ = self.end.send(());
        self.watch.join().expect("it ends").idle
    }
}

/// Looks at a process and at those that it has started, from time to time.
#[derive(Default)]
struct Watch {
    idle: Duration,
    memory: u64,
    killed: bool,
}

impl Watch {
    fn over(id: u32, ended: &mpsc::Receiver<()>) -> Self {
        let mut watch = Self::default();
        let start = Instant::now();
        let mut last = start;
        while ended.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
            // Nobody has waited for the process yet, so that the id is still its own.
            watch.memory = watch.memory.max(resident(id).unwrap_or(0));
            let now = Instant::now();
            if waits(id) {
                watch.idle += now - last;
            }
            last = now;
            if start.elapsed() > PATIENCE && !watch.killed {
                watch.killed = true;
                let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
            }
        }
        watch
    }
}

/// The program of this name that a process has started.
pub fn program(id: u32, name: &str) -> Option<u32> {
    let named = |id: &u32| fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|comm| comm.trim() == name);
    children(id).into_iter().find(named)
}

fn children(id: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let of = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let text: Vec<String> = threads.map(of).collect();
    text.join(" ").split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// True if no thread of this process, nor of one that it has started, runs or could run.
fn waits(id: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let mut threads = threads.map(|thread| fs::read_to_string(thread.path().join("stat")).unwrap_or_default());
    let works = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D']));
    !threads.any(works) && children(id).into_iter().all(waits)
}

/// Runs a command to its end, or for [`PATIENCE`].
pub fn run(mut command: Command) -> Run {
    let arguments = command.get_args().map(|part| part.to_string_lossy().into_owned()).collect();
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary");
    // Read once it has begun: other tests of this process may have taken memory until then.
    let own = resident(std::process::id()).unwrap_or(0);
    let id = child.id();
    let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let readers = [collect(stdout), collect(stderr)];
    let (ended, waits) = mpsc::channel::<()>();
    let guard = std::thread::spawn(move || Watch::over(id, &waits));
    let used = child.wait4().expect("it ends");
    let took = start.elapsed();
    let _ = ended.send(());
    let watch = guard.join().expect("it ends");
    let [stdout, stderr] = readers.map(|reader| reader.join().expect("it ends"));
    Run {
        arguments,
        status: used.status.code(),
        stdout,
        stderr,
        took,
        idle: watch.idle,
        processor: used.rusage.utime + used.rusage.stime,
        // The system's own figure begins with what this process used when it started the other.
        memory: if used.rusage.maxrss > own { used.rusage.maxrss } else { watch.memory },
        killed: watch.killed,
    }
}

/// The most memory that a process has had so far, in bytes.
pub fn resident(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

fn collect(from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.take(OUTPUT).read_to_end(&mut bytes);
        bytes
    })
}

/// What a terminal would obey: control characters, C1 included, and those that turn the direction of text.
pub fn escapes(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let bad = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(*c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
    };
    let lines = text.lines().filter(|line| line.chars().any(|c| bad(&c)));
    lines.map(|line| format!("escape in the output: {line:?}").chars().take(200).collect()).collect()
}

/// What a command that has ended did too much of.
pub fn excesses(run: &Run) -> Vec<String> {
    excesses_of(run, IDLE)
}

/// The same of one that may wait for so long.
pub fn excesses_of(run: &Run, idle: Duration) -> Vec<String> {
    let mut found = escapes(&run.stdout);
    found.extend(escapes(&run.stderr));
    if run.killed {
        found.push(format!("hung: no end after {PATIENCE:?}"));
    }
    if run.idle > idle {
        found.push(format!("hung: it waited for {:?} of {:?}", run.idle, run.took));
    }
    if run.processor > PROCESSOR {
        found.push(format!("processor: {:?}", run.processor));
    }
    if run.memory > MEMORY {
        found.push(format!("memory: {} MB", run.memory >> 20));
    }
    if run.text().contains("panicked") {
        found.push("panic".to_owned());
    }
    if run.text().contains(SECRET) {
        found.push("a secret in the output".to_owned());
    }
    found
}

/// A watch that sees no wait would let every hang pass.
#[test]
fn a_wait_is_told_from_work() {
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command)
    };
    let [asleep, at_work] = ["sleep 1", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"].map(shell);
    assert!(asleep.idle > Duration::from_millis(800), "{asleep:?}");
    assert!(at_work.idle < at_work.took / 2, "{at_work:?}");
}
