//! A session as other processes find it: what its entry says, and where entries are.
//!
//! Each workspace has a folder that its root's hash names; each process that serves it has an entry and a socket in
//! there. A process is there as long as it holds the lock of its entry, whatever the process id in it says: the system
//! lets go of the lock when the process dies.

pub mod advertise;
pub mod find_sessions;
pub mod gate;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use sextant_base::private_files;

/// Of the form of an entry.
pub const VERSION: u32 = 1;
/// Bytes of the root's SHA-256 in the name of its folder, two characters each.
const HASH: usize = 8;
/// Characters of that name.
const KEY: usize = 2 * HASH;
/// What a socket's path may have, with its last zero byte.
const SOCKET_BYTES: usize = 108;
/// Characters of a session's name, and one for the dot, a number and the ending.
const LONGEST_NAME: usize = 32;

/// What a process says of the session that it serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    pub version: u32,
    /// The workspace, by its real path.
    pub root: PathBuf,
    pub pid: u32,
    /// The editor's own process, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub editor_pid: Option<u32>,
    /// Milliseconds since 1970.
    pub started: i64,
    /// Where its requests come from: `nvim`, `headless`, `mcp`, `lsp`.
    pub door: String,
    /// As a user is told of it, and names it with `--session`.
    pub name: String,
    pub socket: PathBuf,
    /// Where the session is served on a port of this machine too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<OpenPort>,
}

/// A port of this machine that a session is served on, for who knows the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPort {
    /// `127.0.0.1:40000`.
    pub address: String,
    /// The file that the token is in, which this user alone can read.
    pub token_file: PathBuf,
}

/// Whether a user sees the files of a session in an editor.
pub fn is_editor(entry: &SessionEntry) -> bool {
    entry.editor_pid.is_some()
}

/// What is said of a session that is about to be served.
#[derive(Clone, Debug)]
pub struct Advertisement {
    pub root: PathBuf,
    pub door: &'static str,
    pub editor_pid: Option<u32>,
}

/// Where entries are looked for, in this order: the user's runtime folder, then a folder of the user's among temporary
/// files. They are made in the first one that serves. All of them, so that a shell without the variable of a desktop
/// session finds what was started inside of one. Not in the state folder: where nothing was ever kept, none is made.
pub fn folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = PathBuf::from(format!("/run/user/{uid}"));
    let mut folders = Vec::new();
    for base in [runtime, Some(user).filter(|user| user.is_dir())].into_iter().flatten() {
        let folder = base.join("sextant");
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders.push(std::env::temp_dir().join(format!("sextant-{uid}")));
    folders
}

/// The name of a workspace's folder.
fn key(root: &Path) -> String {
    let hash = Sha256::digest(root.as_os_str().as_bytes());
    hash.iter().take(HASH).map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of a workspace's sessions, made in the first of these folders that serves: what belongs to its sessions
/// and is no entry (the engine's socket) lies beside them. Blocks for a moment.
///
/// # Errors
/// None of them can be used; the reason of the last one.
pub fn of_workspace(folders: &[PathBuf], root: &Path) -> io::Result<PathBuf> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no folder for it");
    for base in folders.iter().filter(|base| short_enough(base)) {
        let folder = base.join(key(root));
        let parent = base.parent().map_or(Ok(()), std::fs::create_dir_all);
        match parent.and_then(|()| private_files::folder(base)).and_then(|()| private_files::folder(&folder)) {
            Ok(()) => return Ok(folder),
            Err(error) => last = io::Error::new(error.kind(), format!("{}: {error}", base.display())),
        }
    }
    Err(last)
}

/// Whether a socket in this folder can have a path that the system takes.
fn short_enough(folder: &Path) -> bool {
    folder.as_os_str().len() + 1 + 2 * HASH + 1 + LONGEST_NAME < SOCKET_BYTES
}

/// Whether a session could be made in one of these folders, found out without making anything.
///
/// # Errors
/// Why it could not.
pub fn could_hold(folder: &Path) -> io::Result<()> {
    if !short_enough(folder) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its path is too long for a socket"));
    }
    let there = match private_files::look_folder(folder) {
        Ok(()) => folder,
        // It would be made, and what is above it too.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            folder.ancestors().skip(1).find(|above| above.exists()).unwrap_or(Path::new("/"))
        }
        Err(error) => return Err(error),
    };
    let needed = Access::WRITE_OK | Access::EXEC_OK;
    if !there.is_dir() || access(there, needed).is_err() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it cannot be written to"));
    }
    Ok(())
}

/// Names of entries: letters, digits and `-`, so that none of them leads anywhere.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < LONGEST_NAME - ".sock".len()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
