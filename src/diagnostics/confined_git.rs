//! Confines git to a repository's objects, names and index: its configuration and hooks stay unseen.
//!
//! Configuration can name a program in dozens of keys, and every release of git adds some. So the dangerous keys are
//! not listed: git gets a common folder (`GIT_COMMON_DIR`) of our own. That folder has links to the repository's data,
//! and a configuration with few values. Without those values git would read the data wrongly.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::Command;

use crate::repository_bounds::{self, DATA};
use crate::{environment, program};
use sextant_base::failure::{Failure, FailureKind};

/// The most time for git to report the place of a repository and its setup. It reads a few small files for that.
const SETUP: Duration = Duration::from_secs(5);

/// The most time for any other command.
const LIMIT: Duration = Duration::from_secs(120);

/// Values that git needs to read the objects and names correctly; each is one plain word.
const FORMAT: &[&str] = &["core.repositoryformatversion", "extensions.objectformat", "extensions.refstorage"];

/// Values that set the comparison of the working tree; each is one plain word.
const TREE: &[&str] = &[
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.trustctime",
    "core.checkstat",
];

/// Paths of files that only the user's own configuration may name.
const USER_FILES: &[&str] = &["core.excludesfile", "core.attributesfile"];

/// The git program, and its settings for one repository.
#[derive(Clone, Debug)]
pub struct Confined {
    program: PathBuf,
    /// Absolute folders outside of the repository.
    path: OsString,
    /// `key=value`, for `-c`.
    settings: Vec<String>,
    folder: PathBuf,
    index: PathBuf,
    common: Arc<TempDir>,
}

/// The standard output of a successful git, else the last line of its complaint.
pub type GitOutput = Result<Vec<u8>, String>;

impl Confined {
    /// Finds the repository of a folder; the second part is the top of its working tree.
    ///
    /// # Errors
    /// Without git, a repository or a working tree, or if the configuration claims a working tree elsewhere.
    pub async fn open(here: &Path) -> Result<(Self, PathBuf), Failure> {
        let places = program::places(here, &[], std::env::var_os("PATH").as_deref());
        let program = program::find(&places, "git").ok_or_else(|| {
            let message = "git is not on PATH, apart from folders of the project";
            Failure::new(FailureKind::Config, message, "install git, and put its whole path on PATH")
        })?;
        let path = std::env::join_paths(&places).unwrap_or_default();
        let finder = Finder { program: &program, path: &path, here };
        let top = finder.path("--show-toplevel").await?;
        let top = top.canonicalize().unwrap_or(top);
        let folder = finder.path("--absolute-git-dir").await?;
        let real = here.join(finder.path("--git-common-dir").await?);
        if std::env::var_os("GIT_DIR").is_none() {
            bounded(&top, &folder, &real)?;
        }
        let index = here.join(finder.path("--git-path=index").await?);
        let known = finder.said(&["config", "--list", "--null", "--show-scope"]).await?;
        let known = settings(&known.map_err(|why| unreadable(here, &why))?);
        let common = common(&real, &known.format).map_err(|error| {
            let hint = "make room in the folder for temporary files, or name another one with TMPDIR";
            Failure::new(FailureKind::Config, format!("no temporary folder: {error}"), hint)
        })?;
        let settings = known.tree;
        Ok((Self { program, path, settings, folder, index, common: Arc::new(common) }, top))
    }

    /// Git over a folder as the working tree.
    pub fn command(&self, tree: &Path) -> Command {
        let mut command = started(&self.program, &self.path);
        self.confine(&mut command, tree);
        command.current_dir(tree);
        command
    }

    /// Git for a model's requests, in a folder of the working tree: with few variables, and no pager.
    pub fn for_model(&self, tree: &Path, folder: &Path, named: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        environment::needed_alone(&mut command, named);
        command.env("PATH", &self.path).env("LC_ALL", "C");
        self.confine(&mut command, tree);
        // A read-only command writes nothing, the index included.
        command.args(["-c", "core.pager=cat", "-c", "diff.autoRefreshIndex=false", "-c", "core.untrackedCache=false"]);
        command.current_dir(folder);
        command
    }

    fn confine(&self, command: &mut Command, tree: &Path) {
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("GIT_") && name != "GIT_EXEC_PATH" {
                command.env_remove(name);
            }
        }
        quieten(command);
        // For anything that a later git may find in its folders: no program of the repository's, no data from
        // elsewhere.
        for setting in [
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "core.sparseCheckout=false",
            "submodule.recurse=false",
            "protocol.allow=never",
        ] {
            command.args(["-c", setting]);
        }
        self.settings.iter().for_each(|setting| _ = command.args(["-c", setting]));
        command.env("GIT_DIR", &self.folder).env("GIT_COMMON_DIR", self.common.path()).env("GIT_WORK_TREE", tree);
        command.env("GIT_INDEX_FILE", &self.index).env("GIT_NO_LAZY_FETCH", "1");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    }
}

/// Runs it to its end.
///
/// # Errors
/// If it cannot be started, or does not end.
pub async fn said(command: Command) -> Result<GitOutput, Failure> {
    within(command, LIMIT).await
}

