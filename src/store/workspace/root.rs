//! Decides which paths may be touched: those inside the workspace root that hold no secrets.

use std::path::{Component, Path, PathBuf};

use crate::workspace::secret_files::{is_linked_to_secret, is_secret};
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_base::path::{self, is_hidden};

/// The reason why a path is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    /// A name that shows as another one.
    #[error("the path {0:?} has a control character in it, or one that is not seen")]
    BadName(String),
    #[error("the path is too long (in bytes {0}, and {LONGEST} is the most)")]
    TooLong(usize),
    #[error("{0} is outside the workspace")]
    Outside(String),
    /// A symbolic link inside the workspace that leads out of it.
    #[error("{path} leads out of the workspace, to {target}")]
    LeadsOut { path: String, target: String },
    /// A file that was given by its own path before, and is reached through a link now.
    #[error("{path} is a link to {target} now")]
    Moved { path: String, target: String },
    #[error("{0} may hold secrets and is neither read nor written")]
    Secret(String),
    /// In [`OLD_FOLDER`], or where Sextant keeps its state.
    #[error("{0} is Sextant's own record and is neither read nor written as a file")]
    Own(String),
    #[error("{0} is a directory")]
    Directory(String),
    #[error("{0} is not a regular file")]
    Special(String),
    #[error("{path} cannot be looked at: {reason}")]
    Io { path: String, reason: String },
}

impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        let hint: Hint = match &error {
            PathError::Empty | PathError::BadName(_) | PathError::TooLong(_) => {
                "give a path relative to the workspace root, with /".into()
            }
            PathError::Outside(_) => {
                "only files inside the workspace can be used; open the other folder as a workspace".into()
            }
            PathError::Moved { .. } => "put the file or folder back that was there, and try again".into(),
            PathError::LeadsOut { .. } => "open the folder it leads to as a workspace of its own".into(),
            PathError::Secret(_) => "open it in the editor yourself if it has to be changed".into(),
            PathError::Own(_) => HintCode::Remembered.into(),
            PathError::Directory(_) => "name a file inside it; list_symbols or search shows what is there".into(),
            PathError::Special(_) => "only regular files can be read and edited".into(),
            PathError::Io { .. } => "check the permissions of the file and of the folders above it".into(),
        };
        Self::new(FailureKind::User, error.to_string(), hint)
    }
}

/// The place of a record that came with the workspace: an older Sextant's, or a planted one. It counts for nothing.
pub const OLD_FOLDER: &str = ".sextant";

/// The folder that everything happens in, without symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    /// Sextant's state folder, which a large workspace (a home folder) may contain.
    state: Option<PathBuf>,
}

impl Root {
    /// The folder must exist.
    pub fn new(folder: &Path) -> Result<Self, PathError> {
        let io = |reason: String| PathError::Io { path: folder.display().to_string(), reason };
        let path = folder.canonicalize().map_err(|error| io(error.to_string()))?;
        if path.is_dir() { Ok(Self { path, state: None }) } else { Err(io("it is not a directory".into())) }
    }

    /// The workspace of a file or folder: the nearest folder above it that holds the mark of a project,
    /// or else the folder itself.
    pub fn find(start: &Path) -> Result<Self, PathError> {
        let folder = if start.is_file() { start.parent().unwrap_or(start) } else { start };
        let root = Self::new(folder)?;
        let marked = root.path.ancestors().find(|folder| MARKS.iter().any(|mark| folder.join(mark).exists()));
        Ok(marked.map_or(root.clone(), |folder| Self { path: folder.to_owned(), state: None }))
    }

