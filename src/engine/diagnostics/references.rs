//! The files in reach that a language server's references name.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;

use crate::diagnostics::edit_reach::{EditReach, NamePlace};
use crate::editor::editor_lookup::{MOST_PLACES, NameLookup, Worth, places, worth};
use crate::state::workspace::Workspace;
use sextant_base::deadline::Deadline;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex};
use sextant_diagnostics::server::name_requests::NameQuestion;

/// Names of one edit that are asked about. Each makes a server search the project.
const MOST_NAMES: usize = 16;

/// Removes from the reach the files that use a changed name with another meaning, and returns their names.
///
/// The files stay as they are where a name has no answer in time, or where an answer lacks a file that imports the
/// name: a server that has just started answers before it has found the files of the project.
pub(crate) async fn narrowed(
    workspace: &Workspace,
    mut reach: EditReach,
    deadline: Deadline,
) -> (EditReach, Vec<String>) {
    if reach.places.is_empty() || reach.places.len() > MOST_NAMES {
        return (reach, Vec::new());
    }
    let answers = join_all(reach.places.iter().map(|place| users(workspace, place, deadline))).await;
    let Some(users) = answers.into_iter().collect::<Option<Vec<_>>>() else { return (reach, Vec::new()) };
    let users: BTreeSet<String> = users.into_iter().flatten().collect();
    if !reach.importing.is_subset(&users) {
        return (reach, Vec::new());
    }
    let is_meant = |file: &String| reach.kept.contains(file) || users.contains(file);
    let (files, unrelated) = std::mem::take(&mut reach.files).into_iter().partition(is_meant);
    reach.files = files;
    (reach, unrelated)
}

/// The files that use the symbol at a place; `None` without a usable answer.
async fn users(workspace: &Workspace, place: &NamePlace, deadline: Deadline) -> Option<BTreeSet<String>> {
    let document = workspace.editor.read(&place.path).await.ok()?;
    let at = LineIndex::new(&document.text).position(&document.text, place.offset, Encoding::Utf8);
    let (path, version, question) = (document.path, document.version, NameQuestion::References);
    let wanted = NameLookup { path, version, at, question, beside: Vec::new(), reading: Duration::ZERO };
    let answers = workspace.editor.look_up(&wanted, deadline).await.ok()?;
    // An answer from a part of the project leaves users out.
    let found = answers.into_iter().filter_map(|answer| answer.said.ok()).filter(|found| found.unread.is_none());
    let found = found.into_iter().find(|found| worth(&wanted.question, &found.value) == Worth::Something)?;
    let places = places(&found.value);
    let inside = |place: &crate::editor::editor_lookup::NamedPlace| path::relative(workspace.root.path(), &place.file);
    (places.len() < MOST_PLACES).then(|| places.iter().filter_map(inside).collect())
}
