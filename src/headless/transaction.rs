//! Writes several files at once, all or none.
//!
//! A finished file takes the place of each old one; a file with several names is overwritten in place.

use std::borrow::Borrow;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, test_kill_process};

use sextant_store::workspace::open_beneath::{FileStamp, Folders, OpenFolder, is_unsupported};

/// The change of one file, by its path below the root. The bytes seen before are compared once more just before the
/// change.
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
    /// The file with this index has changed since it was seen; nothing is changed.
    Moved(usize),
    /// The file with this index cannot be changed; all earlier changes are undone.
    Failed(usize, io::Error),
}

/// A change with its place, which stays the one that was opened, and the new text beside it.
struct StagedChange<'a> {
    change: &'a FileOperation,
    place: OpenFolder,
    /// `None` for a file with several names: a rename would take this name from the others.
    temporary: Option<OpenFolder>,
}

/// One step that can be undone.
struct UndoStep<'a> {
    staged: &'a StagedChange<'a>,
    /// The old file of a deletion or replacement, with its state at that time.
    aside: Option<(OpenFolder, Option<FileStamp>)>,
}

impl UndoStep<'_> {
    /// True if another process that had the old file open has written to it since.
    fn is_overtaken(&self) -> bool {
        self.aside.as_ref().is_some_and(|(aside, stamp)| aside.stamp() != *stamp)
    }
}

/// Carries all changes out below the root, or none. No link is followed on the way to a file, nor at its end.
pub(super) fn commit(root: &Path, changes: &[impl Borrow<FileOperation>]) -> Result<(), Refused> {
    let mut folders = Folders::new(root).map_err(|error| Refused::Failed(0, error))?;
    let mut staged: Vec<StagedChange<'_>> = Vec::new();
    let mut outcome = Ok(());
    for (index, change) in changes.iter().map(Borrow::borrow).enumerate() {
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
    if let (Ok(()), Some(index)) = (&outcome, done.iter().position(UndoStep::is_overtaken)) {
        outcome = Err(Refused::Moved(index));
    }
    if outcome.is_err() {
        done.iter().rev().for_each(undo);
    } else {
        done.iter().filter_map(|done| done.aside.as_ref()).for_each(|(aside, _)| remove(aside));
    }
    // The renamed files are gone from here, and a leftover must not stay.
    staged.iter().filter_map(|staged| staged.temporary.as_ref()).for_each(remove);
    if outcome.is_err() {
        folders.unmake();
    }
    outcome
}

/// A file that was seen counts as moved if it, or its folder, is not there any more.
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
fn stage<'a>(change: &'a FileOperation, folders: &mut Folders) -> io::Result<StagedChange<'a>> {
    let place = folders.place(change.path(), matches!(change, FileOperation::Create { .. }))?;
    let (bytes, mode) = match change {
        FileOperation::Delete { .. } => return Ok(StagedChange { change, place, temporary: None }),
        FileOperation::Write { bytes, .. } => {
            let there = place.read()?;
            if there.names > 1 {
                return Ok(StagedChange { change, place, temporary: None });
            }
            (bytes, Some(there.mode))
        }
        FileOperation::Create { bytes, .. } => (bytes, None),
    };
    let temporary = hidden(&place);
    let written = temporary.create(bytes, mode);
    if written.is_err() {
        remove(&temporary);
    }
    written.map(|()| StagedChange { change, place, temporary: Some(temporary) })
}

fn replace<'a>(staged: &'a [StagedChange<'a>], done: &mut Vec<UndoStep<'a>>) -> Result<(), Refused> {
    for (index, StagedChange { change, place, .. }) in staged.iter().enumerate() {
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
        done.push(UndoStep { staged: one, aside });
    }
    Ok(())
}

