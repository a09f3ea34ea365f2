//! Refuses changes of files that another session has open and this one does not.

use std::path::PathBuf;
use std::sync::Arc;

use crate::editor::editor_error::EditorError;
use crate::editor::{Applied, Editor, FileEdit};
use crate::state::neighbour_sessions::{HeldElsewhere, Holding, Neighbours};
use sextant_store::workspace::root::Root;

/// Refuses a change of files that another session's editor has open: with unwritten changes, or at all where this
/// editor does not have them open. Where both have a file as it is on disk, the other one reads it again afterwards.
///
/// # Errors
/// With the session that has the file.
pub(crate) async fn check(
    editor: &dyn Editor,
    root: &Root,
    neighbours: Option<&Arc<dyn Neighbours>>,
    edits: &[FileEdit],
) -> Result<(), EditorError> {
    let Some(neighbours) = neighbours else { return Ok(()) };
    let files: Vec<PathBuf> = edits.iter().map(|edit| root.join(edit.path())).collect();
    let theirs = neighbours.holding(&files).await;
    if theirs.is_empty() {
        return Ok(());
    }
    let ours = editor.held(&files).await?;
    let refused =
        theirs.into_iter().find(|held| held.how != Holding::Open || ours.iter().all(|ours| ours.path != held.path));
    refused.map_or(Ok(()), |held| Err(refusal(root, held)))
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
