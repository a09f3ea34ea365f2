//! Answers requests that need no model: a clear one is done at once; everything else goes on to the model.
//!
//! Precision comes before recall: a phrase must match one of those below from its first word to its last.

pub(crate) mod explain;
pub(crate) mod find_intent;
pub(crate) mod imported_name;
pub(crate) mod meant_symbol;
pub(crate) mod memory_intent;
pub(crate) mod mode_intent;
pub(crate) mod phrase;
pub(crate) mod read_intent;
pub(crate) mod undo_intent;

pub(crate) mod intent;
pub(crate) mod intent_answer;
#[cfg(test)]
pub(crate) mod tests;

use tokio_util::sync::CancellationToken;

use crate::commands::intents::intent::Direct;
use crate::commands::intents::intent_answer::DirectAnswer;
use crate::commands::intents::phrase::Phrase;
use crate::commands::{forget, remember};
use crate::editor::event::Event;
use crate::events::envelope::TaskEvent;
use crate::events::envelope::TraceEntry;
use crate::plan::work_mode::Mode;
use crate::state::answer_status::Status;
use crate::state::outcome::Outcome;
use crate::state::request::Request;
use crate::state::session::Session;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::step::Usage;

pub use crate::commands::intents::explain::is_stop;

/// The request that a text makes, as far as its words alone show.
pub(crate) fn recognise(text: &str) -> Option<Direct> {
    let phrase = Phrase::new(text)?;
    None.or_else(|| mode_intent::recognise(&phrase))
        .or_else(|| explain::recognise(&phrase))
        .or_else(|| undo_intent::recognise(&phrase))
        .or_else(|| memory_intent::recognise(&phrase))
        .or_else(|| find_intent::recognise(&phrase))
        .or_else(|| read_intent::recognise(&phrase))
        .filter(|direct| !takes_nothing(direct, &phrase))
}

/// `undo nothing`, `forget nothing`: the opposite of the verb.
fn takes_nothing(direct: &Direct, phrase: &Phrase) -> bool {
    matches!(direct, Direct::Undo { .. } | Direct::Forget(_)) && phrase.speaks_of_nothing()
}

/// Carries out the request that a text makes directly. `None` where it is for the model: it is no direct request, or
/// its name is only a word and a language model can read the sentence.
pub(crate) async fn direct(
    session: &Session,
    request: &Request,
    cancel: &CancellationToken,
) -> Result<Option<Outcome>, Failure> {
    let Some(direct) = recognise(&request.text) else { return Ok(None) };
    let answer = match &direct {
        Direct::Read(name) => read_intent::direct_read(&session.edits, session.model.as_ref(), request, name).await?,
        Direct::Outline(name) => read_intent::direct_outline(&session.edits, session.model.as_ref(), name).await?,
        Direct::Where(name) => find_intent::direct_where(&session.workspace, &session.approvals, request, name).await?,
        Direct::Uses(name) => find_intent::direct_uses(&session.edits, session.model.as_ref(), request, name).await?,
        Direct::Undo { target, reason } => {
            Some(undo_intent::undo(&session.edits, &session.plans, target, reason).await?)
        }
        Direct::Redo => Some(undo_intent::redo(&session.edits, &session.plans).await?),
        Direct::Forget(text) => Some(answered(forget::forget(&session.edits, &session.plans, text, cancel).await?)),
        Direct::ForgetAll => Some(answered(forget::forget_all(&session.edits, &session.plans, cancel).await?)),
        Direct::Remember(text) => Some(answered(remember::prefer(&session.store, text).await?)),
        Direct::Recall(text) => {
            let (found, count) = remember::recall_about(&session.store, text).await?;
            let answer = answered(found);
            // The head of the text would be shown twice.
            let summary = if count > 0 { format!("{} known", counted(count, "entry")) } else { answer.summary };
            Some(DirectAnswer { summary, ..answer })
        }
        Direct::Learned => Some(answered(remember::learned(&session.store, &session.workspace.root).await?)),
        Direct::Mode(wanted) => Some(mode_intent::direct_mode(&session.plans, &session.events, *wanted)),
        Direct::Why => explain::direct_why(&session.store, request).await,
        Direct::Stop => Some(DirectAnswer::new("", "nothing is running".to_owned())),
        Direct::Stats => Some(explain::direct_stats(&session.store).await?),
    };
    let Some(answer) = answer else { return for_model(&direct, session.model.needs_providers()) };
    session.events.show(Event::Started {
        request: request.text.clone(),
        mode: "direct".to_owned(),
        model: "no model".to_owned(),
    });
    if !answer.text.is_empty() {
        session.events.show(Event::Words { text: format!("{}\n", answer.text), thought: false });
    }
    answer.shows.iter().for_each(|event| session.events.show(event.clone()));
    let reason = format!("{}; no model was asked", answer.summary);
    let trace = Trace::new(Effect::Acted, "the request", "direct", reason);
    let entry = TraceEntry { step: 1, call: None, trace };
    // A request about the work itself is not a task that a later undo could be about.
    let about_work = matches!(direct, Direct::Undo { .. } | Direct::Redo | Direct::Why | Direct::Stats | Direct::Stop);
    let forgets = matches!(direct, Direct::Forget(_) | Direct::ForgetAll);
    if !about_work && !forgets {
        session.store.note_asked("", &request.text);
    }
    // The answer to a why is about the task before, and stays about it.
    if !forgets && !matches!(direct, Direct::Why | Direct::Stats | Direct::Stop) {
        let taken_up = TaskEvent::TakenUp { request: request.text.clone(), mode: Mode::Simple, again: false };
        session.events.emit(None, taken_up);
        session.events.emit(None, TaskEvent::Traced { entry: entry.clone() });
    }
    Ok(Some(outcome(answer, entry)))
}

/// Leaves the request to the model; the offline one cannot read a sentence, so an unknown name is a failure there.
fn for_model(direct: &Direct, is_offline: bool) -> Result<Option<Outcome>, Failure> {
    match direct.searched_name().filter(|_| is_offline) {
        Some(name) => Err(read_intent::no_such_name(name)),
        None => Ok(None),
    }
}

fn outcome(answer: DirectAnswer, entry: TraceEntry) -> Outcome {
    Outcome {
        ok: true,
        summary: answer.summary,
        answer: answer.text,
        files: Vec::new(),
        new_diagnostics: Vec::new(),
        fixed: 0,
        unchanged: 0,
        diagnostics_status: Status::Off,
        pending: Vec::new(),
        usage: Usage::default(),
        failed_steps: Vec::new(),
        trace: vec![entry],
    }
}

fn answered(text: String) -> DirectAnswer {
    let summary = text.lines().next().unwrap_or_default().to_owned();
    // One line would be shown twice.
    if text.lines().count() > 1 { DirectAnswer::new(text, summary) } else { DirectAnswer::new("", summary) }
}
