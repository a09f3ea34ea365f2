//! Reads, shows and writes the user's two files, with a backup and a record of the written values for the undo.
//!
//! A fault is reported with its line, a change shown as a diff.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use crate::cli::setup::written::WrittenLines;
use sextant_base::failure::{Failure, FailureKind};
use sextant_text::edits::hunks::hunks;
use sextant_text::edits::unified::unified;

/// Endings of the files beside one that setup has changed. They hold the text before all changes, the mark that there
/// was no file, the record of the written values, and the text that the undo has changed.
const BACKUP: &str = "before-sextant";
const NONE: &str = "none-before-sextant";
const RECORD: &str = "by-sextant";
const COPY: &str = "with-sextant";

/// Links that are followed to a file that is not there.
const LINKS: usize = 16;

/// A file, with its current and its new text.
#[derive(Clone, Debug)]
pub(in crate::cli) struct UserFile {
    pub(super) path: PathBuf,
    /// `None` where there is no file.
    pub(in crate::cli) before: Option<String>,
    pub(super) after: String,
}

fn failure(path: &Path, what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Config, format!("{} {what}: {error}", path.display()), "correct it, then try again")
}

/// Reads a file; a file that cannot be understood is refused with the line of the fault.
pub(in crate::cli) fn read(path: PathBuf) -> Result<(UserFile, DocumentMut), Failure> {
    let before = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failure(&path, "cannot be read", error)),
    };
    let text = before.clone().unwrap_or_default();
    let document = parsed(&path, &text)?;
    let target = target(&path);
    if target != path && !target.parent().is_some_and(Path::is_dir) {
        let place = target.display();
        return Err(failure(&path, &format!("is a link to {place}"), "the folder of that file is not there"));
    }
    Ok((UserFile { path, before, after: text }, document))
}

fn parsed(path: &Path, text: &str) -> Result<DocumentMut, Failure> {
    let plain = plain(text);
    plain.parse().map_err(|error: toml_edit::TomlError| {
        let line = error.span().map_or(1, |span| plain[..span.start.min(plain.len())].matches('\n').count() + 1);
        failure(path, &format!("is not understood at line {line}"), error.message())
    })
}

/// The text in the form for a document: one kind of line end, and no byte order mark.
fn plain(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n")
}

/// `text` with the differences between its document and `after`; every other byte stays as it is.
fn changed(text: &str, after: &str) -> String {
    let (start, before) = (text.len() - text.trim_start_matches('\u{feff}').len(), plain(text));
    let ends = text.matches('\n').count();
    let crlf = text.matches("\r\n").count() * 2 > ends;
    let mut out = text.to_owned();
    // An offset in the plain text, in the text itself.
    let marks: Vec<usize> = text[start..].match_indices("\r\n").enumerate().map(|(n, (at, _))| at - n).collect();
    let place = |at: usize| start + at + marks.partition_point(|mark| *mark < at);
    for edit in hunks(&before, after).into_iter().rev() {
        let new = if crlf { edit.text.replace('\n', "\r\n") } else { edit.text };
        out.replace_range(place(edit.range.start)..place(edit.range.end), &new);
    }
    out
}

impl UserFile {
    /// Takes the text of the document.
    pub(super) fn become_text_of(&mut self, document: &DocumentMut) {
        self.after = changed(self.before.as_deref().unwrap_or_default(), &document.to_string());
    }

    pub(super) fn differs(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    pub(super) fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or_default(), &self.after);
        format!("--- {0}\n+++ {0}\n{1}", self.path.display(), unified(before, after, 3))
    }

    /// Writes the file. The first backup stays: it has the text from before all of setup.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let wrong = |error: io::Error| failure(&self.path, "cannot be written", error);
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(wrong)?;
        }
        let before = parsed(&self.path, self.before.as_deref().unwrap_or_default())?;
        let (known, after) = (recorded(&self.path)?.unwrap_or_default(), parsed(&self.path, &self.after)?);
        let (backup, none) = (beside(&self.path, BACKUP), beside(&self.path, NONE));
        if !backup.exists() && !none.exists() {
            let (place, text) = self.before.as_ref().map_or((&none, ""), |text| (&backup, text.as_str()));
            put(place, text).map_err(wrong)?;
        }
        // The record goes before the file: a recorded line that is not in the file does no harm.
        let record = serde_json::to_string(&known.and(
            &before,
            &after,
            (self.before.as_deref().unwrap_or_default(), &self.after),
        ));
        let record = record.map_err(|error| wrong(error.into()))?;
        put(&beside(&self.path, RECORD), &record).map_err(wrong)?;
        put(&self.path, &self.after).map_err(wrong)
    }
}

/// A file that setup has changed, with the means to undo that.
pub(super) struct SetUpFile {
    pub(super) file: UserFile,
    /// The text from before setup; `None` where there was no file.
    backup: Option<String>,
    written: WrittenLines,
}

