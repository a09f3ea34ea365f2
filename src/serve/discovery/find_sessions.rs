//! Finds the live sessions: entries whose process holds its lock. Leftovers of dead processes are removed.

use std::fs::{self, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::discovery::{KEY, SessionEntry, VERSION, is_name, key};
use sextant_base::failure::Failure;
use sextant_base::private_files;

/// The largest entry, in bytes.
const ENTRY_BYTES: u64 = 64 << 10;
/// The most files of a folder that are looked at.
const FILES: usize = 4096;

/// The sessions that were found, the last used first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSessions {
    pub entries: Vec<SessionEntry>,
    /// Files in the place of an entry that cannot be read as one, described for a reader.
    pub problems: Vec<String>,
}

/// The sessions of a workspace. Blocks for a moment.
pub fn of_root(folders: &[PathBuf], root: &Path) -> FoundSessions {
    collect(folders.iter().map(|folder| folder.join(key(root))))
}

/// The sessions of a workspace, then those of the workspaces that it lies in, the nearest first. Sessions of the user's
/// home folder or above it are left out. A request in a project is not meant for everything that the user has. Blocks
/// for a moment.
pub fn around(folders: &[PathBuf], root: &Path, home: Option<&Path>) -> FoundSessions {
    let mut found = of_root(folders, root);
    for outer in root.ancestors().skip(1).take_while(|outer| home.is_none_or(|home| !home.starts_with(outer))) {
        let more = of_root(folders, outer);
        found.entries.extend(more.entries);
        found.problems.extend(more.problems);
    }
    found
}

/// The sessions whose workspace is this one, lies in it or around it; they may have a file of it open. Blocks for a
/// moment.
pub fn related(folders: &[PathBuf], root: &Path) -> FoundSessions {
    let mut found = everywhere(folders);
    found.entries.retain(|entry| entry.root.starts_with(root) || root.starts_with(&entry.root));
    found
}

/// The sessions of every workspace.
pub fn everywhere(folders: &[PathBuf]) -> FoundSessions {
    let inside = |folder: &PathBuf| -> Vec<PathBuf> {
        let Ok(()) = is_ours(folder) else { return Vec::new() };
        let Ok(listed) = fs::read_dir(folder) else { return Vec::new() };
        let listed = listed.take(FILES).flatten();
        listed.filter(|entry| entry.file_name().len() == KEY).map(|entry| entry.path()).collect()
    };
    collect(folders.iter().flat_map(inside))
}

fn collect(folders: impl Iterator<Item = PathBuf>) -> FoundSessions {
    let mut dated: Vec<(i128, SessionEntry)> = Vec::new();
    let mut problems = Vec::new();
    for folder in folders {
        if folder.symlink_metadata().is_err() {
            continue;
        }
        if let Err(error) = folder.parent().map_or(Ok(()), is_ours).and_then(|()| is_ours(&folder)) {
            problems.push(format!("{}: {error}", folder.display()));
            continue;
        }
        for name in names(&folder) {
            match look(&folder, &name) {
                Ok(Some(found)) => dated.push(found),
                Ok(None) => {}
                Err(why) => problems.push(format!("{}: {why}", folder.join(format!("{name}.json")).display())),
            }
        }
    }
    dated.sort_by(|(one, _), (other, _)| other.cmp(one));
    FoundSessions { entries: dated.into_iter().map(|(_, entry)| entry).collect(), problems }
}

/// An error unless this is a folder of this user alone, and not a link to one.
fn is_ours(folder: &Path) -> io::Result<()> {
    let found = folder.symlink_metadata()?;
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    match (found.is_dir(), ours, found.mode() & 0o077) {
        (true, true, 0) => Ok(()),
        (false, ..) => Err(io::Error::other("it is no folder")),
        (_, false, _) => Err(io::Error::other("it belongs to another user")),
        _ => Err(io::Error::other("others can enter it")),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).into_iter().flatten().take(FILES).flatten();
    let names = listed.filter_map(|file| file.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(".json").filter(|name| is_name(name)).map(str::to_owned)).collect()
}

