//! Takes the changes of an unfinished step back before it is tried again, and tells the model.

use crate::diagnostics::{collect_diagnostics, look_before, step_verdict};
use crate::edit::rollback;
use crate::editor::event::Event;
use crate::state::durable::Keep;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::state::transcript::Transcript;
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;

/// The model has the edits in its messages, and would go on from them.
const TAKEN_BACK: &str =
    "The edits of the step before this point were taken back: the text is as it was before the step.";

/// Takes back the work of a step whose model went away, or whose budget ended. The step begins again, as after a
/// process that was killed.
///
/// # Errors
/// A file cannot be put back.
pub(crate) async fn take_back_unfinished(
    edits: &EditService,
    work: &mut TaskWork,
    keep: &mut Keep,
    transcript: &mut Transcript,
) -> Result<(), Failure> {
    let Some(mark) = keep.mark.take() else { return Ok(()) };
    let files = changed_files(work, mark);
    if files.is_empty() {
        return Ok(());
    }
    let left = rollback::roll_back_to(edits, work, mark, true).await?;
    if left.is_empty() {
        tell(transcript);
    } else {
        let text = format!("left as you changed it since: {}", left.join(", "));
        edits.hub.events.show(Event::Progress { text });
    }
    look_again(edits, &files).await;
    Ok(())
}

/// Puts the files back where the step began, for its fallback. Where that fails, the fallback goes on from the present
/// state.
pub(crate) async fn clear_for_fallback(
    edits: &EditService,
    work: &mut TaskWork,
    transcript: &mut Transcript,
    mark: usize,
) {
    let files = changed_files(work, mark);
    if files.is_empty() {
        return;
    }
    if let Err(failure) = rollback::roll_back_to(edits, work, mark, false).await {
        edits.hub.events.show(Event::Progress { text: format!("the failed step stays: {}", failure.message) });
        return;
    }
    tell(transcript);
    look_again(edits, &files).await;
}

/// The files that the task has changed since this checkpoint.
fn changed_files(work: &TaskWork, mark: usize) -> Vec<String> {
    step_verdict::files(work.journal.checkpoints.get(mark..).unwrap_or_default()).into_iter().collect()
}

fn tell(transcript: &mut Transcript) {
    if transcript.is_open() {
        transcript.tell(TAKEN_BACK.to_owned());
    }
}

/// Asks for reports on the texts that are back: those on the edits are not about them.
async fn look_again(edits: &EditService, files: &[String]) {
    if !edits.workspace.config.diagnostics.on_edit {
        return;
    }
    let mut documents = Vec::new();
    for file in files {
        documents.extend(edits.workspace.editor.read(file).await.ok());
    }
    let bystanders = collect_diagnostics::bystanders(edits.workspace.editor.as_ref(), &edits.hub.looked, files).await;
    let deadline = Deadline::after_ms(edits.workspace.config.diagnostics.timeout_ms);
    look_before::ensure_baseline(&edits.hub, &documents, &bystanders, deadline).await;
}
