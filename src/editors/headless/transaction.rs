//! Several files written at once: all of them or none, each by renaming a finished file into its place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, test_kill_process};

/// What is to become of one file. The bytes seen before are compared once more just before the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Write { path: PathBuf, seen: Vec<u8>, bytes: Vec<u8> },
    Create { path: PathBuf, bytes: Vec<u8> },
    Delete { path: PathBuf, seen: Vec<u8> },
}

impl Change {
    fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. } | Self::Create { path, .. } | Self::Delete { path, .. } => path,
        }
    }
}

#[derive(Debug)]
pub enum Refused {
    /// The file with this index is not as it was seen; nothing is changed.
    Moved(usize),
    /// The file with this index cannot be changed; what was changed is back as it was.
    Failed(usize, io::Error),
}

/// One step that can be taken back.
struct Done<'a> {
    change: &'a Change,
    /// The old file of one that was deleted.
    aside: Option<PathBuf>,
}

/// Carries all changes out, or none. Symbolic links are followed: the file behind them changes.
pub fn commit(changes: &[Change]) -> Result<(), Refused> {
    let mut folders = Vec::new();
    let mut staged: Vec<Option<PathBuf>> = Vec::new();
    let mut outcome = Ok(());
    for (index, change) in changes.iter().enumerate() {
        match stage(change, &mut folders) {
            Ok(temporary) => staged.push(temporary),
            Err(error) => {
                outcome = Err(Refused::Failed(index, error));
                break;
            }
        }
    }
    let mut done = Vec::new();
    if outcome.is_ok() {
        outcome = replace(changes, &staged, &mut done);
    }
    if outcome.is_err() {
        done.iter().rev().for_each(undo);
    }
    // What could be renamed is gone from here, and a leftover must not stay.
    staged.iter().flatten().for_each(remove);
    if outcome.is_err() {
        folders.iter().rev().for_each(|folder: &PathBuf| drop(fs::remove_dir(folder)));
    } else {
        done.iter().filter_map(|done| done.aside.as_ref()).for_each(remove);
    }
    outcome
}

fn remove(path: &PathBuf) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "a temporary file stays behind");
    }
}

/// Writes the new content beside its place, with the permissions of the old file.
fn stage(change: &Change, folders: &mut Vec<PathBuf>) -> io::Result<Option<PathBuf>> {
    let (bytes, permissions) = match change {
        Change::Delete { .. } => return Ok(None),
        Change::Write { path, bytes, .. } => (bytes, Some(fs::metadata(path)?.permissions())),
        Change::Create { path, bytes } => {
            create_folders(path.parent().unwrap_or(Path::new(".")), folders)?;
            (bytes, None)
        }
    };
    let temporary = beside(&real(change.path())?)?;
    let written = write(&temporary, bytes, permissions);
    if written.is_err() {
        remove(&temporary);
    }
    written.map(|()| Some(temporary))
}

fn write(path: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

fn create_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    Ok(())
}

fn replace<'a>(changes: &'a [Change], staged: &[Option<PathBuf>], done: &mut Vec<Done<'a>>) -> Result<(), Refused> {
    for (index, change) in changes.iter().enumerate() {
        let moved = match change {
            Change::Write { path, seen, .. } | Change::Delete { path, seen } => {
                !fs::read(path).is_ok_and(|now| now == *seen)
            }
            Change::Create { path, .. } => path.symlink_metadata().is_ok(),
        };
        if moved {
            return Err(Refused::Moved(index));
        }
    }
    for (index, (change, temporary)) in changes.iter().zip(staged).enumerate() {
        let aside = step(change, temporary.as_deref()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Refused::Moved(index),
            _ => Refused::Failed(index, error),
        })?;
        done.push(Done { change, aside });
    }
    Ok(())
}

fn step(change: &Change, temporary: Option<&Path>) -> io::Result<Option<PathBuf>> {
    match (change, temporary) {
        (Change::Write { path, .. }, Some(temporary)) => fs::rename(temporary, real(path)?).map(|()| None),
        // A link never replaces what stands there, as a rename would.
        (Change::Create { path, .. }, Some(temporary)) => match fs::hard_link(temporary, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => fs::rename(temporary, path).map(|()| None),
            linked => linked.map(|()| None),
        },
        (Change::Delete { path, .. }, _) => {
            let aside = beside(path)?;
            fs::rename(path, &aside).map(|()| Some(aside))
        }
        (_, None) => Err(io::Error::other("nothing was written for it")),
    }
}

