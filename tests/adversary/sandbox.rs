//! A project, a home and a place outside, with canaries: what was touched, run, said and used.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::measure::{Run, run};

/// What no request, prompt or log may ever show.
pub const SECRET: &str = "CANARY-SECRET-5d1f";

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
        run(self.command(arguments))
    }

    /// Everything that may not be touched: outside, the home but for the record, and what the project keeps to itself.
    pub fn snapshot(&self, whole_project: bool) -> Snapshot {
        let mut snapshot = Snapshot { things: BTreeMap::new(), read: BTreeMap::new() };
        // Where its own state is, and where its session can be found while it runs.
        let own = [self.home.join(".local"), self.home.join("runtime")];
        let mut places = vec![self.outside.clone(), self.home.clone(), self.traps.clone()];
        if whole_project {
            places.push(self.project.clone());
        } else {
            places.extend([self.project.join(".git"), self.project.join(".env")]);
        }
        while let Some(path) = places.pop() {
            if own.contains(&path) {
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

pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

pub fn script(path: &Path, text: &str) {
    put(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}
