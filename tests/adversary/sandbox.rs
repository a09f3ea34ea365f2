//! A project, a home and a place outside, with canaries: what was touched, run, said and used.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;
use wait4::Wait4;

/// What no request, prompt or log may ever show.
pub const SECRET: &str = "CANARY-SECRET-5d1f";

/// Longest that a command may take, on a machine that does other things too. The processor time is what counts.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Processor time that a command may use; without optimisation it takes some five times as much.
pub const PROCESSOR: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 5 });
/// Memory that a command may use, in bytes.
pub const MEMORY: u64 = 300 << 20;

/// `a.py` of every project.
pub const TEXT: &str = "import os\n\n\ndef f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

/// One test at a time: each has two cases under way, and what is measured is not to wait for the others.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct Sandbox {
    _dir: TempDir,
    pub project: PathBuf,
    pub home: PathBuf,
    pub outside: PathBuf,
    /// Programs that were not to run leave a file here.
    pub marks: PathBuf,
    /// What PATH begins with: programs under common names that leave a mark.
    pub traps: PathBuf,
}

/// What a command did.
#[derive(Debug)]
pub struct Run {
    pub arguments: Vec<String>,
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub took: Duration,
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

/// One thing as it lies on the disk. The time of the last read is kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    kind: &'static str,
    inode: u64,
    mode: u32,
    modified: (i64, i64),
    content: Vec<u8>,
}

#[derive(Debug)]
pub struct Snapshot {
    things: BTreeMap<PathBuf, Thing>,
    read: BTreeMap<PathBuf, (i64, i64)>,
}

impl Sandbox {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("adv").tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a real path");
        let place = |name: &str| top.join(name);
        let sandbox = Self {
            project: place("project"),
            home: place("home"),
            outside: place("outside"),
            marks: place("marks"),
            traps: place("traps"),
            _dir: dir,
        };
        sandbox.reset();
        sandbox
    }

    /// Everything anew, at the same paths.
    pub fn reset(&self) {
        for folder in [&self.project, &self.home, &self.outside, &self.marks, &self.traps] {
            // A fake may have closed a folder.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
            let _ = fs::remove_dir_all(folder);
            fs::create_dir_all(folder).expect("a folder");
        }
        let marker = format!("#!/bin/sh\necho \"$0 $@\" >> '{}/ran'\n", self.marks.display());
        for name in ["trap", "editor", "fsmonitor", "filter"] {
            script(&self.traps.join(name), &marker);
        }
        script(&self.project.join("tools/trap"), &marker);
        script(&self.project.join("trap"), &marker);
        put(&self.project.join("pyproject.toml"), "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n");
        put(&self.project.join("a.py"), TEXT);
        put(&self.project.join("pkg/b.py"), "def h() -> int:\n    return 3\n");
        put(&self.project.join(".git/HEAD"), "ref: refs/heads/main\n");
        put(&self.project.join(".git/config"), "[core]\n\trepositoryformatversion = 0\n");
        put(&self.project.join(".git/hooks/sample"), "#!/bin/sh\n");
        put(&self.project.join(".env"), &format!("TOKEN={SECRET}\n"));
        put(&self.outside.join("canary.txt"), &format!("outside {SECRET}\n"));
        put(&self.outside.join("canary.py"), &format!("X = '{SECRET}'\n"));
        put(&self.outside.join("deep/canary.txt"), &format!("deep {SECRET}\n"));
        put(&self.home.join(".ssh/id_rsa"), &format!("{SECRET}\n"));
        put(&self.home.join(".bashrc"), &format!("# {SECRET}\n"));
        put(&self.home.join(".config/nvim/init.lua"), &format!("-- {SECRET}\n"));
        put(&self.home.join(".config/sextant/config.toml"), "servers = []\n");
    }

    pub fn configure(&self, text: &str) {
        put(&self.home.join(".config/sextant/config.toml"), text);
    }

    /// Where the record of this project may be, now or in former versions.
    pub fn record(&self) -> Option<PathBuf> {
        let mut found = vec![self.project.join(".sextant")];
        if let Ok(entries) = fs::read_dir(self.home.join(".local/state/sextant/workspaces")) {
            found.extend(entries.flatten().map(|entry| entry.path()));
        }
        found.into_iter().find(|folder| folder.join("memory.db").is_file())
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.traps.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
        command
            .args(arguments)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env("XDG_STATE_HOME", self.home.join(".local/state"))
            .env("LANG", "C.UTF-8")
            .env("DATABASE_URL", SECRET)
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        run(self.command(arguments), arguments)
    }

    /// Everything that may not be touched: outside, the home but for the record, and what the project keeps to itself.
    pub fn snapshot(&self, whole_project: bool) -> Snapshot {
        let mut snapshot = Snapshot { things: BTreeMap::new(), read: BTreeMap::new() };
        let state = self.home.join(".local");
        let mut places = vec![self.outside.clone(), self.home.clone(), self.traps.clone()];
        if whole_project {
            places.push(self.project.clone());
        } else {
            places.extend([self.project.join(".git"), self.project.join(".env")]);
        }
        while let Some(path) = places.pop() {
            if path == state {
                continue;
            }
            let Ok(what) = path.symlink_metadata() else { continue };
            snapshot.read.insert(path.clone(), (what.atime(), what.atime_nsec()));
            let kind = what.file_type();
            let (kind, content) = if kind.is_symlink() {
                ("link", fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes())
            } else if kind.is_dir() {
                places.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
                ("folder", Vec::new())
            } else if kind.is_file() {
                let mut bytes = Vec::new();
                let _ = File::open(&path).and_then(|file| file.take(1 << 20).read_to_end(&mut bytes));
                ("file", bytes)
            } else {
                ("special", Vec::new())
            };
            // A folder's time changes with what is in it, which is looked at itself.
            let modified = if kind == "folder" { (0, 0) } else { (what.mtime(), what.mtime_nsec()) };
            let thing = Thing { kind, inode: what.ino(), mode: what.mode(), modified, content };
            snapshot.things.insert(path, thing);
        }
        snapshot
    }

    /// Gives every file outside and in the home the same old time of its last read, so that a read shows.
    pub fn unread(&self) -> BTreeMap<PathBuf, (i64, i64)> {
        let old = SystemTime::now() - Duration::from_secs(7 * 24 * 3600);
        let mut read = BTreeMap::new();
        let mut places = vec![self.outside.clone(), self.home.join(".ssh"), self.home.join(".bashrc")];
        while let Some(path) = places.pop() {
            let Ok(what) = path.symlink_metadata() else { continue };
            if what.is_dir() {
                places.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            } else if what.is_file()
                && let Ok(file) = File::open(&path)
                && file.set_times(FileTimes::new().set_accessed(old)).is_ok()
            {
                let what = path.symlink_metadata().expect("it is there");
                read.insert(path, (what.atime(), what.atime_nsec()));
            }
        }
        read
    }

    /// What was read of it since.
    pub fn reads(&self, before: &BTreeMap<PathBuf, (i64, i64)>) -> Vec<String> {
        let was_read = |(path, time): (&PathBuf, &(i64, i64))| match path.symlink_metadata() {
            Ok(what) if (what.atime(), what.atime_nsec()) != *time => Some(format!("read: {}", path.display())),
            _ => None,
        };
        before.iter().filter_map(was_read).collect()
    }

    /// The programs that ran and were not to.
    pub fn ran(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.marks).into_iter().flatten().flatten();
        entries.map(|entry| format!("ran: {}", fs::read_to_string(entry.path()).unwrap_or_default().trim())).collect()
    }
}

