//! Runs the calls of one answer in their order. Calls that only look run at once; calls that change something run until
//! one fails.

use serde_json::Value;

use crate::run::control::{self, Control};
use crate::run::run_tool_call;
use crate::state::edit_service::EditService;
use crate::state::outcome::Ended;
use crate::state::task::{Conversation, Task};
use crate::state::unusable_reply;
use crate::tools::{apply_fix, tool_list};
use sextant_base::one_line::headline;
use sextant_model::chat::{ToolResult, ToolUse};
use sextant_model::step::{Action, Model};
use sextant_model::tools::{Access, ToolSpec, find};

/// Outcome of the calls of one answer.
#[derive(Default)]
pub(crate) struct Ran {
    /// One for each call, in their order.
    pub(crate) results: Vec<ToolResult>,
    pub(crate) ended: Option<Ended>,
    /// The answer of a model that is done, where the calls that it sent along passed.
    pub(crate) done: Option<String>,
    /// True if a `done` was refused because of new diagnostics: the model has read them then.
    pub(crate) has_new: bool,
    /// The first edit that failed.
    broken: Option<String>,
}

/// Runs the calls of one answer in their order. Calls that only look run together. Calls that change something run one
/// after the other, until the first failure.
pub(crate) async fn carry_out(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    tools: &[ToolSpec],
    uses: &[ToolUse],
    reply: &str,
) -> Ran {
    let reasoning = headline(reply);
    task.conversation.open.clear();
    let mut ran = Ran::default();
    while let Some(used) = uses.get(ran.results.len()) {
        let left = &uses[ran.results.len()..];
        if edits.hub.cancelled().is_cancelled() {
            break;
        }
        if let Some(problem) = &used.problem {
            ran.broken = ran.broken.or_else(|| changes(tools, used).then(|| used.tool.clone()));
            let raw = format!("{reply}\n{} {}", used.tool, raw(&used.parameters));
            unusable_reply::keep(&task.work.events, task.work.step, model.name(), problem, &raw);
            ran.results.push(result_of(used, false, problem.clone()));
            continue;
        }
        if let Some(control) = control::run(edits, model, &mut task.work, &task.progress.course, used).await {
            // An end depends on the diagnostics of the edits before it, shown or deferred.
            let shown = match control {
                Control::Done(_) => {
                    run_tool_call::known_at_end(&edits.hub, &edits.making, &mut task.work, &mut task.conversation).await
                }
                Control::Answer(_) | Control::Ends(_) => None,
            };
            if ran.controlled(&task.conversation, tools, uses, control, shown) {
                return ran;
            }
            continue;
        }
        let looks = left.iter().take_while(|used| used.problem.is_none() && is_look(used)).count();
        if looks > 0 {
            let together = &left[..looks];
            let actions: Vec<Action> = together.iter().map(action).collect();
            let looked = run_tool_call::look_together(edits, model, task, &actions, &reasoning).await;
            ran.results
                .extend(together.iter().zip(looked).map(|(used, (result, ok))| result_of(used, ok, result.text)));
            continue;
        }
        if let Some(before) = &ran.broken {
            ran.results.push(result_of(used, false, format!("not run: the {before} before it failed")));
            continue;
        }
        let (result, ok) = run_tool_call::act(edits, model, task, &put_off(tools, left), &reasoning).await;
        // A fix that is gone is no objection to the edits behind it.
        if !ok && changes(tools, used) && used.tool != apply_fix::TOOL.name {
            ran.broken = Some(used.tool.clone());
        }
        ran.results.push(result_of(used, ok, result.text));
    }
    ran.leave(uses, "not run: stopped");
    ran
}

/// The parameters of a call as the model has written them.
fn raw(parameters: &Value) -> String {
    parameters.as_str().map_or_else(|| parameters.to_string(), str::to_owned)
}

impl Ran {
    /// Takes the outcome of a control; returns whether the answer ends with it.
    fn controlled(
        &mut self,
        conversation: &Conversation,
        tools: &[ToolSpec],
        uses: &[ToolUse],
        control: Control,
        shown: Option<String>,
    ) -> bool {
        let (before, used) = (&uses[..self.results.len()], &uses[self.results.len()]);
        match control {
            Control::Answer(answer) => {
                let ok = answer.is_ok();
                self.results.push(result_of(used, ok, answer.unwrap_or_else(|failure| failure.one_line())));
                return false;
            }
            Control::Done(answer) => {
                if let Some(why) = not_over(conversation, tools, before, &self.results) {
                    self.has_new = conversation.open.iter().any(|unread| unread.has_new);
                    let shown = shown.map(|shown| format!("\n{shown}")).unwrap_or_default();
                    self.results.push(result_of(used, false, format!("not over: {why}{shown}")));
                    return false;
                }
                self.results.push(result_of(used, true, "ok".to_owned()));
                self.done = Some(answer);
            }
            Control::Ends(ended) => {
                self.results.push(result_of(used, true, "The step ends here.".to_owned()));
                self.ended = Some(ended);
            }
        }
        self.leave(uses, "not run");
        true
    }

    /// Answers the calls that are left.
    fn leave(&mut self, uses: &[ToolUse], why: &str) {
        let left = uses.iter().skip(self.results.len()).map(|used| result_of(used, false, why.to_owned()));
        self.results.extend(left.collect::<Vec<_>>());
    }
}

/// Why an end does not stand that the model wrote before it saw the results of the earlier calls.
fn not_over(
    conversation: &Conversation,
    tools: &[ToolSpec],
    before: &[ToolUse],
    results: &[ToolResult],
) -> Option<String> {
    if let Some(failed) = results.iter().find(|result| !result.ok) {
        return Some(format!("the {} before it failed", failed.tool));
    }
    let looked = before.iter().find(|used| find(tools, &used.tool).is_some_and(|tool| tool.access == Access::Read));
    if let Some(looked) = looked {
        return Some(format!("read what {} gave first", looked.tool));
    }
    conversation.open.first().map(|unread| unread.why.clone())
}

pub(crate) fn action(used: &ToolUse) -> Action {
    Action { tool: used.tool.clone(), parameters: used.parameters.clone() }
}

/// The first of these uses. Where more edits follow it, the last of them gets the diagnostics: the next edit may need
/// what this one breaks.
fn put_off(tools: &[ToolSpec], uses: &[ToolUse]) -> Action {
    let mut action = action(&uses[0]);
    let takes_it = |used: &ToolUse| {
        let tool = find(tools, &used.tool);
        tool.is_some_and(|tool| tool.parameters.iter().any(|parameter| parameter.name == DIAGNOSTICS))
    };
    if takes_it(&uses[0])
        && uses.get(1).is_some_and(|next| next.problem.is_none() && takes_it(next))
        && let Some(given) = action.parameters.as_object_mut()
    {
        given.entry(DIAGNOSTICS).or_insert_with(|| "defer".into());
    }
    action
}

/// The parameter of an edit that chooses when its diagnostics are shown.
const DIAGNOSTICS: &str = "diagnostics";

/// True if the use only looks.
pub(crate) fn is_look(used: &ToolUse) -> bool {
    find(tool_list::specs(), &used.tool).is_some_and(|tool| tool.access == Access::Read)
}

/// True if the use edits; an unreadable one may have been meant to.
fn changes(tools: &[ToolSpec], used: &ToolUse) -> bool {
    find(tools, &used.tool).is_none_or(|tool| tool.access == Access::Edit)
}

pub(crate) fn result_of(used: &ToolUse, ok: bool, text: String) -> ToolResult {
    ToolResult { id: used.id.clone(), tool: used.tool.clone(), ok, text }
}