/// A file that setup has changed; `None` if there is no backup. `again` is setup itself, for a file whose changes were
/// not recorded.
pub(super) fn backed_up(path: &Path, again: impl Fn(&mut DocumentMut)) -> Result<Option<SetUpFile>, Failure> {
    let backup = match fs::read_to_string(beside(path, BACKUP)) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound && beside(path, NONE).exists() => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure(path, "has a backup that cannot be read", error)),
    };
    let written = match recorded(path)? {
        Some(written) => written,
        None => {
            let before = parsed(path, backup.as_deref().unwrap_or_default())?;
            let mut after = before.clone();
            again(&mut after);
            // The text that was written is not known.
            let mut written = WrittenLines::default().and(&before, &after, ("", ""));
            written.text = None;
            written
        }
    };
    let (file, _) = read(path.to_owned())?;
    Ok(Some(SetUpFile { file, backup, written }))
}

fn recorded(path: &Path) -> Result<Option<WrittenLines>, Failure> {
    match fs::read_to_string(beside(path, RECORD)) {
        Ok(text) => {
            let read = serde_json::from_str(&text);
            read.map(Some).map_err(|error| failure(path, "has a record of setup that cannot be read", error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure(path, "has a record of setup that cannot be read", error)),
    }
}

impl SetUpFile {
    /// Sets the file's new text to the one without the lines of setup. Returns the names of the lines that stay, since
    /// the user has changed them; with `all` they go too.
    pub(super) fn take_back(&mut self, all: bool) -> Result<Vec<String>, Failure> {
        let path = self.file.path.clone();
        let now = self.file.before.clone().unwrap_or_default();
        let backup = self.backup.clone().unwrap_or_default();
        if self.written.text.as_deref() == Some(&now) {
            self.file.after = backup;
            return Ok(Vec::new());
        }
        let undone = self.written.undone(&parsed(&path, &now)?, &parsed(&path, &backup)?, all);
        self.file.become_text_of(&undone.document);
        // The backup and the record go with the undo: a text that cannot be read again must not take their place.
        parsed(&path, &self.file.after)?;
        Ok(undone.changed)
    }

    /// Writes the file without the lines of setup, with a copy of the one before. A file that setup has made is removed
    /// if nothing else is in it. The record is removed once `all` lines are.
    pub(super) fn bring_back(&self, all: bool) -> Result<(), Failure> {
        let path = &self.file.path;
        let wrong = |error: io::Error| failure(path, "cannot be brought back", error);
        if let Some(now) = self.file.before.as_ref().filter(|_| self.file.differs()) {
            put(&beside(path, COPY), now).map_err(wrong)?;
            if self.backup.is_none() && self.file.after.trim().is_empty() {
                fs::remove_file(target(path)).map_err(wrong)?;
            } else {
                put(path, &self.file.after).map_err(wrong)?;
            }
        }
        for ending in [RECORD, BACKUP, NONE].iter().filter(|_| all) {
            match fs::remove_file(beside(path, ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// The file behind a link, even if it does not exist yet.
fn target(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&at) else { break };
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    at
}

/// Writes the text whole or not at all, through a link if the user's file is one.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let path = target(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(found) = fs::metadata(&path) {
        file.as_file().set_permissions(found.permissions())?;
    }
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_reported_with_its_line_and_nothing_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("languages.toml");
        fs::write(&path, "a = 1\r\n[[language]\r\n").unwrap();
        let failure = read(path.clone()).unwrap_err();
        assert!(failure.message.contains("line 2"), "{failure:?}");
        assert!(backed_up(&path, |_| {}).unwrap().is_none());
    }

    #[test]
    fn only_what_differs_is_changed_whatever_the_line_ends() {
        for (text, after, wanted) in [
            ("a = 1\r\nb = 2\r\n", "a = 1\nc = 3\nb = 2\n", "a = 1\r\nc = 3\r\nb = 2\r\n"),
            ("a = 1\r\nb = 2\nc = 3\n", "a = 1\nb = 2\nc = 4\n", "a = 1\r\nb = 2\nc = 4\n"),
            ("\u{feff}a = 1\n", "a = 1\nb = 2\n", "\u{feff}a = 1\nb = 2\n"),
            ("a = 1\r\n\r\nb = 2\r\n", "b = 2\n", "b = 2\r\n"),
            ("", "a = 1\n", "a = 1\n"),
        ] {
            assert_eq!(changed(text, after), wanted, "{text:?}");
            assert_eq!(plain(&changed(text, after)), after);
        }
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
            let mut known = backed_up(path, |_| {}).unwrap().unwrap();
            assert!(known.take_back(false).unwrap().is_empty());
            known.bring_back(true).unwrap();
        }
        assert_eq!(fs::read_to_string(&had).unwrap(), "a = 1 # mine\n");
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["config.toml.with-sextant", "languages.toml", "languages.toml.with-sextant"]);
    }
}
