//! Holds a file with the user's place in it, and the symbols there.

use crate::symbols::language::Language;
use crate::symbols::outline::{Outline, Symbol};

/// A file that a block of code may go into.
#[derive(Clone, Copy)]
pub struct CodeFile<'a> {
    pub language: &'a Language,
    pub text: &'a str,
    pub outline: &'a Outline,
    /// The byte of the cursor; `None` where it is in another file.
    pub cursor: Option<usize>,
}

impl CodeFile<'_> {
    /// The innermost symbol at the cursor.
    pub(super) fn at_cursor(&self) -> Option<usize> {
        self.cursor.and_then(|cursor| self.outline.at(cursor))
    }

    /// A symbol and those around it, innermost first.
    pub(super) fn around(&self, symbol: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(symbol, |symbol| self.outline.symbols[*symbol].parent)
    }

    /// The symbols at the cursor that others can name, innermost first; no function inside a function.
    pub(super) fn named_at_cursor(&self) -> Vec<usize> {
        let mut chain: Vec<usize> = self.around(self.at_cursor()).collect();
        let outer_code = chain.iter().rposition(|symbol| self.symbol(*symbol).kind.is_code());
        chain.drain(..outer_code.unwrap_or(0));
        chain
    }

    /// The symbols directly inside another one, or at the level of the file.
    pub(super) fn children(&self, holder: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let all = self.outline.symbols.iter().enumerate();
        all.filter(move |(_, symbol)| symbol.parent == holder).map(|(index, _)| index)
    }

    pub(super) fn symbol(&self, index: usize) -> &Symbol {
        &self.outline.symbols[index]
    }
}
