//! Random edits of what other files may use, each made by whole texts.

use sextant::symbols::language;
use sextant::symbols::outline::{Outline, Symbol, SymbolKind};

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
}

const KINDS: &[Kind] = &[Kind::Remove, Kind::Parameter, Kind::Body, Kind::Rename, Kind::Move, Kind::Result, Kind::Base];

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

/// At most `count` edits, of every kind in turn, of files that others may import. A small package may have fewer.
pub fn random(project: &Project, count: usize, seed: u64) -> Vec<ProjectEdit> {
    let files = sources(project);
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut edits: Vec<ProjectEdit> = Vec::new();
    let wanted = setting("REACH_KINDS", "").to_lowercase();
    let is_wanted = |kind: &&Kind| wanted.is_empty() || wanted.contains(&format!("{kind:?}").to_lowercase());
    let mut left: Vec<Kind> = KINDS.iter().filter(is_wanted).copied().collect();
    let mut at = 0;
    while edits.len() < count && !left.is_empty() {
        let kind = left[at % left.len()];
        let is_other = |edit: &ProjectEdit| edits.iter().all(|known| known.files[0].after != edit.files[0].after);
        match (0..TRIES).find_map(|_| one(kind, &files, &mut numbers).filter(is_other)) {
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
fn sources(project: &Project) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![project.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let relative = entry.path().strip_prefix(project.root()).expect("inside").display().to_string();
            let is_own =
                !["test", "docs", "setup", "benchmark", "versioneer"].iter().any(|word| relative.contains(word));
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if is_own && relative.contains('/') && relative.ends_with(".py") {
                found.push((relative.clone(), project.read(&relative)));
            }
        }
    }
    found.sort();
    found
}

fn one(kind: Kind, files: &[(String, String)], numbers: &mut Numbers) -> Option<ProjectEdit> {
    let (path, text) = &files[numbers.below(files.len())];
    let outline = Outline::parse(language::of_path(path)?, text);
    let index = numbers.below(outline.symbols.len());
    let symbol = outline.symbols.get(index)?;
    let (name, declaration) = (&symbol.name, &text[symbol.declaration.clone()]);
    let is_function = symbol.kind != SymbolKind::Class;
    let changed = |after: String, request: String| {
        let file = EditedFile { path: path.clone(), before: text.clone(), after };
        (file.before != file.after).then(|| ProjectEdit { kind, request, files: vec![file] })
    };
    let replaced =
        |range: std::ops::Range<usize>, new: &str| format!("{}{new}{}", &text[..range.start], &text[range.end..]);
    match kind {
        Kind::Remove => changed(without(text, symbol)?, format!("remove {name} from {path}")),
        Kind::Rename => {
            changed(replaced(symbol.name_range.clone(), &format!("{name}_other")), format!("rename {name} in {path}"))
        }
        Kind::Parameter if is_function => {
            let open = text[symbol.name_range.end..].starts_with('(').then_some(symbol.name_range.end + 1)?;
            let is_method = symbol.kind == SymbolKind::Method && text[open..].starts_with("self");
            let at = if is_method { open + "self".len() } else { open };
            let new = if is_method { ", required" } else { "required, " };
            let new = if text[at..].starts_with(')') { new.trim_end_matches(", ") } else { new };
            changed(replaced(at..at, new), format!("give {name} in {path} a required parameter"))
        }
        Kind::Result if is_function => {
            let at = symbol.declaration.start + declaration.rfind("return ")? + "return ".len();
            changed(replaced(at..at, "'other' or "), format!("let {name} in {path} return something else"))
        }
        Kind::Base if !is_function => {
            let end = symbol.name_range.end;
            let close = end + text[end..].find(':')?;
            changed(replaced(end..close, "(str)"), format!("give {name} in {path} another base"))
        }
        Kind::Body if is_function => {
            let body = symbol.name_range.end + text[symbol.name_range.end..].find(":\n")? + 2;
            let line = &text[body..body + text[body..].find('\n')?];
            let indent = &line[..line.len() - line.trim_start().len()];
            let is_declared = text[symbol.name_range.end..body].contains("->");
            let inside = is_declared && !indent.is_empty() && body < symbol.declaration.end;
            inside
                .then(|| replaced(body..body, &format!("{indent}print('called', {})\n", numbers.below(100))))
                .and_then(|after| changed(after, format!("print in {name} of {path}")))
        }
        Kind::Move if symbol.parent.is_none() => moved(files, path, text, symbol, numbers),
        _ => None,
    }
}

/// The text without a symbol, where something of its holder is left.
fn without(text: &str, symbol: &Symbol) -> Option<String> {
    let start = text[..symbol.extent.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[symbol.extent.end..].find('\n').map_or(text.len(), |at| symbol.extent.end + at + 1);
    let is_only = text[..start].trim_end().ends_with(':');
    (!is_only).then(|| format!("{}{}", &text[..start], &text[end..]))
}

/// A function or a class at the module level, put to the end of another file.
fn moved(
    files: &[(String, String)],
    path: &str,
    text: &str,
    symbol: &Symbol,
    numbers: &mut Numbers,
) -> Option<ProjectEdit> {
    let (other, old) = &files[numbers.below(files.len())];
    let other = (other != path).then_some(other)?;
    let after = format!("{}\n\n{}\n", old.trim_end(), &text[symbol.extent.clone()]);
    let from = EditedFile { path: path.to_owned(), before: text.to_owned(), after: without(text, symbol)? };
    let to = EditedFile { path: other.clone(), before: old.clone(), after };
    let request = format!("move {} from {path} to {other}", symbol.name);
    Some(ProjectEdit { kind: Kind::Move, request, files: vec![from, to] })
}
