//! Changes a plan that stands: because the work left it, or because the user wants another.

use tokio_util::sync::CancellationToken;

use crate::durable;
use crate::editor::event::Event;
use crate::events::fact::{StepChange, TaskFact};
use crate::memory::keep;
use crate::plan::next_decision::Trigger;
use crate::plan::{Plan, Step, StepState, depends, document};
use crate::planner::make::{self, PlanRequest};
use crate::planner::{alternatives, run_edit_step};
use crate::run::start;
use crate::state::edit_service::EditService;
use crate::state::plan_service::PlanService;
use crate::state::request::Request;
use crate::state::session::Session;
use crate::state::span;
use crate::state::stop;
use crate::state::taken_plan::TakenPlan;
use crate::state::task::Task;
use crate::state::withdraw_question::withdraw_question;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_model::step::Model;

/// Opening of a request about the waiting plan.
const CHANGE: &str = "change:";

/// The change that a text wants in the waiting plan; `None` where the text is a request of its own.
pub fn change(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let begins = text.get(..CHANGE.len())?.eq_ignore_ascii_case(CHANGE);
    Some(text[CHANGE.len()..].trim()).filter(|words| begins && !words.is_empty())
}

/// True if there is a plan that can be changed now.
pub(crate) fn has_plan(plans: &PlanService) -> bool {
    plans.waiting.try_lock().is_ok_and(|plan| plan.is_some())
}

pub(crate) async fn change_of(plans: &PlanService, request: &Request) -> Option<String> {
    let words = change(&request.text)?;
    plans.waiting.lock().await.is_some().then(|| words.to_owned())
}

/// Gives the waiting plan to the model with the user's words. Done steps stay; the whole plan stays where the model
/// returns no usable one.
pub(crate) async fn change_plan(session: &Session, words: &str, cancel: &CancellationToken) -> Result<Plan, Failure> {
    session.hub.use_cancel(cancel);
    let mut taken = TakenPlan::take(&session.plans).await;
    let Some((plan, task)) = taken.as_mut().and_then(TakenPlan::parts) else {
        return Err(Failure::user("there is no plan to change", HintCode::Plan));
    };
    task.work.take_up(&session.events);
    span::belongs_to(task);
    session.events.show(Event::Started {
        request: format!("{CHANGE} {words}"),
        mode: task.work.mode.to_string(),
        model: session.model.name().to_owned(),
    });
    let standing = document::numbered(plan);
    let mut new = plan.clone();
    depends::keep_closed(&mut new);
    let wanted = PlanRequest {
        standing,
        change: words.to_owned(),
        kept: new.steps.clone(),
        is_shown: true,
        ..PlanRequest::default()
    };
    let proposed = make::propose(&session.edits, session.model.as_ref(), task, wanted, cancel).await?;
    new.steps.extend(proposed.steps);
    (new.title, new.reason, new.model) = (proposed.title, proposed.reason, proposed.model);
    withdraw_question(&session.events, &task.work, &mut task.progress, "the plan was changed");
    task.work.events.did(TaskFact::PlanChanged { words: words.to_owned(), changes: changes(plan, &new) });
    *plan = new;
    keep::keep(&session.store, &task.work, &mut task.keep).await;
    durable::keep_plan(&session.store, plan, task).await;
    Ok(plan.clone())
}

/// The effect of the user's words on the steps: the removed steps first, then the new ones.
pub(crate) fn changes(before: &Plan, after: &Plan) -> Vec<StepChange> {
    let has = |plan: &Plan, title: &str| plan.steps.iter().any(|step| step.title == title);
    let mut new: Vec<&Step> = after.steps.iter().filter(|step| !has(before, &step.title)).collect();
    let mut changes = Vec::new();
    for step in before.steps.iter().filter(|step| !has(after, &step.title)) {
        // A step with the same symbols is the same work in other words.
        let reworded = new.iter().position(|other| other.symbols == step.symbols).map(|at| new.remove(at));
        let title = step.title.clone();
        changes.push(match reworded {
            Some(other) => StepChange::Reworded { from: title, to: other.title.clone() },
            None => StepChange::TakenOut { title },
        });
    }
    changes.extend(new.into_iter().map(|step| StepChange::Added { title: step.title.clone() }));
    changes
}

