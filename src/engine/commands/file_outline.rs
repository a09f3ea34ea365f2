//! Lists the symbols of a file with their lines, for a front end that knows names and lines.

use serde::Serialize;

use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// A symbol of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutlinedSymbol {
    /// As in a symbol path, behind the file.
    pub name: String,
    /// One-based.
    pub first: usize,
    /// One-based; the last line that belongs to it.
    pub last: usize,
}

/// The symbols of a file in source order; none where its language has none.
///
/// # Errors
/// The file is not in the workspace or cannot be read.
pub(crate) async fn file_outline(workspace: &Workspace, file: &str) -> Result<Vec<OutlinedSymbol>, Failure> {
    let document = target::document(workspace, file).await?;
    let Some(language) = language::of_path(&document.path) else { return Ok(Vec::new()) };
    Ok(outlined(&Outline::parse(language, &document.text), &document.text))
}

fn outlined(outline: &Outline, text: &str) -> Vec<OutlinedSymbol> {
    let lines = LineIndex::new(text);
    let one = |index: usize| {
        let extent = &outline.symbols[index].extent;
        // An extent may end with the break of its last line.
        let end = extent.end.saturating_sub(1).max(extent.start);
        OutlinedSymbol {
            name: outline.unique_path_of(index),
            first: lines.line_of(extent.start) + 1,
            last: lines.line_of(end) + 1,
        }
    };
    (0..outline.symbols.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_symbol_has_its_name_and_its_lines() {
        let text = "import os\n\n\ndef f():\n    return 1\n\n\nclass Cart:\n    def total(self):\n        return 2\n";
        let outline = Outline::parse(language::of_path("a.py").expect("Python"), text);
        let found: Vec<(String, usize, usize)> =
            outlined(&outline, text).into_iter().map(|symbol| (symbol.name, symbol.first, symbol.last)).collect();
        let wanted = [("f", 4, 5), ("Cart", 8, 10), ("Cart::total", 9, 10)];
        assert_eq!(found, wanted.map(|(name, first, last)| (name.to_owned(), first, last)));
    }
}
