//! Which symbols a task may touch, from the cursor or the plan to the check of every edit.

use serde::{Deserialize, Serialize};

use crate::agent::state::edit_request::EditRequest;
use crate::base::failure::{Failure, FailureKind};
use crate::base::text::LineIndex;
use crate::edits::apply::apply;
use crate::edits::hunks::hunks as lines_of;
use crate::edits::{TextEdit, scope as zones};
use crate::symbols::language;
use crate::symbols::outline::Outline;
use crate::symbols::path::SymbolPath;

/// What a task may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everything in the workspace.
    Workspace,
    /// These files, whole.
    Files(Vec<String>),
    /// These symbols. A path without names is a file's module level: what is in no symbol.
    Symbols(Vec<SymbolPath>),
}

impl Scope {
    /// The scope of a cursor or of a range of lines (one-based, both included): the innermost symbol that
    /// holds all of it, or else the file.
    pub fn at(path: &str, text: &str, first: usize, last: usize) -> Self {
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
        let mut held = lines.filter(|line| !is_blank(text, &index, *line)).map(|line| holders(&outline, at(line)));
        let Some(mut common) = held.next() else { return whole };
        for other in held {
            common.retain(|symbol| other.contains(symbol));
        }
        match common.first() {
            Some(innermost) => Self::Symbols(vec![SymbolPath::new(path, outline.path_of(*innermost))]),
            None => whole,
        }
    }

    /// The files that the scope names; empty for the workspace.
    pub fn files(&self) -> Vec<String> {
        let mut files = match self {
            Self::Workspace => Vec::new(),
            Self::Files(files) => files.clone(),
            Self::Symbols(symbols) => symbols.iter().map(|symbol| symbol.file.clone()).collect(),
        };
        files.dedup();
        files
    }

    /// As a model and a user read it.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Workspace => Vec::new(),
            Self::Files(files) => files.clone(),
            Self::Symbols(symbols) => symbols.iter().map(ToString::to_string).collect(),
        }
    }

    /// Whether a symbol belongs to the scope, itself or inside of one that does.
    pub fn holds(&self, symbol: &SymbolPath) -> bool {
        match self {
            Self::Workspace => true,
            Self::Files(files) => files.contains(&symbol.file),
            Self::Symbols(symbols) => symbols.iter().any(|own| {
                own.file == symbol.file
                    && if own.names.is_empty() {
                        symbol.names.is_empty()
                    } else {
                        symbol.names == own.names || symbol.names.starts_with(&format!("{}::", own.names))
                    }
            }),
        }
    }

    /// Refuses an edit that would change text outside.
    pub fn check(&self, want: &EditRequest) -> Result<(), Failure> {
        match (self, want) {
            (Self::Workspace, _) => Ok(()),
            (Self::Files(files), want) if files.iter().any(|file| file == want.path()) => Ok(()),
            (Self::Symbols(symbols), EditRequest::Change { document, hunks }) => {
                let own: Vec<&str> =
                    symbols.iter().filter(|own| own.file == document.path).map(|own| own.names.as_str()).collect();
                if own.is_empty() {
                    Err(self.outside(want.path()))
                } else {
                    check_hunks(&document.path, &document.text, &own, hunks)
                }
            }
            // A file that is not there yet has nothing but a module level.
            (Self::Symbols(symbols), EditRequest::Create { path, .. })
                if symbols.iter().any(|own| own.file == *path && own.names.is_empty()) =>
            {
                Ok(())
            }
            _ => Err(self.outside(want.path())),
        }
    }

    pub(crate) fn outside(&self, path: &str) -> Failure {
        refused(format!("{path} is outside the scope of this task ({})", self.names().join(", ")))
    }

    /// The scope after an edit: a symbol that the edit renamed keeps its place in the scope, and a file that
    /// the edit created belongs to it with all that is in it.
    pub(crate) fn follow(&self, wanted: &[EditRequest]) -> Self {
        let Self::Symbols(symbols) = self else { return self.clone() };
        let mut symbols = symbols.clone();
        for want in wanted {
            if let EditRequest::Create { path, text } = want
                && let Some(language) = language::of_path(path)
            {
                let outline = Outline::parse(language, text);
                let top = (0..outline.symbols.len()).filter(|index| outline.symbols[*index].parent.is_none());
                symbols.extend(top.map(|index| SymbolPath::new(path, outline.path_of(index))));
            }
            let EditRequest::Change { document, hunks } = want else { continue };
            let Some(language) = language::of_path(&document.path) else { continue };
            let Ok(after_text) = apply(&document.text, hunks) else { continue };
            let before = Outline::parse(language, &document.text);
            let after = Outline::parse(language, &after_text);
            for own in symbols.iter_mut().filter(|own| own.file == document.path && !own.names.is_empty()) {
                if after.find(&own.names).is_ok() {
                    continue;
                }
                let Ok(old) = before.find(&own.names) else { continue };
                let start = moved(before.symbols[old].name_range.start, hunks);
                let same_place = after.symbols.iter().position(|symbol| symbol.name_range.start == start);
                if let Some(renamed) = same_place {
                    own.names = after.path_of(renamed);
                }
            }
        }
        Self::Symbols(symbols)
    }
}

