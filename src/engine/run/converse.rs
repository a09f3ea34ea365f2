//! Runs the loop of a model that takes part in a conversation. The model answers with calls, and each is carried out
//! and answered. The loop ends with an answer without a call, or with the call that ends.

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::durable;
use crate::editor::event::Event;
use crate::plan::plan_progress::PlanProgress;
use crate::plan::work_mode::Mode;
use crate::run::completion_checks::unfinished;
use crate::run::control;
use crate::run::model_turn::{answered, next_step};
use crate::run::paragraphs::Paragraphs;
use crate::run::run_loop::{RESULTS, model_failure};
use crate::run::schedule_calls::{Ran, carry_out};
use crate::run::{compaction_summary, context, sources};
use crate::state::agent_config::Config;
use crate::state::approvals::Approvals;
use crate::state::edit_service::EditService;
use crate::state::outcome::Ended;
use crate::state::task::{Conversation, Task, TaskCounts, TaskWork};
use crate::state::task_store::TaskStore;
use crate::state::transcript::Transcript;
use crate::state::{span, steering, stop, unusable_reply};
use crate::tools::tool_list;
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_base::token_estimate::head_and_tail;
use sextant_model::chat::{ChatInput, ChatReply, ToolResult};
use sextant_model::input::StepInput;
use sextant_model::prompt::conversation;
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_model::step::{LastResult, Model, ModelError, Spoken};
use sextant_model::tools::{ToolSpec, find, offered};
use sextant_text::symbols::symbol_path::SymbolPath;

/// State of the conversation about a task.
struct ConversationState {
    tools: Vec<ToolSpec>,
    budget: PromptBudget,
    /// Checkpoints of the task before it began, or before the step of its plan began.
    mark: usize,
    /// How many times the model got an objection to its end.
    objections: u32,
    /// Checkpoints of the task at the last objection. A model that has changed nothing since has given its reason.
    objected_at: Option<usize>,
    paragraphs: Paragraphs,
}

