//! The outline of one text: its symbols with their extents, in source order.

use std::ops::Range;

use crate::symbols::language::Language;
use crate::symbols::path_spelling::spelled;
use crate::symbols::recent_texts::RecentTexts;
pub use crate::symbols::symbol_kind::SymbolKind;

mod declarator;
mod definitions;
mod leading;
mod nest;
mod ordinals;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// 1 for the first of its name and owner, 2 for the second (`#2`), in source order; definitions come before mere
    /// declarations.
    pub ordinal: usize,
    /// Index of the enclosing symbol in [`Outline::symbols`]; `None` at module level.
    pub parent: Option<usize>,
    /// The path of the holder that others name it by; empty at module level. Mostly that of the parent. A method that
    /// stands outside of its type (`func (c *Cart) Total()`, `impl Cart`) has the path of its type.
    pub owner: String,
    /// Bytes of the whole symbol: leading comments, decorators, header, body, the mark that ends it. It starts with the
    /// text of its first line (indentation excluded). It ends with its last statement (or with a comment indented like
    /// the body below it), line end excluded.
    pub extent: Range<usize>,
    /// As `extent`, without the leading comments.
    pub declaration: Range<usize>,
    /// The byte where the header starts, behind decorators, attributes and the comments between them.
    pub header: usize,
    /// Bytes of the name; empty at the start of the symbol if it is nowhere in the text.
    pub name_range: Range<usize>,
    /// The mark that ends it and belongs to it (`;` of a field).
    pub tail: Option<char>,
    /// The mark between it and its neighbours in a list (`,` between the members of an object).
    pub separator: Option<ListSeparator>,
    /// True if another place defines it: a prototype, the signature of an overload.
    pub is_declaration: bool,
}

/// The mark between the members of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSeparator {
    pub mark: char,
    /// True if the last member may have none behind it: the names of one declaration.
    pub is_strict: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In source order; a parent stands before its children.
    pub symbols: Vec<Symbol>,
    /// True if the text has syntax errors; symbols outside of them are still good.
    pub has_errors: bool,
}

impl Outline {
    /// Parses a text. A text with syntax errors has the symbols that could be read.
    pub fn parse(language: &Language, text: &str) -> Self {
        match language.tree(text) {
            Some(tree) => Self::of_tree(language, text, &tree),
            None => Self { symbols: Vec::new(), has_errors: true },
        }
    }

    /// The outline of a text that is parsed already.
    pub fn of_tree(language: &Language, text: &str, tree: &tree_sitter::Tree) -> Self {
        static RECENT: RecentTexts<Outline> = RecentTexts::new();
        let read = || match language.symbols_query() {
            Some(query) => {
                let found = definitions::Definitions::read(&query, text, tree);
                Self { symbols: nest::symbols(text, found), has_errors: tree.root_node().has_error() }
            }
            None => Self { symbols: Vec::new(), has_errors: true },
        };
        RECENT.get(language, text, read).as_ref().clone()
    }

    /// The path of a symbol inside its file: `Cart::total`, `Cart::total#2`. Empty for an unknown index.
    pub fn path_of(&self, index: usize) -> String {
        self.symbols.get(index).map(Symbol::path).unwrap_or_default()
    }

    /// The innermost symbol that holds the offset (leading comments and decorators included). The end of an extent
    /// belongs to it: the cursor stands there after the last character.
    pub fn at(&self, offset: usize) -> Option<usize> {
        let mut at = self.symbols.partition_point(|symbol| symbol.extent.start <= offset).checked_sub(1);
        while let Some(index) = at {
            if offset <= self.symbols[index].extent.end {
                break;
            }
            at = self.symbols[index].parent;
        }
        at
    }

    /// The symbols inside of a range, with offsets in a text that starts there and has so many bytes.
    pub(crate) fn within(&self, range: Range<usize>, len: usize) -> Self {
        let at = |offset: usize| offset.saturating_sub(range.start).min(len);
        let moved = |bytes: &Range<usize>| at(bytes.start)..at(bytes.end);
        let is_inside = |symbol: &Symbol| symbol.extent.start >= range.start && symbol.extent.end <= range.end;
        let mut kept: Vec<usize> = Vec::new();
        let mut symbols: Vec<Symbol> = Vec::new();
        for (index, symbol) in self.symbols.iter().enumerate().filter(|(_, symbol)| is_inside(symbol)) {
            let parent = symbol.parent.and_then(|parent| kept.iter().position(|one| *one == parent));
            kept.push(index);
            symbols.push(Symbol {
                parent,
                extent: moved(&symbol.extent),
                declaration: moved(&symbol.declaration),
                header: at(symbol.header),
                name_range: moved(&symbol.name_range),
                ..symbol.clone()
            });
        }
        Self { symbols, has_errors: self.has_errors }
    }

    /// Finds a symbol by full path or unique suffix. A full path wins over a suffix; a name that has twins
    /// needs its ordinal (`total#1`), unless one of them defines what the others declare.
    pub fn find(&self, names: &str) -> Result<usize, NotFound> {
        crate::symbols::symbol_path::find(self, names)
    }

    /// Finds the symbol with exactly this [`Self::path_of`], which is the first where several share the name; any other
    /// text is read as [`Self::find`] does. For paths that were made here, and not written by somebody.
    pub fn known(&self, path: &str) -> Option<usize> {
        let exact = self.symbols.iter().position(|symbol| symbol.path() == path);
        exact.or_else(|| self.find(path).ok())
    }

    /// How many symbols share the name of this one in its place, itself among them.
    pub fn twins(&self, index: usize) -> usize {
        let own = &self.symbols[index];
        self.symbols.iter().filter(|symbol| symbol.name == own.name && symbol.owner == own.owner).count()
    }

    /// The path that names a symbol among all others: the first of twins gets its `#1`.
    pub fn unique_path_of(&self, index: usize) -> String {
        let all: Vec<usize> = (0..self.symbols.len()).collect();
        self.exact_path_of(index, &all)
    }

    /// The same, with every symbol where several share the name in one place: overloads, a property and its setter.
    pub fn find_all(&self, names: &str) -> Result<Vec<usize>, NotFound> {
        crate::symbols::symbol_path::find_all(self, names)
    }

    /// The path of a symbol that names it among these: the first of twins gets its `#1`.
    pub fn exact_path_of(&self, index: usize, among: &[usize]) -> String {
        crate::symbols::symbol_path::exact_path(self, index, among)
    }
}

impl Symbol {
    /// `Cart::total`, `Cart::total#2`.
    pub fn path(&self) -> String {
        let name = match self.ordinal {
            0 | 1 => spelled(&self.name),
            n => format!("{}#{n}", spelled(&self.name)),
        };
        joined(&self.owner, &name)
    }
}

/// A path and one more part of it.
fn joined(owner: &str, name: &str) -> String {
    match (owner.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => owner.to_owned(),
        _ => format!("{owner}::{name}"),
    }
}

/// No symbol, or more than one, has the name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// The ambiguous ones, or else the nearest names; full paths inside the file.
    pub candidates: Vec<String>,
    pub is_ambiguous: bool,
}

#[cfg(test)]
mod tests;
