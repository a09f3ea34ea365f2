//! Of several symbols that a name fits, those that a user can mean: the one at the cursor, and no mere declaration beside
//! its definition.

use std::sync::Arc;

use sextant_base::positions::LineIndex;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::{Outline, Symbol};
use sextant_text::symbols::symbol_path::SymbolPath;

/// The place of the user.
pub(crate) struct Here {
    pub(crate) file: (String, Arc<str>),
    /// One-based; `None` where no line was given.
    pub(crate) line: Option<usize>,
}

/// Narrows the symbols and files that a name fits. Blocks.
pub(crate) fn narrowed(root: &Root, here: Option<&Here>, found: Vec<SymbolPath>) -> Vec<SymbolPath> {
    if found.len() < 2 {
        return found;
    }
    let read: Vec<Option<CandidateSymbol>> = found.iter().map(|path| one(root, here, path)).collect();
    // The innermost of those around the cursor.
    let around =
        found.iter().zip(&read).filter_map(|(path, read)| Some((path, read.as_ref().filter(|read| read.is_around)?)));
    if let Some((path, _)) = around.min_by_key(|(_, read)| read.symbol.extent.len()) {
        return vec![path.clone()];
    }
    // A definition is that of a declaration if its text names the declaration's file, which it imports.
    let is_defined = |declared: &SymbolPath| {
        let name = declared.file.rsplit('/').next().unwrap_or(&declared.file);
        found.iter().zip(&read).any(|(path, read)| {
            let is_definition = read.as_ref().is_some_and(|read| !read.symbol.is_declaration);
            let imports = || read.as_ref().is_some_and(|read| path.file == declared.file || read.text.contains(name));
            path.names == declared.names && is_definition && imports()
        })
    };
    let stays = |(path, read): &(&SymbolPath, &Option<CandidateSymbol>)| {
        let is_declaration = read.as_ref().is_some_and(|read| read.symbol.is_declaration);
        !is_declaration || !is_defined(path)
    };
    found.iter().zip(&read).filter(stays).map(|(path, _)| path.clone()).collect()
}

struct CandidateSymbol {
    symbol: Symbol,
    /// That of its file.
    text: Arc<str>,
    /// True if it is around the user's line.
    is_around: bool,
}

/// Reads a symbol; `None` for a file.
fn one(root: &Root, here: Option<&Here>, path: &SymbolPath) -> Option<CandidateSymbol> {
    let own = here.filter(|here| here.file.0 == path.file);
    let text = match own {
        Some(here) => Arc::clone(&here.file.1),
        None => workspace_files::text(root, &path.file)?.into(),
    };
    let outline = Outline::parse(language::of_path(&path.file)?, &text);
    let symbol = outline.symbols[outline.find(&path.names).ok()?].clone();
    let index = LineIndex::new(&text);
    let lines = index.line_of(symbol.extent.start) + 1..=index.line_of(symbol.extent.end) + 1;
    let is_around = own.and_then(|here| here.line).is_some_and(|line| lines.contains(&line));
    Some(CandidateSymbol { symbol, text, is_around })
}
