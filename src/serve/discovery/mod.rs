//! A session as other processes find it: the content of its entry, and the folders of entries.
//!
//! Each workspace has a folder that its root's hash names. Each process that serves the workspace has an entry and a
//! socket in there. A process is live as long as it holds the lock of its entry, whatever process id the entry has. The
//! system releases the lock when the process dies.

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

/// The version of an entry's form.
pub const VERSION: u32 = 1;
/// Bytes of the root's SHA-256 in the name of its folder, two characters each.
const HASH: usize = 8;
/// Characters of that name.
const KEY: usize = 2 * HASH;
/// The most bytes of a socket's path, with its last zero byte.
const SOCKET_BYTES: usize = 108;
/// Characters of a session's name, and one for the dot, a number and the ending.
const LONGEST_NAME: usize = 32;

/// The description of a session by the process that serves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    pub version: u32,
    /// The workspace, by its real path.
    pub root: PathBuf,
    pub pid: u32,
    /// The editor's own process, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub editor_pid: Option<u32>,
    /// Milliseconds since 1970.
    pub started: i64,
    /// The door of its requests: `nvim`, `headless`, `mcp`, `lsp`.
    pub door: String,
    /// The name that a user reads, and gives with `--session`.
    pub name: String,
    pub socket: PathBuf,
    /// The port, if the session is served on a port of this machine too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<OpenPort>,
}

/// A port of this machine that serves a session to programs with the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPort {
    /// `127.0.0.1:40000`.
    pub address: String,
    /// The file that the token is in, which this user alone can read.
    pub token_file: PathBuf,
}

/// True if a user sees the files of a session in an editor.
pub fn is_editor(entry: &SessionEntry) -> bool {
    entry.editor_pid.is_some()
}

/// The description of a session that is about to be served.
#[derive(Clone, Debug)]
pub struct Advertisement {
    pub root: PathBuf,
    pub door: &'static str,
    pub editor_pid: Option<u32>,
}

/// The folders of entries, in this order: the user's runtime folder, then a folder of the user's among temporary files.
/// Entries are made in the first usable folder. All folders are searched, so that a shell without the variable of a
/// desktop session finds a session that was started inside of one. The state folder is not among them: if it does not
/// exist, it must not be made.
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

/// The folder of a workspace's sessions, made in the first usable folder of these. Files that belong to its sessions
/// and are not entries (the engine's socket) lie beside them. Blocks for a moment.
///
/// # Errors
/// No folder can be used; the error has the reason of the last one.
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

/// True if a socket in this folder can have a path that the system accepts.
fn short_enough(folder: &Path) -> bool {
    folder.as_os_str().len() + 1 + 2 * HASH + 1 + LONGEST_NAME < SOCKET_BYTES
}

/// Checks that a session could be made in one of these folders, without making anything.
///
/// # Errors
/// The reason why it could not.
pub fn could_hold(folder: &Path) -> io::Result<()> {
    if !short_enough(folder) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its path is too long for a socket"));
    }
    let there = match private_files::look_folder(folder) {
        Ok(()) => folder,
        // The folder would be made, and those above it too.
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

/// Names of entries have letters, digits and `-`, so that no name leads anywhere.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < LONGEST_NAME - ".sock".len()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
