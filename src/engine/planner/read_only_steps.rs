//! Runs steps that only look: their inputs, their tools, several at once.

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::diagnostics::{collect_diagnostics, look_before, reported};
use crate::editor::event::Event;
use crate::memory::step_memory;
use crate::plan::check_criteria::CheckResult;
use crate::plan::next_decision::StepReport;
use crate::plan::step_errors::StepError;
use crate::plan::work_mode::Mode;
use crate::plan::{Plan, StepKind, StepState};
use crate::planner::alternatives;
use crate::planner::evaluate_checks::{self, unmet};
use crate::planner::run_step::{self, Tried};
use crate::state::answer_status::Status;
use crate::state::comparison::Verdict;
use crate::state::edit_service::EditService;
use crate::state::read_views::SeenTexts;
use crate::state::render::Line;
use crate::state::span;
use crate::state::task::{Task, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::workspace::Workspace;
use crate::step_executors::module::{ModuleContext, ModuleResult, ReadOnlyTools};
use crate::step_executors::run_at_once;
use crate::target;
use crate::tools::validate_call;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_model::step::Model;
use sextant_model::tools::Access;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The tools that only look, for a module.
struct SessionEyes<'a> {
    edits: &'a EditService,
    model: &'a dyn Model,
    cancel: &'a CancellationToken,
    /// The texts that the model has seen, or will have seen by reading.
    seen: Mutex<SeenTexts>,
}

#[async_trait]
impl ReadOnlyTools for SessionEyes<'_> {
    async fn look(&self, context: &ModuleContext, tool: &str, parameters: Value) -> Result<String, Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let call = validate_call::call(tool, &parameters)?;
        if call.access() != Access::Read {
            return Err(tool_failure(format!("{tool} does more than look"), "use a step of kind edit"));
        }
        let step = u32::try_from(context.number).unwrap_or(u32::MAX);
        let (tool, target) = (tool.to_owned(), call.subject().shown());
        let reasoning = context.title.clone();
        self.edits.hub.events.show(Event::Acting { step, tool: tool.clone(), target, reasoning });
        let span = span::plan_step(context.number.saturating_sub(1)).in_scope(|| span::tool(&tool));
        let mut own = Task::new(&context.title, Mode::Simple, None, Scope::Workspace);
        let before = self.seen.lock().await.clone();
        own.work.seen.clone_from(&before);
        let answer = tokio::select! {
            answer = call.run(self.edits, self.model, &mut own.work).instrument(span.clone()) => answer,
            () = self.cancel.cancelled() => Err(Failure::cancelled()),
        };
        self.seen.lock().await.take(own.work.seen, &before);
        let (ok, text) = match &answer {
            Ok(answer) => (true, counted(answer.text.lines().count(), "line")),
            Err(failure) => (false, failure.one_line()),
        };
        span.in_scope(|| tracing::info!(ok, "the call of a tool is over"));
        self.edits.hub.events.show(Event::Acted { step, tool, ok, text });
        answer.map(|answer| answer.text)
    }

    async fn reported(&self, _: &ModuleContext, symbol: &SymbolPath) -> Vec<String> {
        if self.cancel.is_cancelled() {
            return Vec::new();
        }
        let hub = &self.edits.hub;
        if hub.workspace.config.diagnostics.on_edit
            && let Ok(document) = target::document(&hub.workspace, &symbol.file).await
        {
            let bystanders = collect_diagnostics::bystanders(
                hub.workspace.editor.as_ref(),
                &hub.looked,
                std::slice::from_ref(&document.path),
            )
            .await;
            let deadline = Deadline::after_ms(hub.workspace.config.diagnostics.timeout_ms);
            look_before::ensure_baseline(hub, &[document], &bystanders, deadline).await;
        }
        let scope = if symbol.names.is_empty() {
            Scope::Files(vec![symbol.file.clone()])
        } else {
            Scope::Symbols(vec![symbol.clone()])
        };
        reported::in_scope(hub, &scope).await.iter().map(|found| Line::of(found).text(&symbol.file)).collect()
    }
}