impl Snapshot {
    /// What is otherwise now.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let gone = self.things.keys().filter(|path| !now.things.contains_key(*path));
        let gone = gone.map(|path| format!("deleted: {}", path.display()));
        let new = now.things.iter().filter_map(|(path, thing)| match self.things.get(path) {
            None => Some(format!("created: {} ({})", path.display(), thing.kind)),
            Some(before) if before != thing => Some(format!("changed: {}", path.display())),
            Some(_) => None,
        });
        gone.chain(new).collect()
    }
}

/// Runs a command to its end, or for [`PATIENCE`].
pub fn run(mut command: Command, arguments: &[&str]) -> Run {
    let start = Instant::now();
    let own = resident(std::process::id()).unwrap_or(0);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary");
    let id = child.id();
    let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let readers = [collect(stdout), collect(stderr)];
    let killed = Arc::new(AtomicBool::new(false));
    let (ended, waits) = mpsc::channel::<()>();
    let guard = std::thread::spawn({
        let killed = Arc::clone(&killed);
        move || {
            let mut most = 0;
            while waits.recv_timeout(Duration::from_millis(10)) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Not waited for yet, so that the id is still this process.
                most = most.max(resident(id).unwrap_or(0));
                if start.elapsed() > PATIENCE && !killed.swap(true, Ordering::SeqCst) {
                    let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
                }
            }
            most
        }
    });
    let used = child.wait4().expect("it ends");
    let took = start.elapsed();
    let _ = ended.send(());
    let sampled = guard.join().expect("it ends");
    let [stdout, stderr] = readers.map(|reader| reader.join().expect("it ends"));
    Run {
        arguments: arguments.iter().map(|part| (*part).to_owned()).collect(),
        status: used.status.code(),
        stdout,
        stderr,
        took,
        processor: used.rusage.utime + used.rusage.stime,
        // The system's own figure begins with what this process used when it started the other.
        memory: if used.rusage.maxrss > own { used.rusage.maxrss } else { sampled },
        killed: killed.load(Ordering::SeqCst),
    }
}

/// The most memory that a process has had so far, in bytes.
fn resident(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// At most so much of an output is kept, in bytes.
const OUTPUT: u64 = 8 << 20;

fn collect(from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.take(OUTPUT).read_to_end(&mut bytes);
        bytes
    })
}

pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

pub fn script(path: &Path, text: &str) {
    put(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
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
    let mut found = escapes(&run.stdout);
    found.extend(escapes(&run.stderr));
    if run.killed {
        found.push(format!("hung: no end after {PATIENCE:?}"));
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
