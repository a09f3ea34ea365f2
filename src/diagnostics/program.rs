//! Finds and starts other programs, and ends them together with all their children.
//!
//! Not with `process-wrap`: dropping its handle kills the leader of a group alone. Here a dropped future or runtime
//! ends the whole group, even one whose leader is gone already.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The folders to search, in order. `directories` are trusted. Of `path` (the value of `PATH`), relative folders and
/// those inside the project or its repository are skipped. So a repository cannot bring its own executables to be run.
pub fn places(root: &Path, directories: &[PathBuf], path: Option<&OsStr>) -> Vec<PathBuf> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let repository = root.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    let fence = repository.unwrap_or(&root);
    let outside = |directory: &PathBuf| {
        directory.is_absolute() && directory.canonicalize().is_ok_and(|real| !real.starts_with(fence))
    };
    let mut places = directories.to_vec();
    places.extend(path.map(|path| std::env::split_paths(path).filter(outside).collect::<Vec<_>>()).unwrap_or_default());
    places
}

/// The first executable file of that name.
pub fn find(places: &[PathBuf], program: &str) -> Option<PathBuf> {
    places.iter().map(|place| place.join(program)).find(|file| is_program(file))
}

/// A program to start in a folder of the project: one with a whole path, and with a `PATH` without relative folders. A
/// program that it starts by name (`env node`) would otherwise be searched in the project.
///
/// # Errors
/// If the program is named by less than its whole path.
pub fn command(program: &Path) -> std::io::Result<tokio::process::Command> {
    if !program.is_absolute() {
        let why = if program.components().count() > 1 {
            "is not a whole path, and in another project would be another program"
        } else {
            "is not on PATH, apart from folders of the project"
        };
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, format!("{} {why}", program.display())));
    }
    let mut command = tokio::process::Command::new(program);
    whole_path(&mut command);
    Ok(command)
}

/// Gives a program our `PATH` without its relative folders.
pub fn whole_path(command: &mut tokio::process::Command) {
    if let Some(path) = std::env::var_os("PATH") {
        let whole = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        command.env("PATH", std::env::join_paths(whole).unwrap_or_default());
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A program that leads its own process group, with all its children; they end when this is dropped, even if the
/// runtime is torn down.
pub struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    pub(crate) fn of(child: &Child) -> Self {
        child.id().map_or(Self(None), Self::of_id)
    }

    /// By the id of its leader; 0 means no group.
    pub fn of_id(leader: u32) -> Self {
        Self(i32::try_from(leader).ok().and_then(Pid::from_raw))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Usually nothing of the group is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
