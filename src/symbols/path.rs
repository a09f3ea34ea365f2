//! `src/shop/cart.py::Cart::total`: a symbol path as text. The file alone is its module level.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolPath {
    /// Path relative to the root; empty for a bare suffix (`Cart::total`).
    pub file: String,
    /// `Cart::total#2`; empty for the module level.
    pub names: String,
}

impl SymbolPath {
    pub fn new(file: impl Into<String>, names: impl Into<String>) -> Self {
        Self { file: file.into(), names: names.into() }
    }

    /// Reads `file::A::b`, `file`, or the bare suffix `A::b`. The first part is a file when it has a `/` or a `.`.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (first, rest) = text.split_once("::").unwrap_or((text, ""));
        if first.contains('/') || first.contains('.') { Self::new(first, rest) } else { Self::new("", text) }
    }
}

impl fmt::Display for SymbolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.is_empty(), self.names.is_empty()) {
            (false, false) => write!(f, "{}::{}", self.file, self.names),
            (false, true) => f.write_str(&self.file),
            (true, _) => f.write_str(&self.names),
        }
    }
}
