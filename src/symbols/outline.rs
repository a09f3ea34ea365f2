//! The outline of one text: its symbols with their extents, in source order.

use std::ops::Range;

use crate::symbols::language::Language;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Class,
    Function,
    Method,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub kind: Kind,
    /// 1 for the first of its name among its siblings, 2 for the second (`#2`), in source order.
    pub ordinal: usize,
    /// Index of the enclosing symbol in [`Outline::symbols`]; `None` at module level.
    pub parent: Option<usize>,
    /// Bytes of the whole symbol: leading comments, decorators, header, body. From the start of its
    /// first line's text (indentation excluded) to the end of its last statement, line end excluded.
    pub extent: Range<usize>,
    /// As `extent`, without the leading comments.
    pub declaration: Range<usize>,
    /// Bytes of the name.
    pub name_range: Range<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In source order; a parent stands before its children.
    pub symbols: Vec<Symbol>,
    /// Whether the text has syntax errors; symbols outside of them are still good.
    pub has_errors: bool,
}

impl Outline {
    /// Parses a text. A text that does not parse has the symbols that could be read.
    pub fn parse(_language: &Language, _text: &str) -> Self {
        Self::default()
    }

    /// The path of a symbol inside its file: `Cart::total`, `Cart::total#2`.
    pub fn path_of(&self, _index: usize) -> String {
        String::new()
    }

    /// The innermost symbol that holds the offset (leading comments and decorators included).
    pub fn at(&self, _offset: usize) -> Option<usize> {
        None
    }

    /// Finds a symbol by full path or unique suffix.
    pub fn find(&self, _names: &str) -> Result<usize, NotFound> {
        Err(NotFound { candidates: Vec::new() })
    }
}

/// No symbol, or more than one, has the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The ambiguous ones, or else the nearest names; full paths inside the file.
    pub candidates: Vec<String>,
}
