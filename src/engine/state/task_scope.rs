//! The symbols that a task may touch, from the cursor or the plan to the check of every edit.

mod confine;
mod scope_imports;
mod touched;

pub(crate) use confine::is_refusal;
pub(crate) use touched::touched;

use serde::{Deserialize, Serialize};

use crate::state::edit_request::EditRequest;
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
use sextant_text::edits::apply_text::offset_after;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The part of the workspace that a task may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Everything in the workspace.
    Workspace,
    /// These files, whole.
    Files(Vec<String>),
    /// These symbols, and the imports of their files. A path without names is a file's module level: the text outside
    /// all symbols, which is all of a file in a language without symbols.
    Symbols(Vec<SymbolPath>),
    /// Files as a whole, and symbols of others.
    Parts { files: Vec<String>, symbols: Vec<SymbolPath> },
}

impl Scope {
    /// The scope of a cursor or of a range of lines (one-based, both included): the innermost symbol that holds all of
    /// it, or else the file.
    pub(crate) fn at(path: &str, text: &str, first: usize, last: usize) -> Self {
        let whole = Self::Files(vec![path.to_owned()]);
        let Some(language) = language::of_path(path) else { return whole };
        let outline = Outline::parse(language, text);
        let index = LineIndex::new(text);
        let at = |line: usize| {
            let range = index.line_range(text, line.saturating_sub(1));
            let indent = text[range.clone()].len() - text[range.clone()].trim_start().len();
            range.start + indent
        };
        let lines = first.min(last)..=first.max(last);
        let mut chosen: Vec<usize> = lines.clone().filter(|line| !is_blank(text, &index, *line)).collect();
        if chosen.is_empty() {
            // A gap belongs to the symbol that holds the lines around it.
            let count = index.line_of(text.len()) + 1;
            let above = (1..*lines.start()).rev().find(|line| !is_blank(text, &index, *line));
            let below = (lines.end() + 1..=count).find(|line| !is_blank(text, &index, *line));
            let (Some(above), Some(below)) = (above, below) else { return whole };
            chosen = vec![above, below];
        }
        let mut held = chosen.into_iter().map(|line| holders(&outline, at(line)));
        let Some(mut common) = held.next() else { return whole };
        for other in held {
            common.retain(|symbol| other.contains(symbol));
        }
        match common.first() {
            Some(innermost) => Self::Symbols(vec![SymbolPath::new(path, outline.path_of(*innermost))]),
            None => whole,
        }
    }

    /// The files that may be changed anywhere.
    pub(crate) fn whole_files(&self) -> &[String] {
        match self {
            Self::Files(files) | Self::Parts { files, .. } => files,
            Self::Workspace | Self::Symbols(_) => &[],
        }
    }

    /// The symbols that may be changed.
    pub(crate) fn symbols(&self) -> &[SymbolPath] {
        match self {
            Self::Symbols(symbols) | Self::Parts { symbols, .. } => symbols,
            Self::Workspace | Self::Files(_) => &[],
        }
    }

    /// The scope with more in it: symbols, and for a path without names the file as a whole.
    #[must_use]
    pub(crate) fn widened(&self, more: &[SymbolPath]) -> Self {
        if *self == Self::Workspace {
            return Self::Workspace;
        }
        let (mut files, mut symbols) = (self.whole_files().to_vec(), self.symbols().to_vec());
        for one in more.iter().filter(|one| one.names.is_empty()) {
            if !files.contains(&one.file) {
                files.push(one.file.clone());
            }
        }
        symbols.retain(|symbol| !files.contains(&symbol.file));
        for one in more.iter().filter(|one| !one.names.is_empty() && !files.contains(&one.file)) {
            if !Self::Symbols(symbols.clone()).holds(one) {
                symbols.push(one.clone());
            }
        }
        match (files.is_empty(), symbols.is_empty()) {
            (true, _) => Self::Symbols(symbols),
            (false, true) => Self::Files(files),
            (false, false) => Self::Parts { files, symbols },
        }
    }

    /// The scope with these places in it; a path without names is the module level of its file.
    #[must_use]
    pub(crate) fn with_places(&self, more: &[SymbolPath]) -> Self {
        let mut scope = self.clone();
        for place in more {
            if scope.holds(place) {
                continue;
            }
            match &mut scope {
                Self::Symbols(symbols) | Self::Parts { symbols, .. } => symbols.push(place.clone()),
                Self::Files(files) => scope = Self::Parts { files: files.clone(), symbols: vec![place.clone()] },
                Self::Workspace => {}
            }
        }
        scope
    }

