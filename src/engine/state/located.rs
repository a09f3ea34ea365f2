//! A diagnostic in the symbol where it was found.

use sextant_diagnostics::model::Diagnostic;
use sextant_text::symbols::symbol_path::SymbolPath;

/// A diagnostic with the names a reader knows it by.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedDiagnostic {
    pub diagnostic: Diagnostic,
    /// Everybody who says so, its own source first.
    pub sources: Vec<String>,
    /// Full symbol path; the file alone at module level.
    pub symbol: SymbolPath,
    /// One-based.
    pub line: u32,
    /// One-based, in bytes of the line.
    pub column: u32,
}
