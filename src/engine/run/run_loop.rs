//! Runs the loop of every mode: asks the model and acts. It ends when the model is done, the steps run out, or three
//! errors occur in a row.

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::durable;
use crate::events::fact::TaskFact;
use crate::plan::plan_progress::PlanProgress;
use crate::run::completion_checks::unfinished;
use crate::run::model_turn::{answered, next_step};
use crate::run::paragraphs::Paragraphs;
use crate::run::run_tool_call::act;
use crate::run::{context, early_stop, step_contract};
use crate::state::edit_service::EditService;
use crate::state::in_flight::Making;
use crate::state::outcome::Ended;
use crate::state::task::{Conversation, Task, TaskWork};
use crate::state::task_store::TaskStore;
use crate::state::{span, steering, stop, unusable_reply};
use crate::tools::tool_list;
use sextant_base::failure::{Failure, FailureKind};
use sextant_model::input::StepInput;
use sextant_model::step::{Action, LastResult, Model, ModelError, Spoken, StepReply};
use sextant_model::tools::{looks, names};

/// Most results that are kept for the model; older ones have been acted upon.
pub(crate) const RESULTS: usize = 6;

/// The name of the result that answers the end which a model wants.
const END: &str = "end";

/// True if a task has changed a file, or an edit or a command of it may have.
pub(crate) fn may_have_changed(making: &Making, task: &Task) -> bool {
    !task.work.journal.is_empty() || making.open() || task.conversation.answered.ran_command
}

