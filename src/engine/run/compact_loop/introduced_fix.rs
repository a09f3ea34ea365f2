//! Lets the language server fix the reports that a new text caused, before the model is asked again.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::diagnostics::reported::OFFERS_MS;
use crate::diagnostics::{code_actions, triage};
use crate::durable;
use crate::memory::learn;
use crate::run::run_tool_call;
use crate::state::edit_request::EditRequest;
use crate::state::edit_service::EditService;
use crate::state::stop;
use crate::state::task::Task;
use crate::state::workspace::Workspace;
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::failure::Failure;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_model::step::{Action, Model};

/// Applies one fix for the new reports: the one that its server prefers, or the only one. Several equal fixes are all
/// left alone, and `apply_fix` takes back a fix that makes things worse. Returns whether a fix has helped.
///
/// A fix that only removes is left alone: unused code may be code that the model forgot to use.
pub(super) async fn apply(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    new: &[LocatedDiagnostic],
    cancel: &CancellationToken,
) -> Result<bool, Failure> {
    if new.is_empty() {
        return Ok(false);
    }
    let deadline = Deadline::after_ms(OFFERS_MS.max(edits.workspace.config.diagnostics.timeout_ms));
    let offers =
        code_actions::offers(&edits.hub, &mut task.work, new, usize::MAX, AnswerWait { deadline, waits: false });
    let (offers, _) = stop::unless_stopped(&edits.making, cancel, offers).await?;
    let offers = learn::trusted(&edits.store, &task.work.events, task.work.step, new, offers).await;
    for at in 0..new.len() {
        let Some(fix) = triage::the_one(&offers, &[at]) else { continue };
        if stop::unless_stopped(&edits.making, cancel, only_removes(&edits.workspace, &fix.id, deadline)).await? {
            continue;
        }
        let action = Action { tool: "apply_fix".to_owned(), parameters: json!({"fix": fix.id}) };
        let (_, ok) = run_tool_call::act(edits, model, task, &action, "the new text caused what it is for").await;
        task.counts.errors = 0;
        durable::keep_call(&edits.store, task).await;
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        if ok {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a fix inserts nothing; a fix that cannot be fetched inserts nothing either.
async fn only_removes(workspace: &Workspace, id: &str, deadline: Deadline) -> bool {
    let adds = |wanted: &EditRequest| match wanted {
        EditRequest::Change { hunks, .. } => hunks.iter().any(|hunk| !hunk.text.trim().is_empty()),
        _ => true,
    };
    code_actions::wanted(workspace, id, deadline).await.map_or(true, |wanted| !wanted.iter().any(adds))
}
