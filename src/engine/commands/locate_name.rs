//! Finds the place of a name that a reader points at: `FILE::SYMBOL`, `FILE:LINE`, a file, or a unique symbol.

use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;

/// A place in a file, for a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedName {
    /// Relative to the root.
    pub path: String,
    /// One-based.
    pub line: usize,
    /// In bytes, from 0.
    pub column: usize,
}

/// Finds the place of a name.
///
/// # Errors
/// No file and no single symbol has this name.
pub(crate) async fn locate(workspace: &Workspace, name: &str) -> Result<LocatedName, Failure> {
    if let Some((file, line)) = numbered(name)
        && let Ok(document) = target::document(workspace, file).await
    {
        return Ok(LocatedName { path: document.path, line, column: 0 });
    }
    if (!name.contains("::") || workspace.root.join(name).is_file())
        && let Ok(document) = target::document(workspace, name).await
    {
        return Ok(LocatedName { path: document.path, line: 1, column: 0 });
    }
    let place = target::place(workspace, name).await?;
    let (text, symbol) = (&place.document.text, &place.outline.symbols[place.symbol]);
    let index = LineIndex::new(text);
    let at = symbol.name_range.start;
    let line = index.line_of(at);
    Ok(LocatedName { path: place.document.path.clone(), line: line + 1, column: at - index.line_start(line) })
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`.
fn numbered(name: &str) -> Option<(&str, usize)> {
    let mut parts = name.splitn(3, ':');
    let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
    Some((file, line))
}
