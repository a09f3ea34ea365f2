//! Random edits of what other files may use, each made by whole texts.

mod braced;
mod python;

use std::ops::Range;

use sextant::symbols::language;
use sextant::symbols::outline::{Outline, Symbol};

use crate::reach::language::Language;
use crate::reach::setting;
use crate::support::project::Project;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Remove,
    Rename,
    Parameter,
    Move,
    Result,
    Base,
    Body,
    /// What others could use, they can no longer.
    Hide,
    /// A body that uses nothing.
    Stub,
}

/// Random choices until a package has no further edit of a kind.
const TRIES: usize = 500;

#[derive(Clone, Debug)]
pub struct EditedFile {
    pub path: String,
    pub before: String,
    pub after: String,
}

#[derive(Clone, Debug)]
pub struct ProjectEdit {
    pub kind: Kind,
    /// The words of a user who wants it.
    pub request: String,
    pub files: Vec<EditedFile>,
}

impl ProjectEdit {
    pub fn write(&self, project: &Project) {
        self.files.iter().for_each(|file| project.write(&file.path, &file.after));
    }

    pub fn restore(&self, project: &Project) {
        self.files.iter().for_each(|file| project.write(&file.path, &file.before));
    }

    pub fn assert_written(&self, project: &Project, answer: &impl std::fmt::Debug) {
        for file in &self.files {
            assert_eq!(project.read(&file.path), file.after, "{} is not written: {answer:?}", self.request);
        }
    }

    pub fn assert_restored(&self, project: &Project) {
        for file in &self.files {
            assert_eq!(project.read(&file.path), file.before, "{} is not taken back", self.request);
        }
    }
}

/// Numbers that follow from a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("below a size")
    }
}

/// A symbol that was chosen, with its file and all files of the package.
struct Target<'a> {
    files: &'a [(String, String)],
    path: &'a str,
    text: &'a str,
    symbol: &'a Symbol,
}

impl Target<'_> {
    /// The edit that writes this text, unless it is the old one.
    fn changed(&self, kind: Kind, after: String, request: String) -> Option<ProjectEdit> {
        let file = EditedFile { path: self.path.to_owned(), before: self.text.to_owned(), after };
        (file.before != file.after).then(|| ProjectEdit { kind, request, files: vec![file] })
    }

    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..range.start], &self.text[range.end..])
    }

    /// From the name on to the end of the symbol.
    fn rest(&self) -> &str {
        let start = self.symbol.name_range.end;
        &self.text[start..self.symbol.declaration.end.max(start)]
    }

    /// The text without the symbol and the rest of its lines.
    fn without(&self) -> String {
        let (text, extent) = (self.text, &self.symbol.extent);
        let start = text[..extent.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[extent.end..].find('\n').map_or(text.len(), |at| extent.end + at + 1);
        self.replaced(start..end, "")
    }
}

/// At most `count` edits, of every kind in turn, of files that others may import. A small package may have fewer.
pub fn random(language: Language, project: &Project, count: usize, seed: u64) -> Vec<ProjectEdit> {
    let files = sources(language, project);
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut edits: Vec<ProjectEdit> = Vec::new();
    let wanted = setting("REACH_KINDS", "").to_lowercase();
    let is_wanted = |kind: &&Kind| wanted.is_empty() || wanted.contains(&format!("{kind:?}").to_lowercase());
    let kinds = if language == Language::Python { python::KINDS } else { braced::KINDS };
    let mut left: Vec<Kind> = kinds.iter().filter(is_wanted).copied().collect();
    let mut at = 0;
    while edits.len() < count && !left.is_empty() {
        let kind = left[at % left.len()];
        let is_other = |edit: &ProjectEdit| edits.iter().all(|known| known.files[0].after != edit.files[0].after);
        match (0..TRIES).find_map(|_| one(language, kind, &files, &mut numbers).filter(is_other)) {
            Some(edit) => {
                edits.push(edit);
                at += 1;
            }
            None => left.retain(|other| *other != kind),
        }
    }
    edits
}

/// The package's own files, without its tests, its documentation and what builds it.
fn sources(language: Language, project: &Project) -> Vec<(String, String)> {
    let ending = format!(".{}", language.ending());
    let mut found = Vec::new();
    let mut folders = vec![project.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let relative = entry.path().strip_prefix(project.root()).expect("inside").display().to_string();
            let is_own =
                !["test", "docs", "setup", "benchmark", "versioneer"].iter().any(|word| relative.contains(word));
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if is_own && relative.contains('/') && relative.ends_with(&ending) {
                found.push((relative.clone(), project.read(&relative)));
            }
        }
    }
    found.sort();
    found
}

fn one(language: Language, kind: Kind, files: &[(String, String)], numbers: &mut Numbers) -> Option<ProjectEdit> {
    let (path, text) = &files[numbers.below(files.len())];
    let outline = Outline::parse(language::of_path(path)?, text);
    let index = numbers.below(outline.symbols.len());
    let target = Target { files, path, text, symbol: outline.symbols.get(index)? };
    match language {
        Language::Python => python::of(kind, &target, numbers),
        Language::Rust => braced::of(kind, &target, numbers, &braced::RUST),
        Language::TypeScript => braced::of(kind, &target, numbers, &braced::TYPESCRIPT),
    }
}
