//! Makes a plan in the conversation of a task: the model looks first, then answers with the plan. The steps go on where
//! the planning ended. The sources read for the plan are thus not read, nor paid for, again.

use tokio_util::sync::CancellationToken;

use crate::plan::work_mode::Mode;
use crate::run::converse::within;
use crate::run::schedule_calls::{action, is_look, result_of};
use crate::run::{compaction_summary, model_turn, run_tool_call};
use crate::state::approvals::Approvals;
use crate::state::edit_service::EditService;
use crate::state::task::Task;
use crate::state::transcript::Transcript;
use crate::tools::tool_list;
use sextant_base::failure::Failure;
use sextant_model::chat::{ChatInput, ChatReply, ToolResult, ToolUse};
use sextant_model::input::PlanInput;
use sextant_model::plan_contract::Contract;
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_model::prompt::{conversation, planning};
use sextant_model::reply;
use sextant_model::step::{LastResult, Model, ModelError, PlanReply};
use sextant_model::tools::ToolSpec;

/// Most answers that may only look, before the plan is requested outright.
const LOOKS: u32 = 10;

/// The answer to a call that would change something.
const PLAN_FIRST: &str = "not run: the plan comes first, as one JSON object without a call";

/// State of a plan that is being made in a conversation.
pub(crate) struct PlanTalk {
    budget: PromptBudget,
    tools: Vec<ToolSpec>,
}

/// Asks for the plan, in the present conversation or in a new one.
pub(crate) async fn open(
    approvals: &Approvals,
    model: &dyn Model,
    mode: Mode,
    talked: &mut Transcript,
    input: &PlanInput,
) -> PlanTalk {
    let budget = PromptBudget::of(model.abilities().await);
    let transcript = talked;
    transcript.take_up(model.name());
    if !transcript.is_open() {
        let opening = conversation::opening(&input.context, &Contract::Simple, &[], budget);
        transcript.fence = opening.fence;
        transcript.tell(opening.first);
    }
    let fence = transcript.fence.clone();
    let asked = planning::planning(input, &fence, budget, |words| transcript.tells(words));
    transcript.tell(asked);
    PlanTalk { budget, tools: crate::run::converse::tools(approvals, mode, input.context.framing.commands) }
}

/// The next plan of the model, after the looks that it wants. `None` where the time is over before.
pub(crate) async fn ask(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    talk: &PlanTalk,
    cancel: &CancellationToken,
) -> Result<Option<Result<PlanReply, ModelError>>, Failure> {
    let mut round = 0;
    loop {
        compaction_summary::shorten(&task.work.journal, &mut task.conversation.transcript, talk.budget);
        let transcript = &task.conversation.transcript;
        let system = conversation::system(&transcript.fence);
        let input = ChatInput { system: &system, messages: &transcript.messages, tools: &talk.tools };
        // A plan is data: it is shown as a document, and not as its words come.
        let asked = model.chat(&input, &|_| {});
        let reply = match model_turn::answered(&edits.store, &task.work.spent, &task.work.events, cancel, asked).await?
        {
            None => return Ok(None),
            Some(Err(error)) => return Ok(Some(Err(error))),
            Some(Ok(reply)) => reply,
        };
        task.conversation.transcript.answer(reply.clone());
        if reply.uses.is_empty() {
            return Ok(Some(read(&reply)));
        }
        if round >= LOOKS {
            let unrun = reply.uses.iter().map(|used| result_of(used, false, PLAN_FIRST.to_owned())).collect();
            task.conversation.transcript.results(unrun);
            let problems = vec![format!("no plan after {LOOKS} answers that looked")];
            return Ok(Some(Err(ModelError::Unusable { problems, text: written(&reply) })));
        }
        // Each look is a step of its own for those who watch.
        round += 1;
        task.work.step = round;
        let looks: Vec<_> =
            reply.uses.iter().filter(|used| used.problem.is_none() && is_look(used)).map(action).collect();
        let looked = run_tool_call::look_together(edits, model, task, &looks, "").await;
        let results = results(&reply.uses, looked, talk.budget);
        task.work.step = 0;
        task.conversation.transcript.results(results);
    }
}

/// Sends the model the faults of its plan.
pub(crate) fn again(talked: &mut Transcript, talk: &PlanTalk, problems: &[String]) {
    let transcript = talked;
    let fence = transcript.fence.clone();
    transcript.tell(planning::again(problems, &fence, talk.budget));
}

/// A reply as the model has written it: its words, and a line for each call.
fn written(reply: &ChatReply) -> String {
    let calls = reply.uses.iter().map(|used| format!("{} {}", used.tool, used.parameters));
    std::iter::once(reply.text.clone()).chain(calls).collect::<Vec<_>>().join("\n")
}

fn read(reply: &ChatReply) -> Result<PlanReply, ModelError> {
    let reading = reply::plan(&reply.text, tool_list::specs());
    reading.value.ok_or_else(|| ModelError::Unusable { problems: reading.problems, text: reply.text.clone() })
}

/// The results of the calls, of which those that only look were carried out: nothing is changed before there is a plan.
fn results(uses: &[ToolUse], looked: Vec<(LastResult, bool)>, budget: PromptBudget) -> Vec<ToolResult> {
    let mut looked = looked.into_iter();
    let result = |used: &ToolUse| {
        let (ok, text) = match (&used.problem, is_look(used)) {
            (Some(problem), _) => (false, problem.clone()),
            (None, false) => (false, PLAN_FIRST.to_owned()),
            (None, true) => looked.next().map(|(result, ok)| (ok, result.text)).unwrap_or_default(),
        };
        within(result_of(used, ok, text), budget.result)
    };
    uses.iter().map(result).collect()
}
