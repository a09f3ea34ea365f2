//! The two files of the user's that setup changes: read with the line of a fault, shown as a diff, written with a backup
//! that brings them back.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use crate::base::failure::{Failure, FailureKind};
use crate::edits::unified::unified;

/// What is behind the name of a file that setup has changed.
const BACKUP: &str = "before-sextant";
/// The same where there was no file.
const NONE: &str = "none-before-sextant";

/// A file, as it is and as it is to be.
#[derive(Clone, Debug)]
pub(in crate::cli) struct UserFile {
    pub(super) path: PathBuf,
    /// `None` where there is no file.
    pub(in crate::cli) before: Option<String>,
    pub(super) after: String,
}

fn failure(path: &Path, what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Config, format!("{} {what}: {error}", path.display()), "mend it, then try again")
}

/// Reads a file; what cannot be understood is refused with its line.
pub(in crate::cli) fn read(path: PathBuf) -> Result<(UserFile, DocumentMut), Failure> {
    let before = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failure(&path, "cannot be read", error)),
    };
    let text = before.clone().unwrap_or_default();
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        failure(&path, &format!("is not understood at line {line}"), error.message())
    })?;
    Ok((UserFile { path, before, after: text }, document))
}

impl UserFile {
    pub(super) fn differs(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    pub(super) fn diff(&self) -> String {
        diff(&self.path, self.before.as_deref().unwrap_or_default(), &self.after)
    }

    /// Writes it. The first backup stays: it is what the user had before all of this.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let wrong = |error: io::Error| failure(&self.path, "cannot be written", error);
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(wrong)?;
        }
        let (backup, none) = (beside(&self.path, BACKUP), beside(&self.path, NONE));
        if !backup.exists() && !none.exists() {
            let (place, text) = self.before.as_ref().map_or((&none, ""), |text| (&backup, text.as_str()));
            put(place, text).map_err(wrong)?;
        }
        put(&self.path, &self.after).map_err(wrong)
    }
}

/// What setup has changed and the backup would bring back; `None` where there is no backup.
pub(super) fn backed_up(path: &Path) -> Result<Option<UserFile>, Failure> {
    let now = fs::read_to_string(path).ok();
    let after = match fs::read_to_string(beside(path, BACKUP)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && beside(path, NONE).exists() => String::new(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure(path, "has a backup that cannot be read", error)),
    };
    Ok(Some(UserFile { path: path.to_owned(), before: now, after }))
}

/// Brings the backup back, and the file goes where there was none.
pub(super) fn bring_back(file: &UserFile) -> Result<(), Failure> {
    let wrong = |error: io::Error| failure(&file.path, "cannot be brought back", error);
    let none = beside(&file.path, NONE);
    if none.exists() {
        match fs::remove_file(&file.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(error)),
            _ => {}
        }
        return fs::remove_file(none).map_err(wrong);
    }
    put(&file.path, &file.after).map_err(wrong)?;
    fs::remove_file(beside(&file.path, BACKUP)).map_err(wrong)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Whole or not at all, through a link where the user's file is one.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(found) = fs::metadata(&path) {
        file.as_file().set_permissions(found.permissions())?;
    }
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn diff(path: &Path, before: &str, after: &str) -> String {
    format!("--- {0}\n+++ {0}\n{1}", path.display(), unified(before, after, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_with_its_line_and_nothing_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("languages.toml");
        fs::write(&path, "a = 1\n[[language]\n").unwrap();
        let failure = read(path.clone()).unwrap_err();
        assert!(failure.message.contains("line 2"), "{failure:?}");
        assert!(backed_up(&path).unwrap().is_none());
    }

    #[test]
    fn what_was_there_comes_back_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let (had, new) = (dir.path().join("languages.toml"), dir.path().join("config.toml"));
        fs::write(&had, "a = 1 # mine\n").unwrap();
        for path in [&had, &new] {
            for text in ["b = 2\n", "c = 3\n"] {
                let (file, _) = read(path.clone()).unwrap();
                let file = UserFile { after: text.into(), ..file };
                assert!(file.differs() && file.diff().contains(&format!("+{text}")), "{}", file.diff());
                file.write().unwrap();
                assert_eq!(fs::read_to_string(path).unwrap(), text);
            }
            bring_back(&backed_up(path).unwrap().unwrap()).unwrap();
        }
        assert_eq!(fs::read_to_string(&had).unwrap(), "a = 1 # mine\n");
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["languages.toml"]);
    }
}
