//! Answers the question that a plan waits with.

use tokio_util::sync::CancellationToken;

use crate::commands::approve;
use crate::durable;
use crate::edit::{edit_transaction, rollback};
use crate::editor::event::Event;
use crate::events::envelope::TaskEvent;
use crate::events::fact::TaskFact;
use crate::plan::inputs::{Input, Value};
use crate::plan::user_question::{ANSWER, PlanAnswer};
use crate::plan::work_mode::Phase;
use crate::plan::{StepState, Steps, depends};
use crate::planner::ending;
use crate::state::approvals::UserAnswer;
use crate::state::edit_service::EditService;
use crate::state::outcome::{Ending, Outcome};
use crate::state::plan_service::PlanService;
use crate::state::session::Session;
use sextant_base::failure::Failure;

/// Answers the open question with one of its options, or in the user's words.
pub(crate) async fn answer_question(
    session: &Session,
    answer: UserAnswer,
    cancel: &CancellationToken,
) -> Ending<Outcome> {
    session.hub.use_cancel(cancel);
    match take_answer(&session.edits, &session.plans, &answer).await {
        Ok(true) => approve::approve(session, Steps::All, cancel).await,
        Ok(false) => ending::pause(session).await,
        // It ends no task, and is no part of the conversation.
        Err(failure) => Ending { result: Err(failure.clone()), events: vec![Event::refused(failure)] },
    }
}

/// Applies the answer to the plan and returns whether the plan goes on then. The question stays open where the answer
/// cannot be applied.
pub(crate) async fn take_answer(edits: &EditService, plans: &PlanService, given: &UserAnswer) -> Result<bool, Failure> {
    edit_transaction::catch_up(edits, plans).await?;
    let mut waiting = plans.waiting.lock().await;
    let Some((plan, task)) = waiting.as_mut() else { return Err(no_question()) };
    let Some(question) = task.progress.question.take() else { return Err(no_question()) };
    let options = question.options();
    let number = given.choice();
    // Words of the user's are as good as an answer that the model has suggested.
    let taken = match given {
        UserAnswer::Words(words) => Some((words.clone(), PlanAnswer::Suggested(words))),
        UserAnswer::Option(number) => {
            number.checked_sub(1).and_then(|index| options.get(index).cloned()).zip(question.choice(*number))
        }
    };
    let Some((answer, choice)) = taken else {
        let failure = Failure::user(format!("{number} is not an answer"), format!("1 to {}", options.len()));
        task.progress.question = Some(question);
        return Err(failure);
    };
    let goes_on = !matches!(choice, PlanAnswer::TakeBack | PlanAnswer::Leave);
    if choice == PlanAnswer::TakeBack
        && let Err(failure) = rollback::roll_back_to(edits, &mut task.work, question.mark, false).await
    {
        task.progress.question = Some(question);
        return Err(failure);
    }
    let fact = TaskFact::AnswerGiven { question: question.text.clone(), answer: answer.clone() };
    task.progress.course.escalations.push(format!("{} → {answer}", question.text));
    let Some(step) = plan.steps.get_mut(question.step) else { return Err(no_question()) };
    match choice {
        PlanAnswer::GoOn | PlanAnswer::Leave => {}
        PlanAnswer::TakeBack => {
            step.state = StepState::Open;
            "taken back".clone_into(&mut step.result.outcome);
        }
        PlanAnswer::Again | PlanAnswer::Suggested(_) => {
            step.state = StepState::Open;
            task.work.intent.consent.allowed.extend(question.allows.iter().cloned());
            if let PlanAnswer::Suggested(chosen) = choice {
                step.inputs.retain(|input| input.name != ANSWER);
                let value = Value::Text(chosen.to_owned());
                step.inputs.push(Input { name: ANSWER.to_owned(), value });
            }
        }
    }
    if step.state == StepState::Open {
        step.result.output = None;
        depends::reopen(plan, question.step + 1);
    }
    durable::keep_task(&edits.store, task, Some(plan), Phase::Paused).await;
    task.work.events.did(fact);
    task.work.events.emit(TaskEvent::Answered { choice: Some(number), words: None });
    Ok(goes_on)
}

pub(crate) fn no_question() -> Failure {
    let hint = "the model asks one, a plan in supervised mode, or an edit or a command that needs your word";
    Failure::user("no question is open", hint)
}