fn is_blank(text: &str, index: &LineIndex, line: usize) -> bool {
    text[index.line_range(text, line.saturating_sub(1))].trim().is_empty()
}

/// The symbols that hold an offset, innermost first.
fn holders(outline: &Outline, offset: usize) -> Vec<usize> {
    std::iter::successors(outline.at(offset), |symbol| outline.symbols[*symbol].parent).collect()
}

fn refused(message: String) -> Failure {
    Failure::new(
        FailureKind::Tool,
        message,
        "stay inside the scope, or ask for a wider one (a larger range, or a plan)",
    )
}

fn check_hunks(path: &str, text: &str, own: &[&str], hunks: &[TextEdit]) -> Result<(), Failure> {
    let Some(language) = language::of_path(path) else {
        return Err(refused(format!("{path} is in a language without symbols here, so no edit can be confined in it")));
    };
    let outline = Outline::parse(language, text);
    let symbols: Vec<usize> = own.iter().filter_map(|names| outline.find(names).ok()).collect();
    let module = own.contains(&"");
    if symbols.is_empty() && !module {
        return Err(refused(format!("{} is not in {path} any more", own.join(", "))));
    }
    for hunk in hunks {
        let one = std::slice::from_ref(hunk);
        let inside = zones::check(text, &outline, &zones::EditScope::Symbols(symbols.clone()), one);
        let Err(error) = inside else { continue };
        if module && zones::check(text, &outline, &zones::EditScope::Module, one).is_ok() {
            continue;
        }
        return Err(refused(error.to_string()));
    }
    Ok(())
}

/// Where an offset is after the edits; one inside an edit goes to the edit's start.
pub(crate) fn moved(offset: usize, edits: &[TextEdit]) -> usize {
    let mut shift = 0isize;
    for edit in edits {
        if edit.range.end <= offset && !(edit.range.is_empty() && edit.range.start == offset) {
            shift += edit.text.len() as isize - edit.range.len() as isize;
        } else if edit.range.start < offset {
            return edit.range.start.saturating_add_signed(shift);
        }
    }
    offset.saturating_add_signed(shift)
}

