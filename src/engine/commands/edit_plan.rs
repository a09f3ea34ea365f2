//! Replaces the waiting plan by the document that the user has made of it, or leaves out one of its steps.

use crate::commands::resume;
use crate::durable;
use crate::editor::event::Event;
use crate::events::fact::TaskFact;
use crate::memory::keep;
use crate::plan::plan_event::plan_event;
use crate::plan::{Plan, StepState};
use crate::planner::replan;
use crate::planner::validate_edited_plan::{self, CheckedPlan, WantedPlan};
use crate::state::edit_service::EditService;
use crate::state::plan_service::PlanService;
use crate::state::taken_plan::TakenPlan;
use crate::state::withdraw_question::withdraw_question;
use sextant_base::document_fault::DocumentFault;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_diagnostics::policy::{Effect, Trace};

/// Why a document did not become the plan. The earlier plan stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanRefused {
    /// The faults, by lines.
    Faults(Vec<DocumentFault>),
    Failure(Failure),
}

/// Most faults that a door names when it has no lines to show them on.
const NAMED: usize = 5;

impl From<PlanRefused> for Failure {
    fn from(refused: PlanRefused) -> Self {
        match refused {
            PlanRefused::Failure(failure) => failure,
            PlanRefused::Faults(faults) => {
                let messages: Vec<String> =
                    faults.iter().take(NAMED).map(|fault| format!("line {}: {}", fault.line, fault.message)).collect();
                let more = faults.len().saturating_sub(NAMED);
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                let message = format!("this is not a plan that could be run: {}{more}", messages.join("; "));
                Self::user(message, "the plan that waits is as it was; correct the document")
            }
        }
    }
}

/// The plan that the user has changed.
#[derive(Clone, Debug)]
pub struct EditedPlan {
    pub plan: Plan,
    /// The event that shows it.
    pub event: Event,
    /// Notes about its steps, by lines of the document.
    pub notes: Vec<DocumentFault>,
}

/// Takes the document for the plan that waits, of this process or of one before it. `base` is the text that the user
/// began with, where it is known.
///
/// # Errors
/// The document has faults, or no plan waits.
pub(crate) async fn edit_plan(
    edits: &EditService,
    plans: &PlanService,
    text: &str,
    base: Option<&str>,
) -> Result<EditedPlan, PlanRefused> {
    replace(edits, plans, |plan| Ok(WantedPlan::read(text, base, plan))).await
}

/// Skips an open step of the plan that waits, or opens one that failed or was skipped. Steps are counted from 1.
///
/// # Errors
/// No such step has this number, another step needs the skipped one, or no plan waits.
pub(crate) async fn mark_step(
    edits: &EditService,
    plans: &PlanService,
    number: usize,
    mark: StepState,
) -> Result<EditedPlan, PlanRefused> {
    replace(edits, plans, |plan| WantedPlan::marked(plan, number, mark)).await
}

/// Replaces the plan that waits by a changed one.
async fn replace<'t>(
    edits: &EditService,
    plans: &PlanService,
    change: impl FnOnce(&Plan) -> Result<WantedPlan<'t>, Failure>,
) -> Result<EditedPlan, PlanRefused> {
    resume::take_up_plan(edits, plans).await.map_err(PlanRefused::Failure)?;
    let mut taken = TakenPlan::take(plans).await;
    let Some((plan, task)) = taken.as_mut().and_then(TakenPlan::parts) else {
        return Err(PlanRefused::Failure(Failure::user("there is no plan to change", HintCode::Plan)));
    };
    // The scope that an earlier text of the plan has added is not the user's wish any more.
    let asked = task.progress.asked_scope.get_or_insert_with(|| task.work.scope.clone()).clone();
    let wanted = change(plan).map_err(PlanRefused::Failure)?;
    let CheckedPlan { plan: new, notes } =
        validate_edited_plan::rewritten(edits, &asked, plan, wanted).await.map_err(PlanRefused::Faults)?;
    let changes = replan::changes(plan, &new);
    if !changes.is_empty() {
        task.work.take_up(&edits.hub.events);
        task.work.events.did(TaskFact::PlanChanged { words: "edited by hand".to_owned(), changes });
        keep::keep(&edits.store, &task.work, &mut task.keep).await;
    }
    let named = validate_edited_plan::outside(&task.work.scope, &new);
    if !named.is_empty() {
        let names: Vec<String> = named.iter().map(ToString::to_string).collect();
        let why = format!("the user's plan names {}", names.join(", "));
        task.work.events.trace(1, Trace::new(Effect::Understood, "the scope", "named", why));
    }
    task.work.scope = asked.widened(&validate_edited_plan::outside(&asked, &new));
    withdraw_question(&edits.hub.events, &task.work, &mut task.progress, "the plan was edited");
    durable::keep_plan(&edits.store, &new, task).await;
    plan.clone_from(&new);
    let event = plan_event(&new, new.resting_phase().words());
    Ok(EditedPlan { plan: new, event, notes })
}