fn undo(done: &Done<'_>) {
    let path = done.change.path();
    let undone = match (done.change, &done.aside) {
        (Change::Create { .. }, _) => fs::remove_file(path),
        (Change::Delete { .. }, Some(aside)) => fs::rename(aside, path),
        (Change::Delete { .. }, None) => Ok(()),
        (Change::Write { seen, .. }, _) => real(path).and_then(|path| {
            let temporary = beside(&path)?;
            write(&temporary, seen, Some(fs::metadata(&path)?.permissions()))?;
            fs::rename(&temporary, &path)
        }),
    };
    if let Err(error) = undone {
        tracing::error!(path = %path.display(), %error, "a change could not be taken back");
    }
}

/// The file behind a link; a file that does not exist yet stands for itself.
fn real(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        found => found,
    }
}

/// What stands between a file's name and the process that works beside it.
const BESIDE: &str = ".sextant-";

/// Removes what a process that is dead has left beside a file: a new text that was not moved into its place,
/// or an old file that was moved out of it.
pub fn sweep(path: &Path) {
    let (Ok(path), Some(name)) = (real(path), path.file_name().and_then(|name| name.to_str())) else { return };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(name);
    let prefix = format!(".{name}{BESIDE}");
    let Some(Ok(entries)) = path.parent().map(fs::read_dir) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let owner = entry.file_name().to_str().and_then(|found| found.strip_prefix(&prefix).map(str::to_owned));
        let pid = owner.and_then(|owner| owner.split('-').next()?.parse::<i32>().ok()).and_then(Pid::from_raw);
        let dead = |pid| test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH);
        if pid.is_some_and(|pid| pid.as_raw_nonzero().get().unsigned_abs() != std::process::id() && dead(pid)) {
            remove(&entry.path());
        }
    }
}

/// A name in the same folder that nobody uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!("{BESIDE}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn all_changes_are_made_and_permissions_and_links_kept() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("a"), "old").unwrap();
        fs::set_permissions(at("a"), fs::Permissions::from_mode(0o751)).unwrap();
        symlink(at("a"), at("link")).unwrap();
        fs::write(at("b"), "gone").unwrap();
        let changes = [
            Change::Write { path: at("link"), seen: b"old".into(), bytes: b"new".into() },
            Change::Delete { path: at("b"), seen: b"gone".into() },
            Change::Create { path: at("x/y/c"), bytes: b"c".into() },
        ];
        commit(&changes).unwrap();
        assert_eq!(names(root.path()), ["a", "link", "x"]);
        assert_eq!(fs::read_to_string(at("a")).unwrap(), "new");
        assert_eq!(fs::metadata(at("a")).unwrap().permissions().mode() & 0o777, 0o751);
        assert!(at("link").is_symlink());
        assert_eq!(names(&at("x/y")), ["c"]);
    }

    #[test]
    fn what_a_dead_process_left_is_swept_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let (dead, own) = (gone.id(), std::process::id());
        let (left, ours, other) =
            (format!(".a.sextant-{dead}-0"), format!(".a.sextant-{own}-9"), format!(".b.sextant-{dead}-0"));
        for name in ["a", &left, &ours, &other, ".a.sextant-x"] {
            fs::write(at(name), "").unwrap();
        }
        sweep(&at("a"));
        let mut kept = vec!["a".to_owned(), ours, other, ".a.sextant-x".to_owned()];
        kept.sort();
        assert_eq!(names(root.path()), kept);
    }

    #[test]
    fn one_refusal_leaves_every_file_and_folder_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "b").unwrap();
        fs::create_dir(at("full")).unwrap();
        fs::write(at("full/x"), "x").unwrap();
        let good = [
            Change::Write { path: at("a"), seen: b"a".into(), bytes: b"new".into() },
            Change::Create { path: at("deep/er/c"), bytes: b"c".into() },
            Change::Delete { path: at("b"), seen: b"b".into() },
        ];
        let bad = [
            (Change::Write { path: at("a"), seen: b"other".into(), bytes: vec![] }, true),
            (Change::Create { path: at("b"), bytes: vec![] }, true),
            (Change::Delete { path: at("none"), seen: vec![] }, true),
            (Change::Create { path: at("a/below/a/file"), bytes: vec![] }, false),
        ];
        for (bad, moved) in bad {
            let changes: Vec<Change> = good.iter().cloned().chain([bad]).collect();
            let refused = commit(&changes).unwrap_err();
            assert_eq!(matches!(refused, Refused::Moved(3)), moved, "{refused:?}");
            assert_eq!(names(root.path()), ["a", "b", "full"]);
            assert_eq!(fs::read(at("a")).unwrap(), b"a");
        }
        // The same file twice: the second step fails after the first was made.
        let twice = [good[0].clone(), good[2].clone(), good[2].clone()];
        assert!(matches!(commit(&twice), Err(Refused::Failed(2, _))));
        assert_eq!((fs::read(at("a")).unwrap(), fs::read(at("b")).unwrap()), (b"a".to_vec(), b"b".to_vec()));
        assert_eq!(names(root.path()), ["a", "b", "full"]);
    }
}
