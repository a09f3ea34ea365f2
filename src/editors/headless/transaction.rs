//! Several files written at once: all of them or none, each by renaming a finished file into its place.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, test_kill_process};

use crate::workspace::beneath::{Folders, OpenFolder};

/// What is to become of one file, by its path below the root. The bytes seen before are compared once more just before
/// the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileOperation {
    Write { path: String, seen: Vec<u8>, bytes: Vec<u8> },
    Create { path: String, bytes: Vec<u8> },
    Delete { path: String, seen: Vec<u8> },
}

impl FileOperation {
    fn path(&self) -> &str {
        match self {
            Self::Write { path, .. } | Self::Create { path, .. } | Self::Delete { path, .. } => path,
        }
    }
}

#[derive(Debug)]
pub(super) enum Refused {
    /// The file with this index is not as it was seen; nothing is changed.
    Moved(usize),
    /// The file with this index cannot be changed; what was changed is back as it was.
    Failed(usize, io::Error),
}

/// A change with its place, which stays the one that was opened, and the new text beside it.
struct Staged<'a> {
    change: &'a FileOperation,
    place: OpenFolder,
    temporary: Option<OpenFolder>,
}

/// One step that can be taken back.
struct Done<'a> {
    staged: &'a Staged<'a>,
    /// The old file of one that was deleted.
    aside: Option<OpenFolder>,
}

/// Carries all changes out below the root, or none. No link is followed on the way to a file, nor at its end.
pub(super) fn commit(root: &Path, changes: &[FileOperation]) -> Result<(), Refused> {
    let mut folders = Folders::new(root).map_err(|error| Refused::Failed(0, error))?;
    let mut staged: Vec<Staged<'_>> = Vec::new();
    let mut outcome = Ok(());
    for (index, change) in changes.iter().enumerate() {
        match stage(change, &mut folders) {
            Ok(one) => staged.push(one),
            Err(error) => {
                outcome = Err(refusal(index, change, error));
                break;
            }
        }
    }
    let mut done = Vec::new();
    if outcome.is_ok() {
        outcome = replace(&staged, &mut done);
    }
    if outcome.is_err() {
        done.iter().rev().for_each(undo);
    } else {
        done.iter().filter_map(|done| done.aside.as_ref()).for_each(remove);
    }
    // What could be renamed is gone from here, and a leftover must not stay.
    staged.iter().filter_map(|staged| staged.temporary.as_ref()).for_each(remove);
    if outcome.is_err() {
        folders.unmake();
    }
    outcome
}

/// A file that was seen and is not there any more, nor its folder, has moved.
fn refusal(index: usize, change: &FileOperation, error: io::Error) -> Refused {
    match (change, error.kind()) {
        (FileOperation::Write { .. } | FileOperation::Delete { .. }, io::ErrorKind::NotFound) => Refused::Moved(index),
        _ => Refused::Failed(index, error),
    }
}

fn remove(place: &OpenFolder) {
    if let Err(error) = place.remove()
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(file = ?place.name(), %error, "a temporary file stays behind");
    }
}

/// Writes the new content beside its place, with the permissions of the old file.
fn stage<'a>(change: &'a FileOperation, folders: &mut Folders) -> io::Result<Staged<'a>> {
    let place = folders.place(change.path(), matches!(change, FileOperation::Create { .. }))?;
    let (bytes, mode) = match change {
        FileOperation::Delete { .. } => return Ok(Staged { change, place, temporary: None }),
        FileOperation::Write { bytes, .. } => (bytes, Some(place.read()?.mode)),
        FileOperation::Create { bytes, .. } => (bytes, None),
    };
    let temporary = hidden(&place);
    let written = temporary.create(bytes, mode);
    if written.is_err() {
        remove(&temporary);
    }
    written.map(|()| Staged { change, place, temporary: Some(temporary) })
}

fn replace<'a>(staged: &'a [Staged<'a>], done: &mut Vec<Done<'a>>) -> Result<(), Refused> {
    for (index, Staged { change, place, .. }) in staged.iter().enumerate() {
        let moved = match change {
            FileOperation::Write { seen, .. } | FileOperation::Delete { seen, .. } => {
                !place.read().is_ok_and(|now| now.bytes == *seen)
            }
            FileOperation::Create { .. } => place.exists(),
        };
        if moved {
            return Err(Refused::Moved(index));
        }
    }
    for (index, one) in staged.iter().enumerate() {
        let aside = step(one).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Refused::Moved(index),
            _ => Refused::Failed(index, error),
        })?;
        done.push(Done { staged: one, aside });
    }
    Ok(())
}

fn step(staged: &Staged<'_>) -> io::Result<Option<OpenFolder>> {
    let Staged { change, place, temporary } = staged;
    match (change, temporary) {
        (FileOperation::Write { .. }, Some(temporary)) => temporary.rename_to(place).map(|()| None),
        // A link never replaces what stands there, as a rename would.
        (FileOperation::Create { .. }, Some(temporary)) => match temporary.link_to(place) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => temporary.rename_to(place).map(|()| None),
            linked => linked.map(|()| None),
        },
        (FileOperation::Delete { .. }, _) => {
            let aside = hidden(place);
            place.rename_to(&aside).map(|()| Some(aside))
        }
        (_, None) => Err(io::Error::other("nothing was written for it")),
    }
}