async fn within(mut command: Command, limit: Duration) -> Result<GitOutput, Failure> {
    let output = tokio::time::timeout(limit, command.output()).await.map_err(|_| {
        let message = format!("git did not answer within {} s", limit.as_secs());
        Failure::new(
            FailureKind::Tool,
            message,
            "see whether git status does there; a file that is a pipe would stop it",
        )
    })?;
    let output = output.map_err(|error| {
        Failure::new(FailureKind::Config, format!("git cannot be started: {error}"), "install git, and put it on PATH")
    })?;
    if output.status.success() {
        return Ok(Ok(output.stdout));
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let line = complaint.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    Ok(Err(line.trim_start_matches("fatal: ").to_owned()))
}

/// Git before its repository is known. These commands read configuration, and no value of it is run.
struct Finder<'a> {
    program: &'a Path,
    path: &'a OsString,
    here: &'a Path,
}

impl Finder<'_> {
    async fn said(&self, arguments: &[&str]) -> Result<GitOutput, Failure> {
        let mut command = started(self.program, self.path);
        quieten(&mut command);
        command.args(["-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"]);
        command.args(["-c", "core.hooksPath=/dev/null"]);
        command.args(arguments).current_dir(self.here).env("GIT_NO_LAZY_FETCH", "1");
        within(command, SETUP).await
    }

    async fn path(&self, what: &str) -> Result<PathBuf, Failure> {
        let arguments: Vec<&str> = ["rev-parse"].into_iter().chain(what.splitn(2, '=')).collect();
        let mut line = self.said(&arguments).await?.map_err(|why| unreadable(self.here, &why))?;
        while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            line.pop();
        }
        let hint = "move the repository to a folder with another name";
        let text = String::from_utf8(line);
        text.map(PathBuf::from).map_err(|_| Failure::user("the path of the repository is not UTF-8", hint))
    }
}

fn unreadable(here: &Path, why: &str) -> Failure {
    let message = if why.contains("not a git repository") {
        format!("{} is not in a git repository", here.display())
    } else {
        format!("git cannot read {}: {why}", here.display())
    };
    Failure::user(message, "go to a repository with a working tree, or name one with --root")
}

fn started(program: &Path, path: &OsString) -> Command {
    let mut command = Command::new(program);
    command.env("PATH", path).env("LC_ALL", "C").stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// No pager, no prompt, and no lock that blocks the user's own git.
fn quieten(command: &mut Command) {
    command.arg("--no-pager").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
}

/// Only a repository that names its working tree is read, and only data of its own.
fn bounded(top: &Path, folder: &Path, common: &Path) -> Result<(), Failure> {
    let hint = "set GIT_DIR and GIT_WORK_TREE if this is intended";
    if !repository_bounds::belongs(top, folder, common) {
        let (folder, top) = (folder.display(), top.display());
        return Err(Failure::user(format!("the repository {folder} does not belong to the files in {top}"), hint));
    }
    match repository_bounds::leads_out(top, folder, common) {
        None => Ok(()),
        Some(path) => Err(Failure::user(format!("{} leads out of the repository", path.display()), hint)),
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct KnownRepository {
    /// `key`, `value`: for the configuration of the common folder.
    format: Vec<(String, String)>,
    /// `key=value`, for `-c`.
    tree: Vec<String>,
}

/// Reads `git config --list --null --show-scope`: scope, NUL, key, line feed, value, NUL.
fn settings(list: &[u8]) -> KnownRepository {
    let mut known = KnownRepository::default();
    let mut parts = list.split(|byte| *byte == 0).map(|part| std::str::from_utf8(part).unwrap_or_default());
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        let plain = !value.is_empty() && value.len() <= 20 && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if FORMAT.contains(&key) && plain && scope == "local" {
            known.format.push((key.to_owned(), value.to_owned()));
        } else if TREE.contains(&key) && plain || USER_FILES.contains(&key) && scope != "local" && scope != "worktree" {
            known.tree.push(format!("{key}={value}"));
        }
    }
    known
}

fn common(real: &Path, format: &[(String, String)]) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("sextant-git-").tempdir()?;
    for name in DATA {
        let data = real.join(name);
        if data.exists() {
            std::os::unix::fs::symlink(data.canonicalize()?, folder.path().join(name))?;
        }
    }
    let lines = format.iter().filter_map(|(key, value)| {
        let (section, name) = key.split_once('.')?;
        Some(format!("[{section}]\n\t{name} = {value}\n"))
    });
    std::fs::write(folder.path().join("config"), lines.collect::<String>())?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_values_are_taken_over_and_files_only_from_the_user() {
        let list = "local\0core.repositoryformatversion\n1\0local\0extensions.objectformat\nsha256\0\
            global\0core.excludesfile\n~/.ignore\0local\0core.excludesfile\n/etc/x\0worktree\0core.eol\nlf\0\
            local\0core.fsmonitor\nrm\0local\0core.autocrlf\ninput;rm\0local\0core.filemode\0global\0core.pager\nless\0";
        let known = settings(list.as_bytes());
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            known.format,
            [pair("core.repositoryformatversion", "1"), pair("extensions.objectformat", "sha256")]
        );
        assert_eq!(known.tree, ["core.excludesfile=~/.ignore", "core.eol=lf", "core.filemode=true"]);
    }
}