/// The symbols that hold the text an edit changes, as full paths; the file for its module level.
pub(crate) fn touched(want: &EditRequest) -> Vec<String> {
    let EditRequest::Change { document, hunks } = want else { return vec![want.path().to_owned()] };
    let Some(language) = language::of_path(&document.path) else { return vec![document.path.clone()] };
    let outline = Outline::parse(language, &document.text);
    let mut names: Vec<String> = Vec::new();
    // One edit may reach over several symbols: its lines count, not its edges.
    let lines = |edit: &TextEdit| {
        let from = edit.range.start;
        let parts = lines_of(&document.text[edit.range.clone()], &edit.text);
        parts.into_iter().map(move |part| from + part.range.start)
    };
    for start in hunks.iter().flat_map(lines) {
        let symbol = outline.at(start).map(|symbol| outline.path_of(symbol)).unwrap_or_default();
        let name = SymbolPath::new(&document.path, symbol).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The source of a symbol, with the indentation of its first line.
pub(crate) fn source<'t>(text: &'t str, outline: &Outline, symbol: usize) -> &'t str {
    let extent = outline.symbols[symbol].extent.clone();
    let line_start = text[..extent.start].rfind('\n').map_or(0, |at| at + 1);
    let indented = text[line_start..extent.start].trim().is_empty();
    &text[if indented { line_start } else { extent.start }..extent.end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Document;
    use crate::edits::hunks::hunks;

    const CART: &str = "\
import os

class Cart:
    def total(self):
        return 1

    def count(self):
        return 2
";

    fn want(after: &str) -> EditRequest {
        let document = Document {
            path: "cart.py".into(),
            text: CART.into(),
            version: 1,
            exists: true,
            unsaved: false,
            locked: None,
        };
        EditRequest::Change { hunks: hunks(CART, after), document }
    }

    fn names(scope: &Scope) -> Vec<String> {
        scope.names()
    }

    #[test]
    fn cursor_and_range_choose_the_innermost_symbol_around_them() {
        assert_eq!(names(&Scope::at("cart.py", CART, 4, 4)), ["cart.py::Cart::total"]);
        assert_eq!(names(&Scope::at("cart.py", CART, 4, 8)), ["cart.py::Cart"]);
        assert_eq!(names(&Scope::at("cart.py", CART, 1, 1)), ["cart.py"]);
        assert_eq!(names(&Scope::at("cart.py", CART, 1, 5)), ["cart.py"]);
        assert_eq!(names(&Scope::at("notes.txt", "x", 1, 1)), ["notes.txt"]);
    }

    #[test]
    fn an_edit_outside_is_refused_and_one_inside_is_not() {
        let scope = Scope::at("cart.py", CART, 4, 4);
        assert!(scope.check(&want(&CART.replace("return 1", "return 10"))).is_ok());
        let failure = scope.check(&want(&CART.replace("return 2", "return 20"))).expect_err("outside");
        assert!(failure.message.contains("Cart::count"), "{failure}");
        let module = Scope::Symbols(vec![SymbolPath::new("cart.py", "")]);
        assert!(module.check(&want(&CART.replace("import os\n", ""))).is_ok());
        assert!(module.check(&want(&CART.replace("return 2", "return 20"))).is_err());
        assert!(Scope::Files(vec!["other.py".into()]).check(&want("")).is_err());
    }

    #[test]
    fn a_file_that_a_step_creates_is_its_own() {
        let scope = Scope::Symbols(vec![SymbolPath::new("new.py", ""), SymbolPath::new("cart.py", "Cart::total")]);
        let create = |path: &str| EditRequest::Create { path: path.into(), text: CART.into() };
        assert!(scope.check(&create("new.py")).is_ok());
        assert!(scope.check(&create("other.py")).is_err() && scope.check(&create("cart.py")).is_err());
        assert_eq!(names(&scope.follow(&[create("new.py")])), ["new.py", "cart.py::Cart::total", "new.py::Cart"]);
    }

    #[test]
    fn the_scope_follows_a_rename() {
        let scope = Scope::at("cart.py", CART, 4, 4);
        let renamed = scope.follow(&[want(&CART.replace("def total", "def whole_sum"))]);
        assert_eq!(names(&renamed), ["cart.py::Cart::whole_sum"]);
    }
}
