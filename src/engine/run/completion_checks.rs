//! Objects to the end of a model that claims to be done: it leaves new errors, only hides what was reported, or has
//! changed nothing.

use crate::edit::change;
use crate::plan::work_mode::Mode;
use crate::run::{finish, wait_for_late};
use crate::state::comparison::Verdict;
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::render::Line;
use crate::state::task::{TaskIntent, TaskWork};
use sextant_diagnostics::model::Severity;
use sextant_model::request_kind::{self, Ask};

/// How many times a model gets an objection before the task ends as it is.
const MOST: u32 = 2;

/// Most errors that are listed.
const LISTED: usize = 12;

/// Why a task is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    pub(crate) text: String,
    /// The errors, a line each, as their providers wrote them.
    pub(crate) errors: Vec<String>,
}

/// The objection to the end; `None` where the task may end, also after `MOST` objections.
pub(crate) async fn unfinished(
    edits: &EditService,
    work: &mut TaskWork,
    mark: usize,
    objections: u32,
) -> Option<Unfinished> {
    // Deferred diagnostics are unknown before this.
    change::settle_deferred(&edits.hub, work).await;
    wait_for_late::wait(&edits.hub, work).await;
    // A step of a plan is judged by its plan.
    if objections >= MOST || edits.hub.needs_providers || work.mode != Mode::Simple {
        return None;
    }
    // A resumed task may have done it before its stop.
    if work.journal.checkpoints.len() == mark && work.journal.net().is_empty() {
        return (objections == 0 && asks_for_change(&work.journal, &work.intent)).then(|| Unfinished {
            text: "Nothing was changed, and the request reads as if something should be. Do it, or answer why nothing \
                   has to be changed."
                .to_owned(),
            errors: Vec::new(),
        });
    }
    let verdict = finish::known_verdict(edits, work).await;
    let errors = errors(&verdict);
    if errors.is_empty() {
        let text = |reason: &str| {
            format!(
                "It is not over: what was reported is hidden and not repaired: {reason}. Repair the cause, or answer \
                 why that cannot be done."
            )
        };
        let hidden = hidden(&work.journal, &verdict);
        return hidden.map(|reason| Unfinished { text: text(reason), errors: Vec::new() });
    }
    let text = "It is not over: these errors are new since the task began. Fix them, undo what caused them, or \
                answer why they are wrong.";
    Some(Unfinished { text: text.to_owned(), errors })
}

/// The new errors, a line each.
pub(crate) fn errors(verdict: &Verdict) -> Vec<String> {
    let errors = verdict.new_from(Severity::Error);
    errors.take(LISTED).map(|found| Line::of(found).text("")).collect()
}

/// Why nothing is repaired although it was requested to fix reports and some are gone; `None` where one is repaired.
pub(crate) fn hidden<'v>(journal: &Journal, verdict: &'v Verdict) -> Option<&'v str> {
    let request = &journal.request;
    let is_wanted = request_kind::asks_report_repair(request) || request_kind::classify(request) == Ask::Repair;
    verdict.not_counted.first().filter(|_| is_wanted && verdict.fixed.is_empty()).map(String::as_str)
}

/// True if the request asks for a change, as far as its words show. Where they do not show it, an answer alone may end
/// the task.
pub(crate) fn asks_for_change(journal: &Journal, intent: &TaskIntent) -> bool {
    !intent.read_only && request_kind::classify(&journal.request) == Ask::Work
}