fn undo(done: &Done<'_>) {
    let place = &done.staged.place;
    let undone = match (done.staged.change, &done.aside) {
        (FileOperation::Create { .. }, _) => place.remove(),
        (FileOperation::Delete { .. }, Some(aside)) => aside.rename_to(place),
        (FileOperation::Delete { .. }, None) => Ok(()),
        (FileOperation::Write { seen, .. }, _) => place.read().and_then(|now| {
            let temporary = hidden(place);
            temporary.create(seen, Some(now.mode))?;
            temporary.rename_to(place)
        }),
    };
    if let Err(error) = undone {
        tracing::error!(path = done.staged.change.path(), %error, "a change could not be taken back");
    }
}

/// What stands between a file's name and the process that works beside it.
const BESIDE: &str = ".sextant-";

fn prefix(place: &OpenFolder) -> OsString {
    let mut name = OsString::from(".");
    name.push(place.name());
    name.push(BESIDE);
    name
}

/// Removes what a process that is dead has left beside a file: a new text that was not moved into its place,
/// or an old file that was moved out of it. Regular files only.
pub(super) fn sweep(root: &Path, path: &str) {
    let Ok(place) = Folders::new(root).and_then(|mut folders| folders.place(path, false)) else { return };
    let prefix = prefix(&place);
    for found in place.siblings(&prefix) {
        let owner = found.name().to_str().zip(prefix.to_str()).and_then(|(name, prefix)| name.strip_prefix(prefix));
        let pid = owner.and_then(|owner| owner.split('-').next()?.parse::<i32>().ok()).and_then(Pid::from_raw);
        let dead = |pid| test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH);
        if pid.is_some_and(|pid| pid.as_raw_nonzero().get().unsigned_abs() != std::process::id() && dead(pid)) {
            remove(&found);
        }
    }
}

/// A name in the same folder that nobody uses.
fn hidden(place: &OpenFolder) -> OpenFolder {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = prefix(place);
    name.push(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    place.beside(name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn all_changes_are_made_and_permissions_kept() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("a"), "old").unwrap();
        fs::set_permissions(at("a"), fs::Permissions::from_mode(0o751)).unwrap();
        fs::write(at("b"), "gone").unwrap();
        let changes = [
            FileOperation::Write { path: "a".into(), seen: b"old".into(), bytes: b"new".into() },
            FileOperation::Delete { path: "b".into(), seen: b"gone".into() },
            FileOperation::Create { path: "x/y/c".into(), bytes: b"c".into() },
        ];
        commit(root.path(), &changes).unwrap();
        assert_eq!(names(root.path()), ["a", "x"]);
        assert_eq!(fs::read_to_string(at("a")).unwrap(), "new");
        assert_eq!(fs::metadata(at("a")).unwrap().permissions().mode() & 0o777, 0o751);
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
        sweep(root.path(), "a");
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
            FileOperation::Write { path: "a".into(), seen: b"a".into(), bytes: b"new".into() },
            FileOperation::Create { path: "deep/er/c".into(), bytes: b"c".into() },
            FileOperation::Delete { path: "b".into(), seen: b"b".into() },
        ];
        let bad = [
            (FileOperation::Write { path: "a".into(), seen: b"other".into(), bytes: vec![] }, true),
            (FileOperation::Create { path: "b".into(), bytes: vec![] }, true),
            (FileOperation::Delete { path: "none".into(), seen: vec![] }, true),
            (FileOperation::Create { path: "a/below/a/file".into(), bytes: vec![] }, false),
        ];
        for (bad, moved) in bad {
            let changes: Vec<FileOperation> = good.iter().cloned().chain([bad]).collect();
            let refused = commit(root.path(), &changes).unwrap_err();
            assert_eq!(matches!(refused, Refused::Moved(3)), moved, "{refused:?}");
            assert_eq!(names(root.path()), ["a", "b", "full"]);
            assert_eq!(fs::read(at("a")).unwrap(), b"a");
        }
        // The same file twice: the second step fails after the first was made.
        let twice = [good[0].clone(), good[2].clone(), good[2].clone()];
        assert!(matches!(commit(root.path(), &twice), Err(Refused::Failed(2, _))));
        assert_eq!((fs::read(at("a")).unwrap(), fs::read(at("b")).unwrap()), (b"a".to_vec(), b"b".to_vec()));
        assert_eq!(names(root.path()), ["a", "b", "full"]);
    }

    #[test]
    fn no_link_is_followed_and_nothing_is_written_where_one_stands() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("root/src")).unwrap();
        fs::create_dir(at("other")).unwrap();
        for file in ["root/a", "other/a"] {
            fs::write(at(file), "a").unwrap();
        }
        symlink(at("other"), at("root/out")).unwrap();
        symlink(at("other/a"), at("root/link")).unwrap();
        for path in ["out/a", "link", "../other/a", "out/deep/a"] {
            for change in [
                FileOperation::Write { path: path.into(), seen: b"a".into(), bytes: b"new".into() },
                FileOperation::Create { path: format!("{path}x"), bytes: b"new".into() },
                FileOperation::Delete { path: path.into(), seen: b"a".into() },
            ] {
                if path == "link" && matches!(change, FileOperation::Create { .. }) {
                    continue;
                }
                assert!(commit(&at("root"), std::slice::from_ref(&change)).is_err(), "{change:?}");
                sweep(&at("root"), path);
            }
        }
        assert_eq!((names(&at("other")), fs::read(at("other/a")).unwrap()), (vec!["a".to_owned()], b"a".to_vec()));
        assert_eq!(names(&at("root")), ["a", "link", "out", "src"]);
    }
}
