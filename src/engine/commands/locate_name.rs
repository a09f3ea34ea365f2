//! Finds the place of a name that a reader points at: `FILE::SYMBOL`, `FILE:LINE`, a file, or a unique symbol.

use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};

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
    let name = &*with_folders(workspace, name).await;
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

/// The name with the folders of its file, where a file of that name is the only one: models leave folders out.
async fn with_folders(workspace: &Workspace, name: &str) -> String {
    let file = name.split(':').next().unwrap_or(name).to_owned();
    if file.is_empty() || !file.contains('.') || workspace.root.join(&file).exists() {
        return name.to_owned();
    }
    let root = workspace.root.clone();
    let found = tokio::task::spawn_blocking(move || {
        let tail = format!("/{file}");
        let mut files = workspace_files::list(&root, "", MOST_FILES).files;
        files.retain(|path| path.ends_with(&tail));
        files.pop().filter(|_| files.is_empty()).map(|path| (path, file.len()))
    });
    match found.await {
        Ok(Some((path, length))) => format!("{path}{}", &name[length..]),
        Ok(None) | Err(_) => name.to_owned(),
    }
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`.
fn numbered(name: &str) -> Option<(&str, usize)> {
    let mut parts = name.splitn(3, ':');
    let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
    Some((file, line))
}
