//! Takes over what the user has made of the diff of a task: the text of its files becomes theirs, as a part of the task.

use crate::commands::review_changes;
use crate::durable::stored_review;
use crate::edit::{amended_task, recover};
use crate::editor::FileEdit;
use crate::editor::editor_error::EditorError;
use crate::state::edit_request::EditRequest;
use crate::state::edit_service::EditService;
use crate::state::plan_service::PlanService;
use sextant_base::document_fault::DocumentFault;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::edited_diff::{self, EditedFile};
use sextant_text::edits::hunks::hunks;

/// Why an edited diff was not taken over. Nothing is written then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRefused {
    /// The faults, by lines.
    Faults(Vec<DocumentFault>),
    Failure(Failure),
}

impl From<Vec<DocumentFault>> for DiffRefused {
    fn from(faults: Vec<DocumentFault>) -> Self {
        Self::Faults(faults)
    }
}

impl From<Failure> for DiffRefused {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Makes the edits that the user's text of the diff of a task asks for, beside a running task. They become a part of
/// that task; of a task whose texts are gone, they count as the user's typing. Returns a summary; an unchanged diff has
/// an empty one.
///
/// # Errors
/// The text has faults, a file has changed since, or the editor refuses the edit.
pub(crate) async fn edit_diff(
    service: &EditService,
    plans: &PlanService,
    task: &str,
    shown: &str,
    now: &str,
) -> Result<String, DiffRefused> {
    let files = edited_diff::edited(shown, now)?;
    if files.is_empty() {
        return Ok(String::new());
    }
    stored_review::load(&service.store).await;
    let _turn = service.store.review.turn.lock().await;
    let (wanted, count) = edits_of(service, &files).await?;
    if wanted.is_empty() {
        return Ok(String::new());
    }
    match amended_task::journal(service, task).await {
        Some(journal) => amended_task::amend(service, plans, &journal, wanted).await?,
        None => {
            let edits: Vec<FileEdit> = wanted.into_iter().map(EditRequest::into_edit).collect();
            review_changes::make(service, &edits, service.store.review.now()).await?;
        }
    }
    stored_review::save(&service.store.review).await;
    let places = match files.as_slice() {
        [only] => only.path.clone(),
        many => counted(many.len(), "file"),
    };
    Ok(format!("took over {} of the diff into {places}", counted(count, "change")))
}

/// The edits of the files as they are, and the number of the user's changes.
async fn edits_of(service: &EditService, files: &[EditedFile]) -> Result<(Vec<EditRequest>, usize), DiffRefused> {
    let (mut wanted, mut faults): (Vec<EditRequest>, Vec<DocumentFault>) = (Vec::new(), Vec::new());
    let mut count = 0;
    for file in files {
        let line = file.hunks.first().map_or(1, |hunk| hunk.line);
        let Some(document) = recover::look_at(&service.workspace, &file.path).await? else {
            faults.push(DocumentFault { line, message: "the file is gone: remove its part here".to_owned() });
            continue;
        };
        if let Some(reason) = &document.locked {
            return Err(Failure::from(EditorError::Locked { path: document.path, reason: reason.clone() }).into());
        }
        match file.edits(&document.text) {
            Ok(found) => {
                count += found.len();
                let after = apply(&document.text, &found).unwrap_or_else(|_| document.text.to_string());
                let least = hunks(&document.text, &after);
                if !least.is_empty() {
                    wanted.push(EditRequest::change(document, least, false));
                }
            }
            Err(wrong) => faults.extend(wrong),
        }
    }
    if faults.is_empty() { Ok((wanted, count)) } else { Err(faults.into()) }
}
