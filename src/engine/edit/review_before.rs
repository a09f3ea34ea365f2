//! Shows each edit to the user before it is written, where the option `review = "before"` wants it.

use crate::edit::edit_guard;
use crate::edit::preview::ProposedEdit;
use crate::edit::questions::UserQuestion;
use crate::edit::shown_change::written;
use crate::editor::event::QuestionKind;
use crate::state::agent_config::ReviewTime;
use crate::state::approvals::Approvals;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_request::EditRequest;
use crate::state::task::TaskWork;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_diagnostics::policy::{Effect, Trace};

const OPTIONS: [&str; 3] = ["write it", "write every edit of this task", "no"];

/// Asks about an edit, with its text and the diagnostics that it would introduce.
///
/// # Errors
/// The user refused, or cannot be asked. Nothing was written then.
pub(crate) async fn confirm(
    hub: &DiagnosticsHub,
    approvals: &Approvals,
    work: &TaskWork,
    wanted: &[EditRequest],
) -> Result<(), Failure> {
    let task = &work.journal.task;
    if hub.workspace.config.review != ReviewTime::Before || approvals.writes_all(task) {
        return Ok(());
    }
    let name = match wanted {
        [one] => clean(one.path()),
        more => counted(more.len(), "file"),
    };
    let shows: Vec<String> = wanted.iter().filter_map(shown).collect();
    if shows.is_empty() {
        return Ok(());
    }
    let (text, shows) = (format!("Write this edit of {name}?"), shows.join("\n"));
    let options = OPTIONS.map(str::to_owned);
    let trace = Trace::new(Effect::Asked, format!("edit of {name}"), "review_before", "the user reviews before");
    work.events.trace(work.step.max(1), trace);
    let question = UserQuestion { shows: Some(&shows), ..UserQuestion::of(QuestionKind::Edit, &text, &options) };
    let edit = ProposedEdit::new(wanted);
    let answer = edit_guard::answer(hub, approvals, &work.intent, &work.events, &edit, question).await?;
    match answer.choice() {
        1 => Ok(()),
        2 => {
            approvals.write_all(task);
            Ok(())
        }
        _ => Err(tool_failure(answer.refusal(&format!("this edit of {name}")), "do it as the user wants, or go on")),
    }
}

/// The changed lines of one file; `None` where nothing changes.
fn shown(want: &EditRequest) -> Option<String> {
    let before = want.before();
    let after = want.after().filter(|after| &***after != before)?;
    Some(format!("{}, {}", clean(want.path()), written(before, after)))
}
