//! `apply_fix`: applies a language server's own fix, and verifies it by its effect on the diagnostics.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diagnostics::{code_actions, reported, triage};
use crate::edit::{change, rollback};
use crate::events::task_events::TaskEvents;
use crate::plan::StepKind;
use crate::state::answer_status::Status;
use crate::state::approvals::Approvals;
use crate::state::call_summary::Subject;
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_answer::EditAnswer;
use crate::state::edit_request::{EditOutcome, When};
use crate::state::edit_service::EditService;
use crate::state::notes::TAKEN_BACK;
use crate::state::task::{OfferReports, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::tools::tool::{Tool, ToolDefinition};
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_diagnostics::model::Severity;
use sextant_model::step::Model;
use sextant_model::tools::Access;

/// The least time, in milliseconds, that the verification of a fix may take: an unverified fix is worth little.
const VERIFY_MS: u64 = 10_000;

pub(crate) const TOOL: ToolDefinition =
    ToolDefinition::of::<ApplyFix>("apply_fix", "", Access::Edit).serves(&[StepKind::Edit]);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyFix {
    fix: String,
}

#[async_trait]
impl Tool for ApplyFix {
    fn subject(&self) -> Subject {
        Subject::fix(&self.fix)
    }

    async fn permit(
        &self,
        _workspace: &Workspace,
        _approvals: &Approvals,
        _task_events: &TaskEvents,
        offers: &OfferReports,
    ) -> Result<(), Failure> {
        let id = &self.fix;
        let offered = offers.offered.iter().any(|offer| offer.id == *id);
        if offered { Ok(()) } else { Err(tool_failure(format!("no fix {id:?} is offered"), "name one that is")) }
    }

    async fn run(&self, edits: &EditService, _model: &dyn Model, work: &mut TaskWork) -> Result<ToolAnswer, Failure> {
        let deadline = Deadline::after_ms(edits.workspace.config.diagnostics.timeout_ms.max(VERIFY_MS));
        let name = work.reports.offers.offered.iter().find(|offer| offer.id == self.fix).map(|offer| offer.key.clone());
        let about =
            work.reports.offers.offered.iter().find(|offer| offer.id == self.fix).map(|offer| offer.about.clone());
        let wanted = code_actions::wanted(&edits.workspace, &self.fix, deadline).await;
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(failure) => {
                work.reports.offers.tried.extend(name);
                return Err(failure);
            }
        };
        let alike = count_alike(&edits.hub, &work.scope, about.as_deref()).await;
        work.reports.offers.tried.extend(name.clone());
        let changed = change::change(edits, work, wanted, When::Now, deadline).await?;
        if changed.verdict.status == Status::Complete
            && changed.verdict.fixed.is_empty()
            && let Some(about) = &about
        {
            *work.reports.offers.survived.entry(about.clone()).or_default() += 1;
        }
        if let Some(reason) = worse(&changed.verdict) {
            rollback::take_back_last(edits, work, &changed).await?;
            return Err(tool_failure(format!("{TAKEN_BACK}: {reason}"), "take another way"));
        }
        if changed.verdict.new.is_empty() && count_alike(&edits.hub, &work.scope, about.as_deref()).await < alike {
            // The fix worked: the same may be offered for another diagnostic of the same words. Each such fix leaves
            // fewer to repair, so that this comes to an end.
            work.reports.offers.served += 1;
            work.reports.offers.tried.retain(|tried| Some(tried) != name.as_ref());
        }
        let late = std::mem::take(&mut work.reports.late.found);
        let answer = EditAnswer::of(&changed, &edits.workspace.config.diagnostics, &late, unverified(&changed));
        Ok(answer.into())
    }
}

/// How many diagnostics in scope read like the target of a fix.
async fn count_alike(hub: &DiagnosticsHub, scope: &Scope, about: Option<&str>) -> usize {
    let Some(about) = about else { return 0 };
    reported::in_scope(hub, scope).await.iter().filter(|found| triage::key(found) == about).count()
}

fn unverified(changed: &EditOutcome) -> Vec<String> {
    match changed.verdict.status {
        Status::Complete | Status::Off => Vec::new(),
        status => vec![format!("the fix could not be verified in full: diagnostics {}", status.name())],
    }
}

/// Why a fix did no good; `None` when it did, or when its effect is unknown.
fn worse(verdict: &Verdict) -> Option<String> {
    let first = |severity| verdict.new.iter().find(|found| found.diagnostic.severity == severity);
    if let Some(found) = first(Severity::Error) {
        return Some(format!("it introduced an error: {}", headline(&found.diagnostic.message)));
    }
    if verdict.masked > 0 {
        return Some("it left a file that does not parse".to_owned());
    }
    let worth = |severity: Severity| severity <= Severity::Warning;
    let introduced = verdict.new.iter().filter(|found| worth(found.diagnostic.severity)).count();
    let gone = verdict.fixed.len();
    if introduced > 0 && introduced >= gone {
        return Some(format!("it introduced {} and repaired {gone}", counted(introduced, "warning")));
    }
    if verdict.status == Status::Complete && gone == 0 {
        return Some("the diagnostic is still there".to_owned());
    }
    None
}