/// Plans again for the open part; done steps stay, with their outputs. False when nothing is left to be done.
pub(crate) async fn replan(
    edits: &EditService,
    model: &dyn Model,
    plan: &mut Plan,
    task: &mut Task,
    trigger: &Trigger,
    cancel: &CancellationToken,
) -> Result<bool, Failure> {
    durable::keep_replan(&edits.store, plan, task, trigger).await;
    task.progress.replans += 1;
    task.work.intent.consent.replanned = true;
    task.progress.plan_errors = 0;
    edits.hub.events.show(Event::Progress { text: format!("planning again: {}", trigger.words()) });
    let leaning: Vec<String> = plan
        .steps
        .iter()
        .filter(|step| step.state == StepState::Open && !depends::needs(step).is_empty())
        .map(|step| step.title.clone())
        .collect();
    let mut new = plan.clone();
    depends::keep_closed(&mut new);
    let mut problems = vec![trigger.words()];
    problems
        .extend(stop::unless_stopped(&edits.making, cancel, alternatives::available(&edits.workspace, trigger)).await?);
    if !leaning.is_empty() {
        problems.push(format!("these steps leaned on others and are dropped with them: {}", leaning.join("; ")));
    }
    // A process that goes on with the plan of another one knows only the files that it has opened since.
    start::look_over_once(edits, model, &mut task.work).await;
    run_edit_step::look_at_unknown(edits, &task.work.scope, cancel).await?;
    let standing = document::numbered(&new);
    let wanted = PlanRequest { problems, standing, kept: new.steps.clone(), ..PlanRequest::default() };
    let proposed = make::propose(edits, model, task, wanted, cancel).await?;
    let more = !proposed.steps.is_empty();
    if more {
        task.progress.course.replaced = new.steps.len();
    }
    new.steps.extend(proposed.steps);
    new.model = proposed.model;
    *plan = new;
    Ok(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::work_mode::Mode;
    use crate::state::task_scope::Scope;
    use sextant_text::symbols::symbol_path::SymbolPath;

    #[test]
    fn what_the_user_changes_in_a_plan_is_feedback() {
        let step = |title: &str, symbol: &str| Step {
            title: title.into(),
            symbols: vec![SymbolPath::parse(symbol)],
            ..Step::default()
        };
        let plan = |steps: Vec<Step>| Plan { steps, ..Plan::default() };
        let before = plan(vec![step("one", "a.py::f"), step("two", "a.py::g"), step("three", "a.py::h")]);
        let after = plan(vec![step("three", "a.py::h"), step("one, gently", "a.py::f"), step("four", "b.py::k")]);
        let task = Task::new("fix total", Mode::Planner, None, Scope::Workspace);
        let words = "h first, and gently".to_owned();
        task.work.events.did(TaskFact::PlanChanged { words, changes: changes(&before, &after) });
        let drafts: Vec<String> = task.work.notes.take_drafts().into_iter().map(|draft| draft.content).collect();
        assert_eq!(
            drafts,
            [
                "The user wanted the plan otherwise: h first, and gently",
                "The user reworded the step “one”: one, gently",
                "The user took the step “two” out of the plan.",
                "The user added the step “four”."
            ]
        );
        let lessons = task.work.notes.counted().approaches;
        assert_eq!((lessons.len(), lessons[0].approach.as_str(), lessons[0].success), (1, "step two", false));
    }

    #[test]
    fn a_change_says_so() {
        assert_eq!(change("change: do g first"), Some("do g first"));
        assert_eq!(change(" Change:x"), Some("x"));
        for text in ["change g", "change:", "change:  ", "chang", "Änderung: g", "do g"] {
            assert_eq!(change(text), None, "{text}");
        }
    }
}
