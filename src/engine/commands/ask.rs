//! Simple mode: from a request to its outcome, without a plan.

use tokio_util::sync::CancellationToken;

use crate::commands::direct_action::DirectAction;
use crate::commands::{direct_action, intents, rename_request};
use crate::diagnostics::workspace_look;
use crate::durable::{self, open_store, stored_traces};
use crate::edit::recover;
use crate::editor::event::{Event, Exchange};
use crate::events::fact::TaskFact;
use crate::memory::keep;
use crate::plan::work_mode::{Mode, Phase};
use crate::planner::ending;
use crate::run::unfit_ending::{self, CameTo};
use crate::run::{choose_loop, finish, requested, run_loop, run_tool_call, start};
use crate::state::dialogue::Dialogue;
use crate::state::edit_service::EditService;
use crate::state::outcome::{Ended, Ending, Outcome};
use crate::state::request::Request;
use crate::state::session::Session;
use crate::state::stop;
use crate::state::task::{Conversation, Task, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::unusable_reply;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_model::step::Model;

/// Answers a request in simple mode. Finished work is kept when the request fails or is stopped.
pub(crate) async fn ask(session: &Session, request: &Request, cancel: &CancellationToken) -> Ending<Outcome> {
    session.events.leave_task();
    let result = answer(session, request, cancel).await;
    stored_traces::keep(&session.store).await;
    Ending::of_task(result, Vec::new())
}

pub(crate) async fn answer(
    session: &Session,
    request: &Request,
    cancel: &CancellationToken,
) -> Result<Outcome, Failure> {
    requested::refuse_long(request)?;
    if let Some(done) =
        stop::unless_stopped(&session.edits.making, cancel, intents::direct(session, request, cancel)).await??
    {
        return Ok(done);
    }
    stop::unless_stopped(&session.edits.making, cancel, open_store::durable(&session.store)).await?;
    recover::recover(&session.edits).await;
    let mut rename = stop::unless_stopped(
        &session.edits.making,
        cancel,
        rename_request::find(&session.workspace, &session.approvals, request),
    )
    .await?;
    if rename.is_none() && session.model.needs_providers() {
        let refused = rename_request::refuse_unknown(&session.workspace, request);
        stop::unless_stopped(&session.edits.making, cancel, refused).await??;
    }
    let begun = async {
        let asked = stop::unless_stopped(&session.edits.making, cancel, requested::scope(&session.workspace, request));
        let scope = match &mut rename {
            None => asked.await??,
            Some(rename) => {
                if !session.model.needs_providers() {
                    rename.otherwise = asked.await?.ok();
                }
                // A rename reaches every use.
                Scope::Workspace
            }
        };
        stop::unless_stopped(
            &session.edits.making,
            cancel,
            start::begin(&session.edits, session.model.as_ref(), request, Mode::Simple, scope, cancel),
        )
        .await?
    };
    let answered = match begun.await.map_err(Failure::without_change) {
        Ok(mut task) => {
            let dialogue = session.store.talk.begin(request.follows, &task.work.journal.task);
            (task.work.intent.earlier, task.conversation.dialogue) = (dialogue.lines(), dialogue);
            task.work.intent.is_direct = rename.is_some();
            run_ask(&session.edits, session.model.as_ref(), &mut task, rename.as_ref(), cancel).await
        }
        Err(failure) => Err(failure),
    };
    if session.plans.waiting.lock().await.is_none() {
        workspace_look::leave_all(&session.hub).await;
    }
    answered
}

/// Runs a task without a plan from where it stands to its end. A call that the request names in full needs no model,
/// where it works.
pub(crate) async fn run_ask(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    direct: Option<&DirectAction>,
    cancel: &CancellationToken,
) -> Result<Outcome, Failure> {
    task.work.events.did(TaskFact::WorkBegan);
    match direct {
        Some(direct) if !direct.resumes => durable::keep_outside(&edits.store, task, false).await,
        _ => durable::keep_call(&edits.store, task).await,
    }
    let ended = match direct {
        Some(direct) => {
            task.work.step += 1;
            let (result, ok) = run_tool_call::act(edits, model, task, &direct.action, direct.reason).await;
            task.conversation.results.push(result.clone());
            match &direct.otherwise {
                Some(scope) if !ok => {
                    (task.work.scope, task.work.intent.is_direct) = (scope.clone(), false);
                    choose_loop::work(edits, model, task, cancel).await
                }
                _ => direct_action::ended(result, ok, cancel),
            }
        }
        None => choose_loop::work(edits, model, task, cancel).await,
    };
    let word = word_of(&edits.store, &ended);
    let phase = phase_of(&ended, direct.is_none_or(|direct| direct.resumes));
    remember_exchange(&edits.store, &task.work, &mut task.conversation, &ended, &word);
    let taken_back = if ended.is_ok() && !cancel.is_cancelled() {
        stop::unless_stopped(&edits.making, cancel, unfit_ending::take_back(edits, &mut task.work)).await.ok().flatten()
    } else {
        None
    };
    durable::keep_task(&edits.store, task, None, phase).await;
    let word = [word, taken_back.clone().unwrap_or_default()];
    let word = word.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("; ");
    let came_to = match (&ended, &taken_back) {
        (Ok(Ended::Done { .. }), None) => CameTo::End,
        (Ok(Ended::Done { .. }), Some(_)) => CameTo::TakenBack,
        _ => CameTo::Short,
    };
    let mut outcome = finish::finish(edits, &mut task.work, &task.counts, &word, came_to).await;
    if ended.is_ok() || !outcome.files.is_empty() {
        remember_outcome(&edits.store, &mut task.conversation, &outcome.summary);
        task.keep.revision = durable::keep_talk(&edits.store, task).await;
    }
    keep::remember_end(&edits.store, model, &task.work, &task.progress, &mut task.keep, &ended, &outcome).await;
    if ended.is_err() && !outcome.files.is_empty() {
        edits.hub.events.show(Event::Progress { text: outcome.summary.clone() });
    }
    let changed = run_loop::may_have_changed(&edits.making, task);
    let ended = ended.map_err(|failure| if changed { failure } else { failure.without_change() });
    if let Ended::Done { answer, .. } = ended.map_err(ending::resumable)? {
        outcome.answer = answer;
    }
    Ok(outcome)
}

fn phase_of(ended: &Result<Ended, Failure>, resumes: bool) -> Phase {
    match ended {
        _ if !resumes => Phase::Completed,
        Ok(Ended::Done { .. } | Ended::Unsolved(_)) => Phase::Completed,
        Ok(_) => Phase::Paused,
        Err(failure) if ending::goes_on(failure.kind) => Phase::Paused,
        Err(_) => Phase::Error,
    }
}

/// Adds the request and its answer to the conversation, which a later request may go on with.
fn remember_exchange(
    store: &TaskStore,
    work: &TaskWork,
    conversation: &mut Conversation,
    ended: &Result<Ended, Failure>,
    word: &str,
) {
    let answer = match ended {
        Ok(Ended::Done { answer, .. }) => answer.clone(),
        Ok(_) => word.to_owned(),
        Err(failure) => failure.message.clone(),
    };
    let results = conversation.results.clone();
    if !conversation.transcript.is_open() {
        // No model has worked on it: the messages of the conversation wait for the next request.
        conversation.transcript = std::mem::take(&mut conversation.dialogue.transcript);
    }
    if let Some(last) = results.last().filter(|_| work.intent.is_direct && conversation.transcript.is_open()) {
        // A call that a stop cut off has its result first.
        let model = conversation.transcript.model.clone();
        conversation.transcript.take_up(&model);
        let how = if last.ok { "ok" } else { "failed" };
        conversation.transcript.tell(format!("The user did this without you: {}. {how}: {}", work.request, last.text));
    }
    let shown = store.talk.shown.take(&work.journal.task);
    conversation.dialogue.add(Exchange {
        request: work.request.clone(),
        answer,
        shown,
        results,
        outcome: String::new(),
    });
    let transcript = conversation.transcript.clone();
    store.talk.keep(Dialogue { transcript, ..conversation.dialogue.clone() });
}

/// Adds the summary to the request in its conversation.
fn remember_outcome(store: &TaskStore, conversation: &mut Conversation, summary: &str) {
    if let Some(last) = conversation.dialogue.exchanges.last_mut() {
        summary.clone_into(&mut last.outcome);
        let transcript = conversation.transcript.clone();
        store.talk.keep(Dialogue { transcript, ..conversation.dialogue.clone() });
    }
}

/// The words for an end; none for an answer, which has been shown as it came.
fn word_of(store: &TaskStore, ended: &Result<Ended, Failure>) -> String {
    let limits = &store.config.limits;
    match ended {
        Ok(Ended::Done { .. }) => String::new(),
        Ok(Ended::OutOfSteps) => format!("stopped after {}", counted(limits.steps, "step")),
        Ok(Ended::TooManyErrors(last)) => {
            let errors = counted(limits.errors as usize, "error");
            let last = unusable_reply::with_place(&store.trace, last);
            format!("gave up after {errors} in a row, the last: {last}")
        }
        Ok(Ended::Objected(objection)) => objection.reason.clone(),
        Ok(Ended::Unsolved(why)) => why.clone(),
        Err(_) => "broken off".to_owned(),
    }
}