/// Runs steps that only look, all at once; returns their outcomes in order.
pub(crate) async fn look_steps(
    edits: &EditService,
    model: &dyn Model,
    plan: &Plan,
    batch: &[usize],
    work: &mut TaskWork,
    cancel: &CancellationToken,
) -> Result<Vec<Tried>, Failure> {
    let mut contexts = Vec::new();
    let mut tried: Vec<Option<Tried>> = Vec::new();
    for index in batch {
        match look_context(&edits.store, &edits.workspace, plan, *index, &work.scope, work.mode).await {
            Ok(context) => {
                contexts.push(context);
                tried.push(None);
            }
            Err(failed) => tried.push(Some(failed)),
        }
    }
    let eyes = SessionEyes { edits, model, cancel, seen: Mutex::new(work.seen.clone()) };
    let results = run_at_once(&contexts, &eyes).await;
    if cancel.is_cancelled() {
        return Err(Failure::cancelled());
    }
    work.seen = eyes.seen.into_inner();
    let mut results = contexts.iter().zip(results);
    let mut all = Vec::new();
    for (index, known) in batch.iter().zip(tried) {
        all.push(match known {
            Some(failed) => failed,
            None => match results.next() {
                Some((context, result)) => judge_look(edits, model, plan, *index, work, context, result).await,
                None => Tried::default(),
            },
        });
    }
    Ok(all)
}

async fn look_context(
    store: &TaskStore,
    workspace: &Workspace,
    plan: &Plan,
    index: usize,
    scope: &Scope,
    mode: Mode,
) -> Result<ModuleContext, Tried> {
    let step = &plan.steps[index];
    if let Some(missing) = alternatives::missing(workspace, step).await {
        let facts =
            StepReport { missing: Some(missing.to_string()), error: Some(StepError::Missing), ..StepReport::default() };
        let outcome = format!("{missing} is not there any more");
        return Err(Tried { state: StepState::Skipped, outcome, facts, ..Tried::default() });
    }
    let unresolved = |why: String| {
        let facts = StepReport { unresolved: Some(why.clone()), ..StepReport::default() };
        Tried::failed(StepError::Unresolved, why, facts)
    };
    let inputs = run_step::resolve_inputs(store, plan, step).await.map_err(unresolved)?;
    // A search looks for the places that use its target.
    let symbols = match step.kind {
        StepKind::Search => step.symbols.clone(),
        _ => run_step::with_target(workspace, step, &inputs, scope).await.map_err(unresolved)?,
    };
    let (number, title, kind) = (index + 1, step.title.clone(), step.kind);
    let mut context = ModuleContext { number, title, kind, inputs, symbols, memory: Vec::new() };
    context.memory = step_memory::module_memory(store, mode, &context).await;
    Ok(context)
}

async fn judge_look(
    edits: &EditService,
    model: &dyn Model,
    plan: &Plan,
    index: usize,
    work: &mut TaskWork,
    context: &ModuleContext,
    result: ModuleResult,
) -> Tried {
    let step = &plan.steps[index];
    let mut facts = StepReport { answered: true, ..StepReport::default() };
    facts.checked.checks = step.checks.len();
    if let Some(error) = result.error {
        return Tried { parts: result.parts, ..Tried::failed(StepError::LookFailed, error, facts) };
    }
    let whole = std::mem::replace(&mut work.scope, Scope::Symbols(context.symbols.clone()));
    let (nothing, mark) = (Verdict::without(Status::Complete), work.journal.checkpoints.len());
    let findings = evaluate_checks::findings(edits, model, step, work, &nothing, mark).await;
    work.scope = whole;
    facts.checked.unmet = unmet(&findings);
    let missed = step.checks.iter().zip(&findings).find_map(|(check, finding)| match finding {
        CheckResult::Unmet(why) => Some(format!("check `{check}` does not hold: {}", headline(why))),
        CheckResult::Met | CheckResult::Unknown(_) => None,
    });
    if let Some(missed) = missed {
        let failed = Tried::failed(StepError::CheckUnmet, missed, facts);
        return Tried { parts: result.parts, ..failed };
    }
    let (symbols, files) = (result.output.symbols.len(), result.output.files.len());
    let outcome = format!("looked at {} in {}", counted(symbols, "symbol"), counted(files, "file"));
    let output = Some(result.output);
    Tried { state: StepState::Done, outcome, facts, parts: result.parts, output, objection: None, judged: None }
}
