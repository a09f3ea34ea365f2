//! The place of a workspace's record: in the user's state folder, so that no file of a workspace can pass for it.
//!
//! The sender of a repository can put any file into it. So Sextant keeps its memory, undo states and open tasks where
//! only this user writes. The folder's name is made from the workspace's own path.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::workspace::root::{OLD_FOLDER, Root};
use sextant_base::private_files;

/// Inside of the state folder.
const WORKSPACES: &str = "workspaces";
/// The record's one database.
const FILE: &str = "memory.db";
/// Names the workspace for a person who looks.
const NAMES: &str = "workspace";
/// Marks that the user was shown the notice about a record that came with the workspace.
const NOTICED: &str = "another-record-reported";

/// Characters of a workspace's own name in the name of its folder.
const NAME: usize = 32;
/// Bytes of the path's SHA-256 in it, two characters each.
const HASH: usize = 16;

/// Sextant's state folder: `$XDG_STATE_HOME/sextant`, or else `$HOME/.local/state/sextant`. A relative path counts for
/// nothing (XDG Base Directory Specification). `None` if neither can be used. Not with `etcetera`: without `HOME` it
/// asks the user database, and would write there for a user who unset `HOME` for a run.
pub fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    base.map(|base| base.join("sextant"))
}

/// The record of one workspace; making it and looking at it block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    state: PathBuf,
    key: String,
    root: PathBuf,
}

impl Record {
    /// In Sextant's state folder, which need not exist yet.
    pub fn of(state: &Path, root: &Root) -> Self {
        Self { state: state.to_owned(), key: key(root.path()), root: root.path().to_owned() }
    }

    pub fn folder(&self) -> PathBuf {
        self.state.join(WORKSPACES).join(&self.key)
    }

    pub fn file(&self) -> PathBuf {
        self.folder().join(FILE)
    }

    /// True if a record exists: a workspace without one has nothing to undo or to go on with.
    pub fn exists(&self) -> bool {
        self.file().symlink_metadata().is_ok()
    }

    /// Makes the missing folders. Returns the same record by its real path.
    ///
    /// # Errors
    /// If one of our folders is a link, another kind of file, or another user's; with the path in question.
    pub fn make(&self) -> Result<Self, (PathBuf, io::Error)> {
        let base = self.state.parent().unwrap_or(&self.state);
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| (path, error)
        };
        std::fs::create_dir_all(base).map_err(at(base))?;
        let real = base.canonicalize().map_err(at(base))?;
        let state = self.state.file_name().map_or_else(|| real.clone(), |name| real.join(name));
        let made = Self { state, ..self.clone() };
        for folder in made.folders() {
            private_files::folder(&folder).map_err(at(&folder))?;
        }
        let names = made.folder().join(NAMES);
        match private_files::make(&names) {
            Ok(mut file) => writeln!(file, "{}", made.root.display()).map_err(at(&names))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err((names, error)),
        }
        Ok(made)
    }

    /// Checks that each of our folders is one that only this user enters, without making any.
    ///
    /// # Errors
    /// As [`Record::make`], and if there is no record.
    pub fn look(&self) -> io::Result<()> {
        self.folders().iter().try_for_each(|folder| private_files::look_folder(folder))
    }

    /// Our own folders, the outer ones first.
    fn folders(&self) -> [PathBuf; 3] {
        [self.state.clone(), self.state.join(WORKSPACES), self.folder()]
    }

    /// True if the workspace holds an apparent record, and the user has not yet seen the notice that it is not read.
    /// Returns true once.
    pub fn another(&self) -> bool {
        let folder = self.root.join(OLD_FOLDER);
        let kind = |path: &Path| path.symlink_metadata().ok();
        kind(&folder).is_some_and(|found| found.is_dir())
            && kind(&folder.join(FILE)).is_some()
            && private_files::make(&self.folder().join(NOTICED)).is_ok()
    }
}

/// A name for a person and a hash for the rest.
fn key(root: &Path) -> String {
    let name = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().take(NAME).map(plain).collect();
    let hash = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let hash: String = hash.iter().take(HASH).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", name.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn the_state_folder_is_where_the_user_keeps_state() {
        let of = |state: &'static str, home: &'static str| {
            state_folder(move |name| match name {
                "XDG_STATE_HOME" => Some(state.into()),
                "HOME" => Some(home.into()),
                _ => None,
            })
        };
        assert_eq!(of("/s", "/h"), Some("/s/sextant".into()));
        assert_eq!(of("relative", "/h"), Some("/h/.local/state/sextant".into()));
        assert_eq!(of("", ""), None);
        assert_eq!(state_folder(|_| None), None);
    }

    #[test]
    fn a_workspace_has_a_folder_of_its_own_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = |name: &str| {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
            Root::new(&dir.path().join(name)).unwrap()
        };
        let state = dir.path().join("state/sextant");
        let of = |name: &str| Record::of(&state, &root(name));
        assert_ne!(of("a/shop").folder(), of("b/shop").folder());
        let odd = of("Ünder  the/../.. /x").key;
        assert!(odd.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{odd}");
        let record = of("a/shop");
        assert!(!record.exists());
        let made = record.make().unwrap();
        assert_eq!(made.make().unwrap(), made);
        let named = std::fs::read_to_string(made.folder().join(NAMES)).unwrap();
        assert_eq!(named.trim_end(), root("a/shop").path().to_str().unwrap());
        for folder in [made.folder(), state.clone()] {
            assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
        }
        assert_eq!(named.lines().count(), 1);
    }

    #[test]
    fn a_folder_of_ours_that_leads_elsewhere_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let record = Record::of(&dir.path().join("state/sextant"), &root);
        record.make().unwrap();
        let folder = record.folder();
        std::fs::remove_dir_all(&folder).unwrap();
        symlink(&elsewhere, &folder).unwrap();
        let (path, _) = record.make().unwrap_err();
        assert!(path.ends_with(&record.key), "{path:?}");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    fn a_record_that_came_with_the_workspace_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let record = Record::of(&dir.path().join("state/sextant"), &root).make().unwrap();
        assert!(!record.another());
        std::fs::create_dir(dir.path().join(OLD_FOLDER)).unwrap();
        assert!(!record.another(), "an empty folder is not a record");
        std::fs::write(dir.path().join(OLD_FOLDER).join(FILE), "").unwrap();
        assert!(record.another());
        assert!(!record.another());
    }
}
