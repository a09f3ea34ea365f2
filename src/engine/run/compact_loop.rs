//! Runs the loop for small models: the text of a symbol goes out, its new text returns in a fence.

mod around;
mod choose;
mod code_excerpt;
mod compact_judgement;
pub(crate) mod elided;
mod fits_place;
mod introduced_fix;
mod kept_modifiers;
mod take;
mod tries;

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::editor::event::Event;
use crate::plan::work_mode::Mode;
use crate::run::compact_loop::tries::TargetEnd;
use crate::run::model_turn::{answered, next_step};
use crate::run::run_loop;
use crate::state::edit_service::EditService;
use crate::state::outcome::Ended;
use crate::state::span;
use crate::state::task::{Task, TaskWork};
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_model::chat::{ChatInput, ChatMessage, ChatReply};
use sextant_model::prompt::Prompt;
use sextant_model::request_kind::{self, Ask};
use sextant_model::step::{Model, OnText, Spoken};

/// Works on a task without tools: one symbol after the other, each asked for as a whole.
pub(crate) async fn work(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Ended, Failure> {
    if is_question(&task.work) {
        let facts = code_excerpt::question(&edits.hub, model, &mut task.work, &task.progress.course).await;
        let words = |words: Spoken<'_>| edits.hub.events.show(Event::spoken(words));
        let Some(reply) = ask_model(&edits.store, model, &mut task.work, &facts.question(), &words, cancel).await?
        else {
            return Ok(Ended::OutOfSteps);
        };
        return Ok(Ended::Done { changed: false, answer: reply.text.trim().to_owned() });
    }
    let targets = choose::targets(&edits.hub, model, &task.work).await?;
    let (mut changed, mut unsolved) = (false, Vec::new());
    for target in &targets {
        match tries::tried(edits, model, task, target, cancel).await? {
            TargetEnd::Changed => changed = true,
            TargetEnd::Unsolved(why) => {
                let whose = if targets.len() > 1 { format!("{target}: ") } else { String::new() };
                unsolved.push(format!("{whose}{why}"));
            }
            TargetEnd::OutOfSteps => return Ok(Ended::OutOfSteps),
        }
    }
    if unsolved.is_empty() {
        return Ok(Ended::Done { changed, answer: String::new() });
    }
    Ok(Ended::Unsolved(unsolved.join("; ")))
}

/// True if the task wants an answer and no edit. Only text in the form of a question counts. This style asks once, and
/// cannot correct an answer in place of a wanted change.
fn is_question(work: &TaskWork) -> bool {
    let asked = match work.mode {
        Mode::Simple => request_kind::classify(&work.request),
        Mode::Planner | Mode::Supervised => request_kind::classify_step(&work.request),
    };
    work.intent.read_only || asked == Ask::Question && request_kind::has_form_of_question(&work.request)
}

/// One question to the model; `None` where no step is left for it.
async fn ask_model(
    store: &TaskStore,
    model: &dyn Model,
    work: &mut TaskWork,
    prompt: &Prompt,
    words: OnText<'_>,
    cancel: &CancellationToken,
) -> Result<Option<ChatReply>, Failure> {
    loop {
        if next_step(&store.config, model, work, cancel)?.is_some() {
            return Ok(None);
        }
        let messages = [ChatMessage::User(prompt.user.clone())];
        let input = ChatInput { system: &prompt.system, messages: &messages, tools: &[] };
        let asked = model.chat(&input, words).instrument(span::step(work.step));
        if let Some(reply) = answered(store, &work.spent, &work.events, cancel, asked).await? {
            return reply.map(Some).map_err(|error| run_loop::model_failure(&error));
        }
    }
}

/// The text for the user about a task whose tries are used up.
fn given_up(tries: u32, last: &str, kept: bool) -> String {
    let tries = counted(tries as usize, "try");
    if kept {
        return format!("not done after {tries}, the best text is kept: {last}");
    }
    format!("not done after {tries}, everything was taken back: {last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::task_scope::Scope;

    #[test]
    fn a_wish_that_holds_a_question_s_words_is_none() {
        let question = |request: &str| is_question(&Task::new(request, Mode::Simple, None, Scope::Workspace).work);
        for asked in ["what does total do?", "explain total", "¿qué hace total?", "is it sorted", "change nothing"] {
            assert!(question(asked), "{asked}");
        }
        for wanted in [
            "shorten must never return more than width, also where width is smaller",
            "is_empty says that a list of zeros is empty",
            "fix the type error in total",
        ] {
            assert!(!question(wanted), "{wanted}");
        }
    }
}
