//! Runs one call of a tool: shown before and after, traced, counted; several calls that only look run at once.

use futures::future::join_all;
use tracing::{Instrument, Span};

use crate::durable::stored_traces;
use crate::edit::change;
use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::memory::keep;
use crate::plan::work_mode::Mode;
use crate::run::wait_for_late;
use crate::state::call_summary::{self, Called};
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::frequent_codes::UsualKinds;
use crate::state::in_flight::Making;
use crate::state::refused_edit::RefusedEdit;
use crate::state::render::Line;
use crate::state::task::{Conversation, Task, TaskReports, TaskWork, UnreadResult};
use crate::state::{edit_answer, span, stop};
use crate::tools::tool::ToolCall;
use crate::tools::tool_answer::ToolAnswer;
use crate::tools::{apply_fix, read_once, validate_call};
use sextant_base::failure::Failure;
use sextant_base::one_line;
use sextant_base::plural::counted;
use sextant_base::secrets::mask;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::step::{Action, LastResult, Model};
use sextant_model::tools::Access;

/// A call that was shown and has not returned.
struct OpenCall {
    tool: String,
    called: Called,
    about: String,
    reasoning: String,
    /// Checkpoints of the task before it.
    edits: usize,
    span: Span,
}

/// Runs one call to its end, and words its result.
pub(crate) async fn act(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    action: &Action,
    reasoning: &str,
) -> (LastResult, bool) {
    let (begun, call) = begin(&edits.hub.events, &task.work, action, reasoning);
    let cancel = edits.hub.cancelled();
    let ran = async {
        let call = validate_call::gate(&edits.workspace, &edits.approvals, &task.work, &begun.tool, call).await?;
        task.conversation.answered.before(call.access());
        match call.access() {
            Access::Read => read_once::run_once(edits, model, &mut task.work, &mut task.conversation, &call).await,
            Access::Edit | Access::Run => call.run(edits, model, &mut task.work).await,
        }
    };
    let ran =
        stop::unless_stopped(&edits.making, &cancel, ran).instrument(begun.span.clone()).await.and_then(|ran| ran);
    end(edits, model, task, begun, ran).await
}

/// Runs calls that only look at the same time; returns their results in the order of the calls.
pub(crate) async fn look_together(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    actions: &[Action],
    reasoning: &str,
) -> Vec<(LastResult, bool)> {
    let cancel = edits.hub.cancelled();
    let mut begun = Vec::new();
    for action in actions {
        let (one, call) = begin(&edits.hub.events, &task.work, action, reasoning);
        let gate = validate_call::gate(&edits.workspace, &edits.approvals, &task.work, &one.tool, call);
        let call = stop::unless_stopped(&edits.making, &cancel, gate).instrument(one.span.clone()).await;
        begun.push((one, call.and_then(|call| call)));
    }
    let (request, scope, step) = (task.work.request.clone(), task.work.scope.clone(), task.work.step);
    let current = task.work.intent.current_file.clone();
    let before = task.work.seen.clone();
    let runs = begun.into_iter().map(|(one, call)| {
        let mut own = Task::new(&request, Mode::Simple, current.clone(), scope.clone());
        own.work.step = step;
        own.work.seen.clone_from(&before);
        let cancel = cancel.clone();
        async move {
            let ran = match call {
                Ok(call) => stop::unless_stopped(&edits.making, &cancel, call.run(edits, model, &mut own.work))
                    .instrument(one.span.clone())
                    .await
                    .and_then(|ran| ran),
                Err(failure) => Err(failure),
            };
            (one, ran, own.work.seen)
        }
    });
    let mut results = Vec::new();
    for (one, ran, seen) in join_all(runs).await {
        task.work.seen.take(seen, &before);
        results.push(end(edits, model, task, one, ran).await);
    }
    results
}

fn begin(
    events: &EventStream,
    work: &TaskWork,
    action: &Action,
    reasoning: &str,
) -> (OpenCall, Result<ToolCall, Failure>) {
    let tool = action.tool.clone();
    let call = validate_call::call(&tool, &action.parameters);
    let unread = |_: &Failure| Called { tool: tool.clone(), ..Called::default() };
    let called = call.as_ref().map_or_else(unread, ToolCall::called);
    let target = called.subject.shown();
    let target = work.offered_title(&target).unwrap_or(target);
    let about = format!("{tool} {target}");
    let (reasoning, span) = (reasoning.to_owned(), span::tool(&tool));
    events.show(Event::Acting { step: work.step, tool: tool.clone(), target, reasoning: reasoning.clone() });
    (OpenCall { tool, called, about, reasoning, edits: work.journal.checkpoints.len(), span }, call)
}

/// The deferred diagnostics of the edits, as the model reads them; `None` where there are none.
pub(crate) async fn settled(
    hub: &DiagnosticsHub,
    making: &Making,
    work: &mut TaskWork,
    conversation: &mut Conversation,
) -> Option<String> {
    let cancel = hub.cancelled();
    let verdict = stop::unless_stopped(making, &cancel, change::settle_deferred(hub, work)).await.ok()??;
    let checks = &hub.workspace.config.diagnostics;
    let lines: Vec<Line> = verdict.new_from(checks.severity_floor).map(Line::of).collect();
    unread(conversation, &work.reports, &lines);
    Some(edit_answer::deferred(&verdict, checks))
}

