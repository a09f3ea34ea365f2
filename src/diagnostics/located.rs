//! A diagnostic in the symbol where it was found.

use std::collections::BTreeMap;

use crate::model::Diagnostic;
use sextant_base::positions::{Encoding, LineIndex};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// A diagnostic with the names a reader knows it by.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedDiagnostic {
    pub diagnostic: Diagnostic,
    /// Every source that reports it, its own source first.
    pub sources: Vec<String>,
    /// Full symbol path; the file alone at module level.
    pub symbol: SymbolPath,
    /// One-based.
    pub line: u32,
    /// One-based, in bytes of the line.
    pub column: u32,
}

/// Finds the symbol of a diagnostic; parses each file once.
#[derive(Default)]
pub struct Namer {
    files: BTreeMap<String, (LineIndex, Outline)>,
}

impl Namer {
    pub fn name<'t>(
        &mut self,
        diagnostic: &Diagnostic,
        text_of: impl Fn(&str) -> Option<&'t str>,
    ) -> LocatedDiagnostic {
        let file = diagnostic.location.file().unwrap_or_default().to_owned();
        let Some((text, range)) = text_of(&file).zip(diagnostic.location.range()) else {
            let line = diagnostic.location.range().map_or(1, |range| range.start.line.saturating_add(1));
            let (symbol, sources) = (SymbolPath::new(file, ""), vec![diagnostic.source.clone()]);
            return LocatedDiagnostic { diagnostic: diagnostic.clone(), sources, symbol, line, column: 1 };
        };
        let (index, outline) = self.files.entry(file.clone()).or_insert_with(|| {
            let outline = language::of_path(&file).map(|language| Outline::parse(language, text)).unwrap_or_default();
            (LineIndex::new(text), outline)
        });
        let offset = index.offset(text, range.start, Encoding::Utf16);
        let names = outline.at(offset).map(|symbol| outline.path_of(symbol)).unwrap_or_default();
        let line = index.line_of(offset);
        LocatedDiagnostic {
            diagnostic: diagnostic.clone(),
            sources: vec![diagnostic.source.clone()],
            symbol: SymbolPath::new(file, names),
            line: range.start.line.saturating_add(1),
            column: u32::try_from(offset.saturating_sub(index.line_start(line))).unwrap_or(0) + 1,
        }
    }
}