/// Continues the conversation of a task until one of the ends. A step of a plan continues where the last one ended.
pub(crate) async fn converse(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Ended, Failure> {
    let mut talk = ConversationState {
        tools: Vec::new(),
        budget: PromptBudget::of(model.abilities().await),
        mark: task.work.journal.checkpoints.len(),
        objections: 0,
        objected_at: None,
        paragraphs: Paragraphs::default(),
    };
    if !task.conversation.transcript.is_open() {
        task.conversation.transcript = std::mem::take(&mut task.conversation.dialogue.transcript);
    }
    if task.conversation.transcript.is_open() {
        // The model has the conversation as messages.
        task.work.intent.earlier.clear();
    }
    task.conversation.transcript.take_up(model.name());
    let commands = stop::unless_stopped(&edits.making, cancel, open(edits, model, task, talk.budget)).await?;
    talk.tools = tools(&edits.approvals, task.work.mode, commands);
    loop {
        if let Some(ended) = next_step(&edits.workspace.config, model, &mut task.work, cancel)? {
            return Ok(ended);
        }
        for added in edits.store.talk.steering.take() {
            task.conversation.transcript.tell(steering::message(&added));
        }
        compaction_summary::shorten(&task.work.journal, &mut task.conversation.transcript, talk.budget);
        let span = span::step(task.work.step);
        let ended =
            match ask(&edits.store, model, task, &talk.tools, &talk.paragraphs, cancel).instrument(span.clone()).await?
            {
                None => continue,
                Some(Ok(reply)) => take(edits, model, task, &mut talk, reply).instrument(span).await,
                Some(Err(ModelError::Unusable { problems, text })) => {
                    let problem = problems.join("; ");
                    unusable_reply::keep(&task.work.events, task.work.step, model.name(), &problem, &text);
                    unusable_reply::count(&edits.hub.events, task.counts.errors, edits.workspace.config.limits.errors);
                    let message = format!("Your answer could not be used: {problem}.");
                    let (config, counts) = (&edits.workspace.config, &mut task.counts);
                    failed(config, counts, &mut task.conversation.transcript, problem, Some(message))
                }
                Some(Err(error)) => return Err(model_failure(&error)),
            };
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        durable::keep_call(&edits.store, task).await;
        if let Some(ended) = ended {
            return Ok(ended);
        }
    }
}

/// The tools of this task. They are the same from the first question to the last, so that later messages stay in a
/// provider's cache.
pub(crate) fn tools(approvals: &Approvals, mode: Mode, commands: bool) -> Vec<ToolSpec> {
    let controls = control::offered(mode, approvals.can_ask());
    offered(tool_list::specs(), commands).chain(controls).cloned().collect()
}

/// Adds the facts that the model needs to begin with; returns whether commands may be run. A task that was stopped goes
/// on from its last point. A step of a plan adds to the earlier messages.
async fn open(edits: &EditService, model: &dyn Model, task: &mut Task, budget: PromptBudget) -> bool {
    let resumes = task.conversation.transcript.is_open() && task.work.step > 0;
    let context = context::step_facts(edits, model, &mut task.work, &mut task.conversation).await;
    let mut input = StepInput { context, ask: context::step_ask(task) };
    if task.conversation.transcript.is_open() {
        // An earlier message has listed the content of most sources.
        let transcript = &task.conversation.transcript;
        let is_told = |path: &str, text: &str| transcript.tells(path) && transcript.tells(text);
        input.context.sources.texts.retain(|(path, text)| !(sources::is_list(text) && is_told(path, text)));
    }
    for (path, source) in &mut input.context.sources.texts {
        if task.conversation.transcript.holds(&SymbolPath::parse(path), source) {
            "(as you have read it)".clone_into(source);
        }
    }
    let (contract, inputs) = (&input.ask.contract, &input.ask.inputs);
    let transcript = &mut task.conversation.transcript;
    if resumes {
        transcript.tell("Go on.".to_owned());
    } else if transcript.is_open() {
        let fence = transcript.fence.clone();
        let message =
            conversation::next_step(&input.context, contract, inputs, &fence, budget, &transcript.user_messages());
        transcript.tell(message);
    } else {
        let opening = conversation::opening(&input.context, contract, inputs, budget);
        (transcript.fence, task.counts.errors) = (opening.fence, 0);
        transcript.tell(opening.first);
    }
    input.context.framing.commands
}

/// The next answer; `None` where the time of the task is over.
async fn ask(
    store: &TaskStore,
    model: &dyn Model,
    task: &Task,
    tools: &[ToolSpec],
    paragraphs: &Paragraphs,
    cancel: &CancellationToken,
) -> Result<Option<Result<ChatReply, ModelError>>, Failure> {
    paragraphs.begin();
    let words = |words: Spoken<'_>| paragraphs.say(&store.events, words);
    let transcript = &task.conversation.transcript;
    let system = conversation::system(&transcript.fence);
    let input = ChatInput { system: &system, messages: &transcript.messages, tools };
    answered(store, &task.work.spent, &task.work.events, cancel, model.chat(&input, &words)).await
}

/// Carries out the calls of a reply. `Some` where that ends the task or the step.
async fn take(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    talk: &mut ConversationState,
    reply: ChatReply,
) -> Option<Ended> {
    let (uses, text, cut) = (reply.uses.clone(), reply.text.clone(), reply.cut);
    task.conversation.transcript.answer(reply);
    if uses.is_empty() {
        if cut {
            return failed(
                &edits.workspace.config,
                &mut task.counts,
                &mut task.conversation.transcript,
                CUT.to_owned(),
                Some(CUT.to_owned()),
            );
        }
        return ends(edits, &mut task.work, &mut task.conversation.transcript, talk, text).await;
    }
    let Ran { results, ended, done, has_new, .. } = carry_out(edits, model, task, &talk.tools, &uses, &text).await;
    if uses.iter().any(|used| find(tool_list::specs(), &used.tool).is_some()) {
        talk.paragraphs.interrupt();
    }
    let ok = results.iter().any(|result| result.ok);
    // An end that is refused is an objection: an error is what was refused before it.
    let broken = results.iter().rev().find(|result| !result.ok && result.tool != control::DONE);
    let problem = broken.map(|result| result.text.clone());
    keep_for_others(&mut task.conversation, &mut task.progress.course, &results);
    let results = results.into_iter().map(|result| within(result, talk.budget.result)).collect();
    task.conversation.transcript.results(results);
    if ended.is_some() {
        return ended;
    }
    if has_new {
        (talk.objections, talk.objected_at) = (talk.objections + 1, Some(task.work.journal.checkpoints.len()));
    }
    if let Some(answer) = done {
        // It is not the text of an answer, and was not shown as it came.
        talk.paragraphs.begin();
        talk.paragraphs.say(&edits.hub.events, Spoken::answer(&answer));
        return ends(edits, &mut task.work, &mut task.conversation.transcript, talk, answer).await;
    }
    if cut {
        task.conversation.transcript.tell(CUT.to_owned());
    }
    match problem {
        _ if ok => task.counts.errors = 0,
        Some(problem) => {
            return failed(&edits.workspace.config, &mut task.counts, &mut task.conversation.transcript, problem, None);
        }
        None => {}
    }
    None
}

/// Sent to a model whose answer ran into its limit: the same answer once more would end there again.
const CUT: &str = "Your answer was cut off at the limit of tokens. Write it in parts: several smaller edits, one after \
                   the other.";

/// Counts an answer without result, and sends the model the fact that it does not know yet. `Some` where there are too
/// many such answers.
fn failed(
    config: &Config,
    counts: &mut TaskCounts,
    transcript: &mut Transcript,
    problem: String,
    message: Option<String>,
) -> Option<Ended> {
    counts.errors += 1;
    message.into_iter().for_each(|text| transcript.tell(text));
    (counts.errors >= config.limits.errors).then_some(Ended::TooManyErrors(problem))
}

/// Handles the end that the model declares.
async fn ends(
    edit_service: &EditService,
    work: &mut TaskWork,
    transcript: &mut Transcript,
    talk: &mut ConversationState,
    answer: String,
) -> Option<Ended> {
    if edit_service.store.talk.steering.waits() {
        return None;
    }
    let cancel = edit_service.hub.cancelled();
    let edits = work.journal.checkpoints.len();
    let left = if talk.objected_at == Some(edits) {
        None
    } else {
        let left = stop::unless_stopped(
            &edit_service.making,
            &cancel,
            unfinished(edit_service, work, talk.mark, talk.objections),
        );
        left.await.ok().flatten()
    };
    match left {
        Some(left) => {
            (talk.objections, talk.objected_at) = (talk.objections + 1, Some(edits));
            edit_service.hub.events.show(Event::Progress { text: headline(&left.text) });
            let fence = transcript.fence.clone();
            let message = conversation::with_data(&fence, talk.budget, &left.text, "New errors", &left.errors);
            transcript.tell(message);
            None
        }
        None => Some(Ended::Done { changed: work.journal.checkpoints.len() > talk.mark, answer }),
    }
}

/// As much of a result as fits, its beginning and its end.
pub(crate) fn within(result: ToolResult, budget: usize) -> ToolResult {
    ToolResult { text: head_and_tail(&result.text, budget), ..result }
}

/// The results in the form that the judgement of a step reads.
fn keep_for_others(conversation: &mut Conversation, course: &mut PlanProgress, results: &[ToolResult]) {
    let kept =
        results.iter().map(|result| LastResult { tool: result.tool.clone(), ok: result.ok, text: result.text.clone() });
    conversation.results.extend(kept);
    let old = conversation.results.len().saturating_sub(RESULTS);
    conversation.results.drain(..old);
    course.fresh = results.len().min(RESULTS);
}