/// Notes the new diagnostics that speak against an end that was written before they were read.
fn unread(conversation: &mut Conversation, reports: &TaskReports, lines: &[Line]) {
    let kinds = UsualKinds::of(&reports.start, &reports.created);
    let against: Vec<&Line> = lines.iter().filter(|line| kinds.speaks_against(line)).collect();
    conversation.open.extend(edit_answer::introduced(&against).map(|why| UnreadResult { why, has_new: true }));
}

/// The diagnostics of the edits before an end that were deferred or unknown when the edits were answered. The model
/// reads them; `None` where there are none.
pub(crate) async fn known_at_end(
    hub: &DiagnosticsHub,
    making: &Making,
    work: &mut TaskWork,
    conversation: &mut Conversation,
) -> Option<String> {
    let put_off = settled(hub, making, work, conversation).await;
    let cancel = hub.cancelled();
    stop::unless_stopped(making, &cancel, wait_for_late::wait(hub, work)).await.ok()?;
    let floor = hub.workspace.config.diagnostics.severity_floor;
    let late = std::mem::take(&mut work.reports.late.found);
    let lines: Vec<Line> = late.iter().filter(|found| found.diagnostic.severity <= floor).map(Line::of).collect();
    unread(conversation, &work.reports, &lines);
    let late = lines.iter().map(|line| format!("late: {}", line.text("")));
    let diagnostics: Vec<String> = put_off.into_iter().chain(late).collect();
    (!diagnostics.is_empty()).then(|| diagnostics.join("\n"))
}

async fn end(
    edit_service: &EditService,
    model: &dyn Model,
    task: &mut Task,
    begun: OpenCall,
    ran: Result<ToolAnswer, Failure>,
) -> (LastResult, bool) {
    let (OpenCall { tool, called, about, reasoning, edits, span }, step) = (begun, task.work.step);
    // A fix that is gone is no judgement on the edits.
    if called.edits() && tool != apply_fix::TOOL.name {
        let target = called.subject.named().to_owned();
        let refusal = |failure| RefusedEdit { target: target.clone(), failure };
        let refused = ran.as_ref().err().cloned().map(refusal);
        match &refused {
            Some(refused) => task.counts.left_out.refused(refused),
            None => task.counts.left_out.made(&target, task.work.journal.checkpoints.get(edits..).unwrap_or_default()),
        }
        task.counts.refused = refused;
    }
    let failed = ran.as_ref().err().map(|failure| (failure.kind, mask(&failure.for_people()).into_owned()));
    let (ok, mut text) = match ran {
        Ok(answer) => {
            let has_new = answer.edit.is_some();
            task.conversation.open.extend(answer.open.map(|why| UnreadResult { why, has_new }));
            (true, mask(&answer.text).into_owned())
        }
        Err(failure) => (false, mask(&failure.one_line()).into_owned()),
    };
    let said = text.len();
    let is_unchanged = task.work.journal.checkpoints.len() == edits;
    if is_unchanged
        && let Some(diagnostics) =
            settled(&edit_service.hub, &edit_service.making, &mut task.work, &mut task.conversation).await
    {
        text = format!("{text}\n{diagnostics}");
    }
    span.in_scope(|| tracing::info!(ok, "the call of a tool is over"));
    // For an edit the text also holds its effect on the diagnostics: whether its target is gone.
    let came_of_it = text.lines().take(if is_unchanged { 1 } else { 2 }).collect::<Vec<_>>().join("; ");
    let reason = format!("{reasoning} → {}{}", if ok { "" } else { "failed: " }, one_line::clean(&came_of_it));
    let by = if task.work.intent.is_direct { "user" } else { model.name() };
    task.work.events.trace(step, Trace::new(Effect::Acted, about, by, reason));
    let seen = match &failed {
        Some((_, words)) => format!("{words}{}", &text[said..]),
        None => shown(&called, ok, &text),
    };
    edit_service.hub.events.show(Event::Acted { step, tool: tool.clone(), ok, text: seen });
    stored_traces::keep(&edit_service.store).await;
    task.counts.applied += usize::from(ok && tool == apply_fix::TOOL.name);
    task.work.events.did(call_summary::came_back(
        &task.work.journal,
        &task.work.request,
        &task.work.reports.offers,
        &called,
        failed.map(|(kind, _)| kind),
        &text,
    ));
    keep::keep(&edit_service.store, &task.work, &mut task.keep).await;
    (LastResult { tool, ok, text }, ok)
}

/// The part of a tool's answer that a user sees: only the amount of reading, all of an edit.
pub(crate) fn shown(called: &Called, ok: bool, text: &str) -> String {
    if ok && called.reads() { counted(text.lines().count(), "line") } else { text.to_owned() }
}
