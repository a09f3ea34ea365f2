//! Makes a plan: sends the facts to the model, checks its reply against the project, shows the document.

use tokio_util::sync::CancellationToken;

use crate::editor::event::Event;
use crate::plan::{Plan, Step};
use crate::planner::{plan_chat, validate_plan};
use crate::run::{context, model_turn};
use crate::state::edit_service::EditService;
use crate::state::stop;
use crate::state::task::Task;
use crate::state::unusable_reply;
use crate::task_budget;
use sextant_base::failure::{Failure, FailureKind};
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::abilities::Style;
use sextant_model::input::PlanAsk;
use sextant_model::step::{Model, ModelError, PlanReply, Spoken};

/// How often a model is asked again when its plan does not fit the project.
const ATTEMPTS: usize = 2;

/// The parts of a request for a plan, besides the facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanRequest {
    /// The faults of the last plan, or the reasons for a new one.
    pub(crate) problems: Vec<String>,
    /// Steps that stay; the new steps are numbered behind them.
    pub(crate) kept: Vec<Step>,
    /// The plan that stands, as a model reads it.
    pub(crate) standing: Vec<String>,
    /// The user's wish for a change.
    pub(crate) change: String,
    /// True if the plan is shown before it runs: its approval may go beyond the scope.
    pub(crate) is_shown: bool,
}

impl PlanRequest {
    fn ask(&self) -> PlanAsk {
        let Self { problems, standing, change, .. } = self.clone();
        PlanAsk { problems, standing, change }
    }
}

/// The failure of a model without a usable plan. The offline one names the way to a language model itself.
fn no_plan(model: &dyn Model, problem: &str) -> Failure {
    let hint = if model.needs_providers() { "" } else { "ask in other words, or use another model" };
    Failure::new(FailureKind::Model, format!("no usable plan came back: {problem}"), hint)
}

/// Asks the model for steps from the present state, and checks them against the project.
pub(crate) async fn propose(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    wanted: PlanRequest,
    cancel: &CancellationToken,
) -> Result<Plan, Failure> {
    let because = wanted.problems.clone();
    let mut input = stop::unless_stopped(
        &edits.making,
        cancel,
        context::plan_facts(edits, model, &mut task.work, &mut task.conversation, wanted.ask()),
    )
    .await?;
    let words = |words: Spoken<'_>| edits.hub.events.show(Event::spoken(words));
    let abilities = stop::unless_stopped(&edits.making, cancel, model.abilities()).await?;
    let talk = match abilities.style {
        Style::Conversation => Some(
            plan_chat::open(&edits.approvals, model, task.work.mode, &mut task.conversation.transcript, &input).await,
        ),
        Style::Step | Style::Compact => None,
    };
    let mut attempt = 0;
    loop {
        attempt += 1;
        if let Some(why) = task_budget::over_budget(&edits.workspace.config, model, &task.work.spent) {
            return Err(task_budget::stop(&task.work.journal, &why));
        }
        let reply = match &talk {
            Some(talk) => plan_chat::ask(edits, model, task, talk, cancel).await?,
            None => {
                model_turn::answered(
                    &edits.store,
                    &task.work.spent,
                    &task.work.events,
                    cancel,
                    model.plan(&input, &words),
                )
                .await?
            }
        };
        let Some(reply) = reply else { continue };
        let problems = match held(edits, model, task, reply, &wanted, cancel).await? {
            Ok(plan) => return Ok(plan),
            Err(problems) => problems,
        };
        let trace = Trace::new(Effect::Refused, "a plan", model.name(), problems.join("; "));
        task.work.events.trace(1, trace);
        if attempt > ATTEMPTS {
            let problem = unusable_reply::with_place(&edits.store.trace, &problems.join("; "));
            return Err(no_plan(model, &problem));
        }
        match &talk {
            Some(talk) => plan_chat::again(&mut task.conversation.transcript, talk, &problems),
            None => input.ask.problems = because.iter().cloned().chain(problems).collect(),
        }
    }
}

/// A reply that was checked against the project: the plan, or all of its faults.
async fn held(
    edits: &EditService,
    model: &dyn Model,
    task: &Task,
    reply: Result<PlanReply, ModelError>,
    wanted: &PlanRequest,
    cancel: &CancellationToken,
) -> Result<Result<Plan, Vec<String>>, Failure> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(ModelError::Unusable { problems, text }) => {
            unusable_reply::keep(&task.work.events, 1, model.name(), &problems.join("; "), &text);
            return Ok(Err(problems));
        }
        Err(error) => {
            let trace = Trace::new(Effect::Stopped, "the plan", model.name(), error.to_string());
            task.work.events.trace(1, trace);
            return Err(crate::run::run_loop::model_failure(&error));
        }
    };
    let held = validate_plan::validate(edits, &task.work.scope, reply, &wanted.kept, wanted.is_shown);
    let held = stop::unless_stopped(&edits.making, cancel, held).await?;
    Ok(held.map(|mut plan| {
        model.name().clone_into(&mut plan.model);
        for (number, step) in (1..).zip(&plan.steps) {
            let trace = Trace::new(Effect::Planned, &step.title, model.name(), &step.because);
            task.work.events.trace_step(number, trace);
        }
        plan
    }))
}