    /// The files that the scope names; empty for the workspace.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for file in self.whole_files().iter().chain(self.symbols().iter().map(|symbol| &symbol.file)) {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }

    /// The names for a model and a user.
    pub(crate) fn names(&self) -> Vec<String> {
        let symbols = self.symbols().iter().map(ToString::to_string);
        match self {
            Self::Parts { files, .. } => symbols.chain(files.iter().cloned()).collect(),
            _ => self.whole_files().iter().cloned().chain(symbols).collect(),
        }
    }

    /// True if a symbol belongs to the scope, itself or inside one that does.
    pub(crate) fn holds(&self, symbol: &SymbolPath) -> bool {
        *self == Self::Workspace
            || self.whole_files().contains(&symbol.file)
            || self.symbols().iter().any(|own| {
                own.file == symbol.file
                    && if own.names.is_empty() {
                        symbol.names.is_empty()
                    } else {
                        symbol.names == own.names || symbol.names.starts_with(&format!("{}::", own.names))
                    }
            })
    }

    /// Refuses an edit that would change text outside the scope.
    pub(crate) fn check(&self, want: &EditRequest) -> Result<(), Failure> {
        if *self == Self::Workspace || self.whole_files().iter().any(|file| file == want.path()) {
            return Ok(());
        }
        let own: Vec<&str> =
            self.symbols().iter().filter(|own| own.file == want.path()).map(|own| own.names.as_str()).collect();
        match want {
            EditRequest::Change { document, hunks, .. } if !own.is_empty() => {
                confine::check(&document.path, &document.text, &own, hunks)
            }
            // A file that does not exist yet has only a module level.
            EditRequest::Create { .. } if own.contains(&"") => Ok(()),
            _ => Err(self.outside(want.path())),
        }
    }

    pub(crate) fn outside(&self, path: &str) -> Failure {
        confine::refused(format!("{path} is outside the scope of this task ({})", self.described().join(", ")))
    }

    /// The scope after an edit: a symbol that the edit renamed keeps its place in the scope. Symbols that it put beside
    /// one belong to it, and so does a file that it created with everything inside.
    pub(crate) fn follow(&self, wanted: &[EditRequest]) -> Self {
        let mut symbols = self.symbols().to_vec();
        if symbols.is_empty() {
            return self.clone();
        }
        let mut created: Vec<SymbolPath> = Vec::new();
        for want in wanted {
            if let EditRequest::Create { path, .. } = want {
                created.push(SymbolPath::new(path, ""));
            }
            let EditRequest::Change { document, hunks, .. } = want else { continue };
            let Some(language) = language::of_path(&document.path) else { continue };
            let Some(after_text) = want.after() else { continue };
            let before = Outline::parse(language, &document.text);
            let after = Outline::parse(language, after_text);
            for own in symbols.iter_mut().filter(|own| own.file == document.path && !own.names.is_empty()) {
                let Some(old) = before.known(&own.names) else { continue };
                // A new twin may have taken its number.
                let twins = (before.twins(old), after.known(&own.names).map_or(0, |now| after.twins(now)));
                if twins.0 == twins.1 {
                    continue;
                }
                let start = offset_after(before.symbols[old].name_range.start, hunks);
                let same_place = after.symbols.iter().position(|symbol| symbol.name_range.start == start);
                if let Some(renamed) = same_place {
                    own.names = after.path_of(renamed);
                }
            }
            symbols.extend(confine::put_beside(&document.path, &before, &after, hunks, &symbols));
        }
        let followed = match self {
            Self::Parts { files, .. } => Self::Parts { files: files.clone(), symbols },
            _ => Self::Symbols(symbols),
        };
        if created.is_empty() { followed } else { followed.widened(&created) }
    }
}

fn is_blank(text: &str, index: &LineIndex, line: usize) -> bool {
    text[index.line_range(text, line.saturating_sub(1))].trim().is_empty()
}

/// The symbols that hold an offset, innermost first.
fn holders(outline: &Outline, offset: usize) -> Vec<usize> {
    std::iter::successors(outline.at(offset), |symbol| outline.symbols[*symbol].parent).collect()
}

/// The source of a symbol, with the indentation of its first line.
pub(crate) fn source<'t>(text: &'t str, outline: &Outline, symbol: usize) -> &'t str {
    let extent = outline.symbols[symbol].extent.clone();
    let line_start = text[..extent.start].rfind('\n').map_or(0, |at| at + 1);
    let indented = text[line_start..extent.start].trim().is_empty();
    &text[if indented { line_start } else { extent.start }..extent.end]
}

#[cfg(test)]
mod tests;
