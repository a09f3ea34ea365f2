//! The last step of every change: under the lock, with each path confirmed and no other session at the file.
//!
//! Afterwards the other sessions are informed.

use std::sync::Arc;

use crate::edit::{file_ownership, workspace_lock};
use crate::editor::editor_error::EditorError;
use crate::editor::{Applied, Editor, FileEdit, Save};
use crate::state::durable::Durable;
use crate::state::in_flight::Making;
use crate::state::neighbour_sessions::Neighbours;
use crate::state::workspace::Workspace;
use sextant_store::workspace::root::Root;

/// The place of a change.
pub(crate) struct Place<'a> {
    pub editor: &'a dyn Editor,
    pub(crate) root: &'a Root,
    pub(crate) durable: Option<&'a Durable>,
    pub(crate) neighbours: Option<&'a Arc<dyn Neighbours>>,
}

impl<'a> Place<'a> {
    pub(crate) fn of(workspace: &'a Workspace, making: &'a Making, durable: Option<&'a Durable>) -> Self {
        let neighbours = making.neighbours.get();
        Self { editor: workspace.editor.as_ref(), root: &workspace.root, durable, neighbours }
    }
}

/// Has the editor make the change while no other process makes one in this workspace.
///
/// # Errors
/// The lock is held for too long, a path is not ours any more, another session has a file, or the editor refuses.
pub(crate) async fn apply(at: &Place<'_>, save: Save, edits: &[FileEdit]) -> Result<Vec<Applied>, EditorError> {
    let _lock = workspace_lock::take(at.durable).await?;
    confirm(at.root, edits)?;
    file_ownership::check(at.editor, at.root, at.neighbours, edits).await?;
    let applied = at.editor.apply(edits, save).await?;
    file_ownership::notify_neighbours(at.root, at.neighbours, &applied);
    Ok(applied)
}

/// The target of a path may have changed since it was resolved.
fn confirm(root: &Root, edits: &[FileEdit]) -> Result<(), EditorError> {
    let refused = edits.iter().find_map(|edit| root.confirm(edit.path()).err());
    refused.map_or(Ok(()), |error| Err(EditorError::Other(error.to_string())))
}
