//! Advertises a session of this process by an entry, made with its socket at the first use and gone with the session.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::discovery::{Advertisement, OpenPort, SessionEntry, VERSION, find_sessions, key, short_enough};
use sextant_base::clock::now_ms;
use sextant_base::{access_token, private_files};

/// The number of tries for another name, or for a folder that another process has just removed.
const TRIES: u32 = 8;

/// A session that other processes can find, until this is dropped.
#[derive(Debug)]
pub struct Advertised {
    entry: SessionEntry,
    path: PathBuf,
    /// Held for its lock.
    file: File,
    /// The token that a program needs to come by the port.
    token: Option<String>,
}

impl Advertised {
    /// Makes socket and entry in the first usable folder of these, and a token if there is a port of this machine.
    /// Blocks for a moment.
    ///
    /// # Errors
    /// No folder can be used; the error has the reason of the last one.
    pub fn new(
        folders: &[PathBuf],
        what: &Advertisement,
        port: Option<SocketAddr>,
    ) -> io::Result<(Self, UnixListener)> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no folder for it");
        for base in folders {
            if !short_enough(base) {
                last = io::Error::new(io::ErrorKind::InvalidInput, format!("{} is too long", base.display()));
                continue;
            }
            match advertise_in(base, what, port) {
                Ok(done) => return Ok(done),
                Err(error) => last = io::Error::new(error.kind(), format!("{}: {error}", base.display())),
            }
        }
        Err(last)
    }

    pub fn entry(&self) -> &SessionEntry {
        &self.entry
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Notes a use of the session now: of several sessions, a client joins the one that was used last.
    pub fn used(&self) {
        if let Err(error) = self.file.set_modified(SystemTime::now()) {
            tracing::debug!(%error, "the time of an entry cannot be set");
        }
    }
}

impl Drop for Advertised {
    fn drop(&mut self) {
        let token = self.entry.port.as_ref().map(|port| &port.token_file);
        for path in [&self.path, &self.entry.socket].into_iter().chain(token) {
            if let Err(error) = fs::remove_file(path) {
                tracing::debug!(%error, "a part of this session's entry is gone already");
            }
        }
        // The call removes the folder only if it is empty.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

fn advertise_in(base: &Path, what: &Advertisement, port: Option<SocketAddr>) -> io::Result<(Advertised, UnixListener)> {
    if let Some(parent) = base.parent() {
        fs::create_dir_all(parent)?;
    }
    private_files::folder(base)?;
    let folder = base.join(key(&what.root));
    let mut last = io::Error::other("no name is free");
    for number in 0..TRIES {
        private_files::folder(&folder)?;
        find_sessions::sweep(&folder);
        // If the folder had only entries of dead processes, it was removed with them.
        private_files::folder(&folder)?;
        match enter(&folder, number, what, port) {
            Ok(done) => return Ok(done),
            // Another process has the name, or has removed the empty folder.
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                last = error
            }
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn enter(
    folder: &Path,
    number: u32,
    what: &Advertisement,
    port: Option<SocketAddr>,
) -> io::Result<(Advertised, UnixListener)> {
    let pid = std::process::id();
    let name = match number {
        0 => format!("{}-{}", what.door, what.editor_pid.unwrap_or(pid)),
        more => format!("{}-{}-{}", what.door, what.editor_pid.unwrap_or(pid), more + 1),
    };
    let (making, path) = (folder.join(format!(".{name}")), folder.join(format!("{name}.json")));
    let socket = folder.join(format!("{name}.sock"));
    let mut file = private_files::make(&making)?;
    let made = (|| {
        file.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::ErrorKind::AlreadyExists.into(),
        })?;
        if path.symlink_metadata().is_ok() || socket.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let (port, token) = port.map(|address| open_port(folder, &name, address)).transpose()?.unzip();
        let entry = SessionEntry {
            port,
            version: VERSION,
            root: what.root.clone(),
            pid,
            editor_pid: what.editor_pid,
            started: now_ms(),
            door: what.door.to_owned(),
            name,
            socket: socket.clone(),
        };
        file.write_all(&serde_json::to_vec(&entry)?)?;
        fs::rename(&making, &path)?;
        Ok((entry, listener, token))
    })();
    match made {
        Ok((entry, listener, token)) => Ok((Advertised { entry, path, file, token }, listener)),
        Err(error) => {
            let _ = fs::remove_file(&making);
            Err(error)
        }
    }
}

/// Makes the token of a port, in a file that this user alone can read.
fn open_port(folder: &Path, name: &str, address: SocketAddr) -> io::Result<(OpenPort, String)> {
    let (token, token_file) = (access_token::fresh()?, folder.join(format!("{name}.token")));
    // The file may be left from a dead process of this name.
    let _ = fs::remove_file(&token_file);
    private_files::make(&token_file)?.write_all(token.as_bytes())?;
    Ok((OpenPort { address: address.to_string(), token_file }, token))
}
