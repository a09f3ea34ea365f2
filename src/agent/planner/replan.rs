//! Changing a plan that stands: because the work left it, or because the user wants it otherwise.

use tokio_util::sync::CancellationToken;

use crate::agent::durable;
use crate::agent::memory::keep;
use crate::agent::plan::evaluate::Trigger;
use crate::agent::plan::{Plan, StepState, depends, document};
use crate::agent::planner::available;
use crate::agent::planner::make::{self, PlanRequest};
use crate::agent::state::request::Request;
use crate::agent::state::session::Session;
use crate::agent::state::span;
use crate::agent::state::stop;
use crate::agent::state::task::Task;
use crate::base::failure::Failure;
use crate::base::hint::HintCode;
use crate::editor::event::Event;

/// What a request begins with that is about the waiting plan.
const CHANGE: &str = "change:";

/// What a text wants changed in the plan that waits; `None` where it is a request of its own.
pub(crate) fn change(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let begins = text.get(..CHANGE.len())?.eq_ignore_ascii_case(CHANGE);
    Some(text[CHANGE.len()..].trim()).filter(|words| begins && !words.is_empty())
}

/// Whether there is a plan that could be changed now.
pub(crate) fn has_plan(session: &Session) -> bool {
    session.plan.try_lock().is_ok_and(|plan| plan.is_some())
}

pub(crate) async fn change_of(session: &Session, request: &Request) -> Option<String> {
    let words = change(&request.text)?;
    session.plan.lock().await.is_some().then(|| words.to_owned())
}

/// Gives the waiting plan to the model with the user's words. Done steps stay; the plan that stood stays too
/// where no usable one comes back.
pub(crate) async fn change_plan(session: &Session, words: &str, cancel: &CancellationToken) -> Result<Plan, Failure> {
    session.use_cancel(cancel);
    let Some((mut plan, mut task)) = session.plan.lock().await.take() else {
        return Err(Failure::user("there is no plan to change", HintCode::Plan));
    };
    session.take_up(&mut task);
    span::belongs_to(&task);
    let standing = document::numbered(&plan);
    let mut new = plan.clone();
    depends::keep_closed(&mut new);
    let wanted = PlanRequest { standing, change: words.to_owned(), kept: new.steps.clone(), ..PlanRequest::default() };
    let result = make::propose(session, &mut task, wanted, cancel).await;
    let result = result.map(|proposed| {
        new.steps.extend(proposed.steps);
        (new.title, new.reason, new.model) = (proposed.title, proposed.reason, proposed.model);
        task.progress.question = None;
        task.note_plan_change(&plan, &new, words);
        plan = new;
        plan.clone()
    });
    if result.is_ok() {
        keep::keep(session, &mut task).await;
        durable::keep_plan(session, &plan, &mut task).await;
    }
    *session.plan.lock().await = Some((plan, task));
    result
}

/// Plans anew for what is left; what is done stays, with its outputs. False when nothing is left to be done.
pub(crate) async fn replan(
    session: &Session,
    plan: &mut Plan,
    task: &mut Task,
    trigger: &Trigger,
    cancel: &CancellationToken,
) -> Result<bool, Failure> {
    durable::keep_replan(session, plan, task, trigger).await;
    task.progress.replans += 1;
    task.intent.consent.replanned = true;
    task.progress.plan_errors = 0;
    session.emit(Event::Progress { text: format!("planning anew: {}", trigger.words()) });
    let leaning: Vec<String> = plan
        .steps
        .iter()
        .filter(|step| step.state == StepState::Open && !depends::needs(step).is_empty())
        .map(|step| step.title.clone())
        .collect();
    let mut new = plan.clone();
    depends::keep_closed(&mut new);
    let mut problems = vec![trigger.words()];
    problems.extend(stop::unless_stopped(session, cancel, available::available(session, trigger)).await?);
    if !leaning.is_empty() {
        problems.push(format!("these steps leaned on others and are dropped with them: {}", leaning.join("; ")));
    }
    let wanted =
        PlanRequest { problems, standing: document::numbered(&new), kept: new.steps.clone(), change: String::new() };
    let proposed = make::propose(session, task, wanted, cancel).await?;
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
    use super::change;

    #[test]
    fn a_change_says_so() {
        assert_eq!(change("change: do g first"), Some("do g first"));
        assert_eq!(change(" Change:x"), Some("x"));
        for text in ["change g", "change:", "change:  ", "chang", "Änderung: g", "do g"] {
            assert_eq!(change(text), None, "{text}");
        }
    }
}
