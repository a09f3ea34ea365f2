//! Applies a block of code of a conversation to a symbol: one edit of the user's, as a task without a model.

use tokio_util::sync::CancellationToken;

use crate::commands::ask;
use crate::commands::block_edit::{BlockEdit, BlockRequest, block_edit};
use crate::diagnostics::workspace_look;
use crate::durable::{open_store, stored_traces};
use crate::edit::questions::{self, UserQuestion};
use crate::edit::recover;
use crate::edit::shown_change::written;
use crate::editor::event::{Event, QuestionKind};
use crate::plan::work_mode::Mode;
use crate::run::start;
use crate::state::approvals::{Approvals, UserAnswer};
use crate::state::edit_service::EditService;
use crate::state::outcome::{Ending, Outcome};
use crate::state::plan_service::PlanService;
use crate::state::request::Request;
use crate::state::stop;
use sextant_base::failure::{Failure, FailureKind};
use sextant_model::step::Model;

const OPTIONS: [&str; 2] = ["do it", "no"];

/// Applies a block. A block that cannot be meant is refused before a task begins.
pub(crate) async fn apply(
    edits: &EditService,
    plans: &PlanService,
    model: &dyn Model,
    request: &BlockRequest,
    cancel: &CancellationToken,
) -> Ending<Outcome> {
    edits.hub.events.leave_task();
    edits.hub.use_cancel(cancel);
    let found = async {
        open_store::durable(&edits.store).await;
        recover::recover(edits).await;
        block_edit(&edits.workspace, request).await
    };
    let planned = match stop::unless_stopped(&edits.making, cancel, found).await.and_then(|found| found) {
        Ok(planned) => planned,
        Err(failure) => {
            let failure = failure.without_change();
            return Ending { result: Err(failure.clone()), events: vec![Event::refused(failure)] };
        }
    };
    let result = async {
        stop::unless_stopped(&edits.making, cancel, permit(&edits.approvals, &planned)).await??;
        carry_out(edits, model, &planned, cancel).await
    };
    let result = result.await;
    if plans.waiting.lock().await.is_none() {
        workspace_look::leave_all(&edits.hub).await;
    }
    stored_traces::keep(&edits.store).await;
    Ending::of_task(result, Vec::new())
}

/// Asks about the symbols that would be lost.
async fn permit(approvals: &Approvals, planned: &BlockEdit) -> Result<(), Failure> {
    if planned.lost.is_empty() {
        return Ok(());
    }
    let lost: Vec<String> = planned.lost.iter().map(ToString::to_string).collect();
    let (target, lost) = (planned.path(), lost.join(", "));
    let text = format!("The code block takes {lost} away. Apply it to {target}?");
    let options = OPTIONS.map(str::to_owned);
    let shows = written(&planned.document.text, &planned.target.after);
    let question = UserQuestion { shows: Some(&shows), ..UserQuestion::of(QuestionKind::Edit, &text, &options) };
    match questions::ask_user(approvals, question).await? {
        UserAnswer::Option(1) => Ok(()),
        _ => {
            let message = format!("the code block was not applied to {target}");
            Err(Failure::new(FailureKind::Cancelled, message, "nothing was written"))
        }
    }
}

/// The request of the task, in the history and the conversation.
fn title(target: &str) -> String {
    format!("apply a code block to {target}")
}

async fn carry_out(
    edits: &EditService,
    model: &dyn Model,
    planned: &BlockEdit,
    cancel: &CancellationToken,
) -> Result<Outcome, Failure> {
    let words = Request {
        text: title(&planned.path().to_string()),
        path: Some(planned.document.path.clone()),
        ..Request::default()
    };
    let begun = start::begin(edits, model, &words, Mode::Simple, planned.scope(), cancel);
    let begun = stop::unless_stopped(&edits.making, cancel, begun).await.and_then(|begun| begun);
    let mut task = begun.map_err(Failure::without_change)?;
    // The first look takes its time: what was typed meanwhile is not overwritten.
    task.work.seen.whole(&planned.document.path, planned.document.text.clone());
    task.work.scope = planned.scope();
    (task.work.intent.is_direct, task.work.intent.read_only) = (true, false);
    // The block is of the conversation, and the next request there goes on with it.
    let dialogue = edits.store.talk.begin(true, &task.work.journal.task);
    (task.work.intent.earlier, task.conversation.dialogue) = (dialogue.lines(), dialogue);
    ask::run_ask(edits, model, &mut task, Some(&planned.call()), cancel).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_model::request_kind::{self, Ask};

    #[test]
    fn no_name_of_a_target_makes_a_repair_or_a_question_or_a_prohibition_of_the_request() {
        for name in ["total", "fix_errors", "Fix::warnings", "what_is_it", "do_not_change", "remove_tests", "explain"] {
            let words = title(&format!("shop/cart.py::{name}"));
            let kind = request_kind::classify(&words);
            assert!(!matches!(kind, Ask::Repair | Ask::Question), "{words}: {kind:?}");
            assert!(!request_kind::asks_report_repair(&words) && !request_kind::forbids(&words), "{words}");
        }
    }
}
