//! Decides whether a task that only fixes reports has come to its end. Its model is then not asked once more. A small
//! model would go on to change code that is right by now.

use crate::diagnostics::reported;
use crate::events::fact::TaskFact;
use crate::plan::work_mode::Mode;
use crate::run::finish::known_verdict;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::request_kind;

/// Runs after each step. True only where every provider has reported on the current text. Something was repaired, no
/// report in scope is left, and nothing is new anywhere.
pub(crate) async fn is_repaired(edits: &EditService, work: &TaskWork) -> bool {
    let open = work.reports.pending.is_some() || work.reports.deferred.is_some();
    if work.mode != Mode::Simple || work.journal.is_empty() || open {
        return false;
    }
    let symbols = work.intent.analysis.symbols.iter().map(ToString::to_string);
    let named: Vec<String> = symbols.chain(work.intent.analysis.files.iter().cloned()).collect();
    let is_name = |word: &str| named.iter().any(|name| request_kind::words(name).contains(&word));
    if !request_kind::asks_only_report_repair(&work.request, is_name) {
        return false;
    }
    if !reported::in_scope(&edits.hub, &work.scope).await.is_empty()
        || !reported::unsettled(&edits.hub, &work.scope).await.is_empty()
    {
        return false;
    }
    let floor = edits.workspace.config.diagnostics.severity_floor;
    let verdict = known_verdict(edits, work).await;
    let new = verdict.new_from(floor).count();
    if verdict.fixed_from(floor) == 0 || new > 0 || !verdict.pending.is_empty() {
        return false;
    }
    let reason = "nothing that is reported in scope is left, and nothing is new: the model is not asked again";
    work.events.trace(work.step, Trace::new(Effect::Stopped, "the task", "repaired", reason));
    work.events.did(TaskFact::CallSaved);
    true
}
