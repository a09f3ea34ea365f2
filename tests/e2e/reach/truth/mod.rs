//! The truth: the checker's own run over all files of a project, and two of them matched.

mod python;
mod rust;
pub mod typescript;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sextant::base::positions::{Position, Range};
use sextant::diagnostics::delta::{SnapshotChange, SnapshotFile, delta as matched};
use sextant::diagnostics::model::{Confidence, Diagnostic, Location, Severity};

use crate::reach::edits::EditedFile;
use crate::reach::language::{Checker, Language};

/// A diagnostic as it is compared: file, line from 1, code.
pub type Place = (String, u32, String);

/// How an edit changes what the checker says.
#[derive(Debug, Default)]
pub struct Change {
    pub new: BTreeSet<Place>,
    pub revealed: BTreeSet<Place>,
    /// The words of each of them.
    pub messages: BTreeMap<Place, String>,
}

/// Runs the checker over a folder; `None` if it cannot say what is there.
pub async fn of(language: Language, checker: Checker, root: &Path) -> Option<Vec<Diagnostic>> {
    match language {
        Language::Python => Some(python::of(root).await),
        Language::Rust => rust::of(checker, root).await,
        Language::TypeScript => typescript::of(root).await,
    }
}

/// True if the checker reads a file of a folder that it was run over. It says nothing about others.
pub fn is_read(language: Language, root: &Path, file: &str) -> bool {
    language != Language::Rust || rust::read(root).contains(file)
}

/// What a checker says of a place; lines and columns from 0.
struct Said<'a> {
    file: &'a str,
    start: (u32, u32),
    end: (u32, u32),
    severity: Severity,
    code: Option<&'a str>,
    message: &'a str,
}

impl Said<'_> {
    fn diagnostic(&self, source: &str) -> Diagnostic {
        let position = |(line, character)| Position { line, character };
        let range = Range { start: position(self.start), end: position(self.end) };
        Diagnostic {
            source: source.into(),
            severity: self.severity,
            code: self.code.map(str::to_owned),
            message: self.message.to_owned(),
            location: Location::Range { file: self.file.to_owned(), range },
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }
}

/// The difference of two runs over an edit of these files.
pub fn delta(before: &[Diagnostic], after: &[Diagnostic], files: &[EditedFile]) -> Change {
    let text = |file: &EditedFile| (file.path.clone(), file.before.clone(), file.after.clone());
    let texts: Vec<(String, String, String)> = files.iter().map(text).collect();
    let files =
        texts.iter().map(|(path, before, after)| SnapshotFile { path, before: Some(before), after: Some(after) });
    let change = SnapshotChange { files: files.collect(), renames: Vec::new() };
    let found = matched(&change, before, after);
    let mut out = Change::default();
    for (list, indices) in [(&mut out.new, &found.new), (&mut out.revealed, &found.revealed)] {
        for index in indices {
            let one = &after[*index];
            let Location::Range { file, range } = &one.location else { continue };
            let place = (file.clone(), range.start.line + 1, one.code.clone().unwrap_or_default());
            out.messages.insert(place.clone(), one.message.clone());
            list.insert(place);
        }
    }
    out
}