/// Runs steps until one of the ends. A cancelled call leaves whole tool calls behind, never half ones.
pub(crate) async fn run_steps(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Ended, Failure> {
    // Every step repeats the facts: one objection more is enough.
    let mut checks = EndChecks { changes: task.work.journal.checkpoints.len(), objections: 1 };
    let paragraphs = Paragraphs::default();
    loop {
        if let Some(ended) = next_step(&edits.workspace.config, model, &mut task.work, cancel)? {
            return Ok(ended);
        }
        hear(&edits.store, &mut task.conversation, &mut task.progress.course);
        let span = span::step(task.work.step);
        let facts = context::step_facts(edits, model, &mut task.work, &mut task.conversation);
        let context = stop::unless_stopped(&edits.making, cancel, facts).instrument(span.clone()).await?;
        let input = StepInput { context, ask: context::step_ask(task) };
        paragraphs.begin();
        let words = |words: Spoken<'_>| paragraphs.say(&edits.hub.events, words);
        let asked = model.step(&input, &words).instrument(span.clone());
        let Some(reply) = answered(&edits.store, &task.work.spent, &task.work.events, cancel, asked).await? else {
            continue;
        };
        let mut more = Vec::new();
        let changed = task.work.journal.checkpoints.len() > checks.changes;
        let ended = reply.as_ref().ok();
        let ended = ended.and_then(|reply| step_contract::ends(&mut task.progress.course, reply, changed));
        if let Some(ended) = ended {
            return Ok(ended);
        }
        let result = match reply {
            Ok(reply) => {
                if reply.action.is_some() {
                    paragraphs.interrupt();
                    more.clone_from(&reply.more);
                }
                match take(edits, model, task, &reply, &mut checks).instrument(span.clone()).await {
                    Ok(result) => result,
                    Err(ended) => return Ok(ended),
                }
            }
            Err(ModelError::Unusable { problems, text: reply }) => {
                let text = problems.join("; ");
                unusable_reply::keep(&task.work.events, task.work.step, model.name(), &text, &reply);
                unusable_reply::count(&edits.hub.events, task.counts.errors, edits.workspace.config.limits.errors);
                LastResult { tool: "reply".into(), ok: false, text }
            }
            Err(error) => return Err(model_failure(&error)),
        };
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        if let Some(ended) = enter(edits, model, task, result, &more).instrument(span).await {
            return Ok(ended);
        }
    }
}

/// Adds the words of the user that came since the last question, as results that the model reads whole.
fn hear(store: &TaskStore, conversation: &mut Conversation, course: &mut PlanProgress) {
    let unread = store.talk.steering.take();
    course.fresh += unread.len();
    let heard = unread.iter().map(steering::message);
    conversation.results.extend(heard.map(|text| LastResult { tool: "user".to_owned(), ok: true, text }));
}

/// The checks before an end that the model wants.
struct EndChecks {
    /// Checkpoints of the task before these steps.
    changes: usize,
    /// Objections so far.
    objections: u32,
}

/// Carries out a reply: the result that the model reads next, or the end of the steps.
async fn take(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    reply: &StepReply,
    checks: &mut EndChecks,
) -> Result<LastResult, Ended> {
    if let Some(action) = &reply.action {
        let (result, ok) = act(edits, model, task, action, &reply.reasoning).await;
        if !ok || (reply.proceed && !early_stop::is_repaired(edits, &task.work).await) {
            return Ok(result);
        }
    }
    if edits.store.talk.steering.waits() {
        return Ok(LastResult { tool: END.to_owned(), ok: true, text: "The user has added something.".to_owned() });
    }
    let changed = task.work.journal.checkpoints.len() > checks.changes;
    match report_unfinished(edits, &mut task.work, checks.changes, &mut checks.objections).await {
        Some(result) => Ok(result),
        None => Err(Ended::Done { changed, answer: reply.answer.clone() }),
    }
}

/// The objection to the end that the model wants, as a result that it reads; `None` where it may end.
async fn report_unfinished(
    edits: &EditService,
    work: &mut TaskWork,
    mark: usize,
    objections: &mut u32,
) -> Option<LastResult> {
    let cancel = edits.hub.cancelled();
    let left = stop::unless_stopped(&edits.making, &cancel, unfinished(edits, work, mark, *objections))
        .await
        .ok()
        .flatten()?;
    *objections += 1;
    let text = format!("{}\n{}", left.text, left.errors.join("\n"));
    Some(LastResult { tool: END.to_owned(), ok: false, text })
}

/// Enters the result of a call into the task, with the further reads of the model.
async fn enter(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    result: LastResult,
    more: &[Action],
) -> Option<Ended> {
    task.counts.errors = match &result {
        result if result.ok => 0,
        // An end that is refused is an objection, and no error.
        result if result.tool == END => task.counts.errors,
        _ => task.counts.errors + 1,
    };
    let text = result.text.clone();
    task.conversation.results.push(result);
    task.progress.course.fresh = 1 + look_further(edits, model, task, more).await;
    let old = task.conversation.results.len().saturating_sub(RESULTS.max(task.progress.course.fresh));
    task.conversation.results.drain(..old);
    durable::keep_call(&edits.store, task).await;
    (task.counts.errors >= edits.workspace.config.limits.errors).then_some(Ended::TooManyErrors(text))
}

/// Recognizes the refusal of a question that does not fit into the model's context, in the words of the servers.
fn is_too_long(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    let too_long =
        ["context length", "context_length", "context window", "context size", "too long", "too many tokens"];
    too_long.iter().any(|words| detail.contains(words))
}

pub(crate) fn model_failure(error: &ModelError) -> Failure {
    let hint = match error {
        ModelError::Unreachable { .. } => {
            "check base_url and whether the server runs; `provider = \"offline\"` needs none"
        }
        ModelError::Unauthorized { .. } => "check the key and that it belongs to this provider",
        ModelError::Busy { .. } => "try again later, or use another model",
        ModelError::Rejected { status, .. } if *status >= 500 => {
            "the fault is at the server: try again later, or read its log"
        }
        ModelError::Rejected { detail, .. } if is_too_long(detail) => {
            "the question is longer than the model's context: set `model.context` to its size in tokens"
        }
        ModelError::Rejected { .. } => "check the model's name and the provider in the configuration",
        ModelError::Cut { .. } | ModelError::Stalled { .. } => "try again; what was finished is kept",
        ModelError::Declined { .. } => "put the request in other words, or use another model",
        ModelError::Unusable { .. } => "try again, or use a model that can answer in JSON",
    };
    Failure::new(FailureKind::Model, error.to_string(), hint)
}

/// Runs the further actions of an answer where all of them only look, and none of them otherwise. The model then reads
/// which one is not allowed. Returns how many results were added.
pub(crate) async fn look_further(edits: &EditService, model: &dyn Model, task: &mut Task, more: &[Action]) -> usize {
    if let Some(problem) = refused(more) {
        task.conversation.results.push(LastResult { tool: "more".to_owned(), ok: false, text: problem });
        return 1;
    }
    for action in more {
        let (result, _) = act(edits, model, task, action, "asked for together").await;
        task.conversation.results.push(result);
        // Asked for one at a time, each of them would have been a question of its own.
        task.work.events.did(TaskFact::CallSaved);
    }
    more.len()
}

pub(crate) fn refused(more: &[Action]) -> Option<String> {
    let only = || looks(tool_list::specs());
    let other = more.iter().find(|action| !only().any(|tool| tool.name == action.tool))?;
    Some(format!("`more` takes only {}; {} does more, so none of `more` ran", names(only()), other.tool))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_of_the_server_is_not_blamed_on_the_configuration() {
        let hint = |status| {
            let (endpoint, detail) = ("here".to_owned(), "no".to_owned());
            model_failure(&ModelError::Rejected { endpoint, status, detail }).hint.text().to_owned()
        };
        assert!(hint(404).contains("the model's name"), "{}", hint(404));
        let detail = "This model's maximum context length is 4096 tokens".to_owned();
        let too_long = model_failure(&ModelError::Rejected { endpoint: "here".to_owned(), status: 400, detail });
        assert!(too_long.hint.text().contains("`model.context`"), "{}", too_long.hint.text());
        assert!(hint(500).contains("at the server") && !hint(500).contains("name"), "{}", hint(500));
    }

    #[test]
    fn one_action_that_edits_stops_all_of_them() {
        let action = |tool: &str| Action { tool: tool.to_owned(), parameters: json!({}) };
        assert_eq!(refused(&[]), None);
        assert_eq!(refused(&[action("read_symbol"), action("search")]), None);
        let refusal = refused(&[action("read_symbol"), action("write_file")]).unwrap();
        assert!(refusal.contains("write_file does more, so none"), "{refusal}");
    }
}