/// An entry with the time of its last use; `None` for an entry of a dead process.
fn look(folder: &Path, name: &str) -> Result<Option<(i128, SessionEntry)>, String> {
    let path = folder.join(format!("{name}.json"));
    let words = |error: io::Error| error.to_string();
    let mut file = match private_files::open(&path, false) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(words(error)),
    };
    match file.try_lock() {
        Ok(()) => {
            remove(folder, name);
            return Ok(None);
        }
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(words(error)),
    }
    let mut text = Vec::new();
    Read::by_ref(&mut file).take(ENTRY_BYTES).read_to_end(&mut text).map_err(words)?;
    let entry: SessionEntry = serde_json::from_slice(&text).map_err(|error| format!("it is no entry: {error}"))?;
    if entry.version != VERSION {
        return Err(format!("it is of version {}, and this is {VERSION}: restart the older of the two", entry.version));
    }
    let in_its_place = folder.file_name().is_some_and(|folder| *folder == *key(&entry.root))
        && entry.name == name
        && entry.socket == folder.join(format!("{name}.sock"))
        && entry.port.as_ref().is_none_or(|port| port.token_file == folder.join(format!("{name}.token")));
    if !in_its_place {
        return Err("it is not where it belongs".to_owned());
    }
    let used = file.metadata().and_then(|about| about.modified()).map_err(words)?;
    let used = used.duration_since(UNIX_EPOCH).map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0));
    Ok(Some((used, entry)))
}

fn remove(folder: &Path, name: &str) {
    for ending in ["token", "sock", "json"] {
        let path = folder.join(format!("{name}.{ending}"));
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(path = %path.display(), %error, "what a dead process left stays behind");
        }
    }
    // The call removes the folder only if it is empty.
    let _ = fs::remove_dir(folder);
}

/// Removes the leftovers of dead processes from a workspace's folder, half made entries too.
pub(super) fn sweep(folder: &Path) {
    for name in names(folder) {
        let _ = look(folder, &name);
    }
    let listed = fs::read_dir(folder).into_iter().flatten().take(FILES).flatten();
    for name in listed.filter_map(|file| file.file_name().into_string().ok()) {
        let Some(name) = name.strip_prefix('.').filter(|name| is_name(name)) else { continue };
        let making = folder.join(format!(".{name}"));
        let dead = private_files::open(&making, false).is_ok_and(|file| {
            // A live process locks its new entry at once; an old entry that is free was left.
            let old = file.metadata().and_then(|about| about.modified()).ok();
            let old = old.and_then(|made| made.elapsed().ok()).is_some_and(|age| age.as_secs() > 60);
            old && file.try_lock().is_ok()
        });
        if dead {
            remove(folder, name);
            let _ = fs::remove_file(&making);
        }
    }
}

/// The session for a command: the named one, or else the one that was used last. `None` if there is no session.
///
/// # Errors
/// No session has this name, or several have it.
pub fn choose(found: &FoundSessions, named: Option<&str>) -> Result<Option<SessionEntry>, Failure> {
    let Some(named) = named else { return Ok(found.entries.first().cloned()) };
    let pid = named.parse::<u32>().ok();
    let fits = |entry: &&SessionEntry| {
        entry.name == named || pid.is_some_and(|pid| entry.pid == pid || entry.editor_pid == Some(pid))
    };
    if let Some(entry) = found.entries.iter().find(fits) {
        return Ok(Some(entry.clone()));
    }
    let names: Vec<&str> = found.entries.iter().map(|entry| entry.name.as_str()).collect();
    let hint = match &names[..] {
        [] => "no session runs in this workspace; `sextant sessions` lists those of others".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    };
    Err(Failure::user(format!("there is no session {named:?} in this workspace"), hint))
}
