//! Other programs: where they are looked for, and that they end together with all that they started.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The folders to search, in order. `directories` are trusted; of `path` (the value of `PATH`) those inside the
/// project are passed over, so that a repository cannot bring its own executables to be run.
pub fn places(root: &Path, directories: &[PathBuf], path: Option<&OsStr>) -> Vec<PathBuf> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let outside = |directory: &PathBuf| {
        directory.is_absolute() && directory.canonicalize().is_ok_and(|real| !real.starts_with(&root))
    };
    let mut places = directories.to_vec();
    places.extend(path.map(|path| std::env::split_paths(path).filter(outside).collect::<Vec<_>>()).unwrap_or_default());
    places
}

/// The first executable file of that name.
pub fn find(places: &[PathBuf], program: &str) -> Option<PathBuf> {
    places.iter().map(|place| place.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A program that leads its own process group, with all that it started; they end with this, also where the runtime
/// is torn down.
pub(crate) struct Group(Option<Pid>);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Nothing left of the group is the usual case.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
