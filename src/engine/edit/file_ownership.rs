//! Refuses changes of files that another session has open and this one does not.

use std::path::PathBuf;
use std::sync::Arc;

use crate::editor::editor_error::EditorError;
use crate::editor::{Applied, Editor, FileEdit};
use crate::state::edit_service::EditService;
use crate::state::neighbour_sessions::{HeldElsewhere, Holding, Neighbours};
use sextant_store::workspace::root::Root;

/// Refuses a change of files that another session's editor has open.
///
/// # Errors
/// With the session that has the file.
pub(crate) async fn check(
    editor: &dyn Editor,
    root: &Root,
    neighbours: Option<&Arc<dyn Neighbours>>,
    edits: &[FileEdit],
) -> Result<(), EditorError> {
    let files: Vec<PathBuf> = edits.iter().map(|edit| root.join(edit.path())).collect();
    let refused = refused(editor, neighbours, &files).await?;
    refused.into_iter().next().map_or(Ok(()), |held| Err(refusal(root, held)))
}

/// Refuses a task that could change none of its files, before its model is asked.
///
/// # Errors
/// With the session that has the first file.
pub(crate) async fn check_task(edits: &EditService, files: &[String]) -> Result<(), EditorError> {
    let (editor, root) = (edits.workspace.editor.as_ref(), &edits.workspace.root);
    let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
    let refused = refused(editor, edits.making.neighbours.get(), &files).await?;
    let is_refused = |file: &PathBuf| refused.iter().any(|held| held.path == *file);
    if files.is_empty() || !files.iter().all(is_refused) {
        return Ok(());
    }
    refused.into_iter().next().map_or(Ok(()), |held| Err(refusal(root, held)))
}

/// Those of the files that another session's editor has open: with unwritten changes, or at all where this editor does
/// not have them open. Where both have a file as it is on disk, the other one reads it again afterwards.
async fn refused(
    editor: &dyn Editor,
    neighbours: Option<&Arc<dyn Neighbours>>,
    files: &[PathBuf],
) -> Result<Vec<HeldElsewhere>, EditorError> {
    let Some(neighbours) = neighbours else { return Ok(Vec::new()) };
    let theirs = neighbours.holding(files).await;
    if theirs.is_empty() {
        return Ok(theirs);
    }
    let ours = editor.held(files).await?;
    let is_ours = |held: &HeldElsewhere| ours.iter().any(|ours| ours.path == held.path);
    Ok(theirs.into_iter().filter(|held| held.how != Holding::Open || !is_ours(held)).collect())
}

fn refusal(root: &Root, held: HeldElsewhere) -> EditorError {
    let path = held.path.strip_prefix(root.path()).unwrap_or(&held.path).display().to_string();
    let how = match held.how {
        Holding::Open => "",
        Holding::Unsaved => ", with unsaved changes",
        Holding::Unknown => ", or may be: it does not say",
    };
    EditorError::Elsewhere { path, how, session: held.session, process: held.pid }
}

/// Has the other sessions read the written files again. Nobody waits for that.
pub(crate) fn notify_neighbours(root: &Root, neighbours: Option<&Arc<dyn Neighbours>>, applied: &[Applied]) {
    let written = applied.iter().filter(|applied| applied.saved || applied.document.is_none());
    let written: Vec<PathBuf> = written.map(|applied| root.join(&applied.path)).collect();
    let Some(neighbours) = neighbours.filter(|_| !written.is_empty()).cloned() else { return };
    tokio::spawn(async move { neighbours.written(&written).await });
}