/// Makes one change, and returns the old file, if there is one. A file may have been saved, moved or written since it
/// was looked at. The old file itself shows this: it is looked at again as soon as its name is another.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the file is not as it was seen; nothing is changed then.
fn step(staged: &StagedChange<'_>) -> io::Result<Option<(OpenFolder, Option<FileStamp>)>> {
    let StagedChange { change, place, temporary } = staged;
    match (change, temporary) {
        (FileOperation::Write { seen, bytes, .. }, None) => {
            place.overwrite(seen, bytes).inspect_err(|error| {
                // A full disk, for one, has cut the write off: the old text fits.
                if error.kind() != io::ErrorKind::AlreadyExists {
                    put_back(place, seen);
                }
            })?;
            Ok(None)
        }
        (FileOperation::Write { seen, bytes, .. }, Some(temporary)) => match temporary.exchange_with(place) {
            Ok(()) => {
                let stamp = temporary.stamp();
                if temporary.read().is_ok_and(|old| old.bytes == *seen) {
                    return Ok(Some((temporary.clone(), stamp)));
                }
                give_back(place, temporary, bytes);
                Err(moved())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(moved()),
            Err(error) if is_unsupported(&error) => {
                if !place.read().is_ok_and(|now| now.bytes == *seen) {
                    return Err(moved());
                }
                temporary.rename_to(place).map(|()| None)
            }
            Err(error) => Err(error),
        },
        // A link never replaces an existing file, as a rename would.
        (FileOperation::Create { .. }, Some(temporary)) => match temporary.link_to(place) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => temporary.rename_to(place).map(|()| None),
            linked => linked.map(|()| None),
        },
        (FileOperation::Delete { seen, .. }, _) => {
            let aside = hidden(place);
            place.rename_to(&aside)?;
            let stamp = aside.stamp();
            if aside.read().is_ok_and(|old| old.bytes == *seen) {
                return Ok(Some((aside, stamp)));
            }
            // This never overwrites a file that has the name by now.
            if aside.link_to(place).is_ok() {
                remove(&aside);
            }
            Err(moved())
        }
        (FileOperation::Create { .. }, None) => Err(io::Error::other("nothing was written for it")),
    }
}

fn moved() -> io::Error {
    io::ErrorKind::AlreadyExists.into()
}

/// Takes Sextant's text out of a place again, for the file that had it.
fn give_back(place: &OpenFolder, old: &OpenFolder, ours: &[u8]) {
    if let Err(error) = old.exchange_with(place) {
        tracing::error!(file = ?place.name(), %error, "a file could not be given its name back");
    } else if old.read().is_ok_and(|now| now.bytes != ours) {
        // The file that came out has another text: the user has saved over it in between, and that is the newest.
        let _ = old.exchange_with(place);
    }
}

fn put_back(place: &OpenFolder, seen: &[u8]) {
    let put = place.read().and_then(|now| place.overwrite(&now.bytes, seen));
    if let Err(error) = put {
        tracing::error!(file = ?place.name(), %error, "a text could not be put back");
    }
}

fn undo(done: &UndoStep<'_>) {
    let StagedChange { change, place, temporary } = done.staged;
    let undone = match (change, &done.aside) {
        (FileOperation::Create { .. }, _) => place.remove(),
        (FileOperation::Delete { .. }, Some((aside, _))) => aside.rename_to(place),
        (FileOperation::Delete { .. }, None) => Ok(()),
        (FileOperation::Write { bytes, .. }, Some((aside, _))) => {
            give_back(place, aside, bytes);
            Ok(())
        }
        (FileOperation::Write { seen, bytes, .. }, None) if temporary.is_none() => place.overwrite(bytes, seen),
        (FileOperation::Write { seen, .. }, None) => place.read().and_then(|now| {
            let temporary = hidden(place);
            temporary.create(seen, Some(now.mode))?;
            temporary.rename_to(place)
        }),
    };
    if let Err(error) = undone {
        tracing::error!(path = done.staged.change.path(), %error, "a change could not be taken back");
    }
}

/// The mark between a file's name and the id of the process that works beside it.
const BESIDE: &str = ".sextant-";

fn prefix(place: &OpenFolder) -> OsString {
    let mut name = OsString::from(".");
    name.push(place.name());
    name.push(BESIDE);
    name
}

/// Removes a dead process's leftovers beside a file. They are a new text that was not moved into its place, or an old
/// file that was moved out of it. Regular files only.
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

/// An unused name in the same folder.
fn hidden(place: &OpenFolder) -> OpenFolder {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = prefix(place);
    name.push(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    place.beside(name)
}

#[cfg(test)]
mod tests;
