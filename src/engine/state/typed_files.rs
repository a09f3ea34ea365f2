//! Files that the user types in: an edit of another file does not wait for their reports.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::editor::Document;

/// A file without typing for so long is looked at again.
const QUIET: Duration = Duration::from_secs(2);

/// The known state of the files beside the edited ones.
#[derive(Debug, Default)]
pub(crate) struct TypedFiles {
    /// The version that each was seen in last.
    seen: HashMap<String, i64>,
    /// The time when typing was found in each.
    typed: HashMap<String, Instant>,
}

impl TypedFiles {
    /// Takes a file as it is after an edit of ours: its new version is not the result of typing.
    pub(crate) fn edited(&mut self, document: &Document) {
        self.seen.insert(document.path.clone(), document.version);
    }

    /// True if a file was typed in just now; its version shows whether that goes on.
    pub(crate) fn is_typed(&mut self, document: &Document) -> bool {
        let path = &document.path;
        let is_fresh = self.typed.get(path).is_some_and(|at| at.elapsed() < QUIET);
        if is_fresh && self.seen.get(path).is_some_and(|version| *version != document.version) {
            self.typed(document);
        }
        if !is_fresh {
            self.typed.remove(path);
        }
        is_fresh
    }

    /// The files with another version than when they were seen last: the user may type in them.
    pub(crate) fn changed<'a>(&mut self, documents: &'a [Document]) -> Vec<&'a Document> {
        let mut changed = Vec::new();
        for document in documents {
            let before = self.seen.insert(document.path.clone(), document.version);
            if before.is_some_and(|version| version != document.version) {
                changed.push(document);
            }
        }
        changed
    }

    /// Notes that typing was found in a file.
    pub(crate) fn typed(&mut self, document: &Document) {
        self.seen.insert(document.path.clone(), document.version);
        self.typed.insert(document.path.clone(), Instant::now());
    }

    /// The files that are typed in now, without these.
    pub(crate) fn others(&self, edited: &[&str]) -> Vec<String> {
        let fresh = self.typed.iter().filter(|(path, at)| at.elapsed() < QUIET && !edited.contains(&path.as_str()));
        let mut files: Vec<String> = fresh.map(|(path, _)| path.clone()).collect();
        files.sort();
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(version: i64) -> Document {
        let path = "a.py".to_owned();
        Document { path, text: "".into(), version, exists: true, unsaved: true, locked: None }
    }

    #[test]
    fn who_types_is_known_by_the_versions_and_an_edit_of_ours_is_no_typing() {
        let mut files = TypedFiles::default();
        assert!(files.changed(&[at(1)]).is_empty() && files.changed(&[at(1)]).is_empty());
        assert_eq!(files.changed(&[at(2)]), [&at(2)]);
        files.edited(&at(3));
        assert!(files.changed(&[at(3)]).is_empty() && !files.is_typed(&at(3)));
        files.typed(&at(4));
        assert!(files.is_typed(&at(4)) && files.others(&[]) == ["a.py"] && files.others(&["a.py"]).is_empty());
        files.typed.insert("a.py".into(), Instant::now().checked_sub(QUIET).unwrap());
        assert!(!files.is_typed(&at(4)) && files.others(&[]).is_empty());
    }
}