    /// The same workspace without this folder, wherever it is: the files in it are not read or written.
    #[must_use]
    pub fn without(self, state: &Path) -> Self {
        let state = follow(state, "").unwrap_or_else(|_| state.to_owned());
        Self { state: Some(state), ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if a path without links lies in Sextant's own state.
    pub(in crate::workspace) fn is_own(&self, real: &Path) -> bool {
        self.state.as_ref().is_some_and(|state| real.starts_with(state))
    }

    /// The absolute path of a resolved file.
    pub fn join(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// Checks that a path, resolved once and kept since, is unchanged: in the workspace, no secret, and the file
    /// itself. Call it at every use of a path from a record.
    pub fn confirm(&self, resolved: &str) -> Result<(), PathError> {
        let target = self.resolve(resolved)?;
        if target == resolved { Ok(()) } else { Err(PathError::Moved { path: resolved.to_owned(), target }) }
    }

    /// Turns a given path, relative or absolute, into a path relative to the root, with `/`.
    ///
    /// The file need not exist. The existing part of its path is followed through symbolic links, and the result is the
    /// file itself and not the link. Refused: every path outside, secrets, and existing paths that are not regular
    /// files.
    pub fn resolve(&self, given: &str) -> Result<String, PathError> {
        if given.trim().is_empty() {
            return Err(PathError::Empty);
        }
        if given.len() > LONGEST {
            return Err(PathError::TooLong(given.len()));
        }
        if given.contains(is_hidden) {
            return Err(PathError::BadName(given.to_owned()));
        }
        let asked = self.path.join(given);
        let inside = |path: &Path| path::relative(&self.path, path).filter(|relative| !relative.is_empty());
        let real = follow(&asked, given)?;
        let Some(relative) = inside(&real) else {
            return Err(match inside(&asked) {
                _ if real == self.path => PathError::Directory(given.to_owned()),
                Some(path) => PathError::LeadsOut { path, target: real.display().to_string() },
                None => PathError::Outside(given.to_owned()),
            });
        };
        if relative.contains(is_hidden) {
            return Err(PathError::BadName(relative));
        }
        // The requested name counts too: a link named `.env` is as little our business as its target.
        if is_secret(&relative) || inside(&asked).is_some_and(|asked| is_secret(&asked)) {
            return Err(PathError::Secret(relative));
        }
        if relative.split('/').next() == Some(OLD_FOLDER) || self.is_own(&real) {
            return Err(PathError::Own(relative));
        }
        match real.symlink_metadata() {
            Ok(what) if is_linked_to_secret(&self.path, &what) => Err(PathError::Secret(relative)),
            Ok(what) if what.is_dir() => Err(PathError::Directory(relative)),
            Ok(what) if !what.is_file() => Err(PathError::Special(relative)),
            _ => Ok(relative),
        }
    }
}

/// The most bytes of a path that the system takes (`PATH_MAX`).
const LONGEST: usize = 4096;

/// Marks of the top of a project, in no order: the nearest folder that holds any of them is taken.
const MARKS: &[&str] = &[
    ".git",
    ".hg",
    ".jj",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "CMakeLists.txt",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "deno.json",
];

/// Follows symbolic links through the existing part of the path; the rest is added as it stands.
fn follow(path: &Path, given: &str) -> Result<PathBuf, PathError> {
    let io = |error: std::io::Error| PathError::Io { path: given.to_owned(), reason: error.to_string() };
    let mut rest = Vec::new();
    let mut here = path.to_owned();
    loop {
        match here.canonicalize() {
            Ok(real) => {
                let path = rest.iter().rev().fold(real, |path, part| path.join(part));
                // A `..` after a missing folder leads back to a path that may exist, and may be a link.
                let climbs = path.components().any(|part| part == Component::ParentDir);
                return if climbs { follow(&path::normalize(&path), given) } else { Ok(path) };
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if here.symlink_metadata().is_ok_and(|what| what.is_symlink()) {
                    let reason = "it is a symbolic link to nothing".to_owned();
                    return Err(PathError::Io { path: given.to_owned(), reason });
                }
                let Some(last) = here.components().next_back() else { return Err(io(error)) };
                rest.push(last.as_os_str().to_owned());
                if !here.pop() {
                    return Err(io(error));
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(PathError::Special(given.to_owned()));
            }
            Err(error) => return Err(io(error)),
        }
    }
}

#[cfg(test)]
mod tests;
