//! Runs one try of one step: its inputs, its scope, its parts, and the facts after it.

use tokio_util::sync::CancellationToken;

use crate::plan::inputs::{self, TARGET, Value};
use crate::plan::next_decision::StepReport;
use crate::plan::output::StepOutput;
use crate::plan::plan_progress::Objection;
use crate::plan::step_errors::StepError;
use crate::plan::{Plan, Step, StepPart, StepState};
use crate::planner::validate_plan::{self, within};
use crate::planner::{alternatives, run_edit_step};
use crate::run::step_contract;
use crate::state::edit_service::EditService;
use crate::state::judged_step::JudgedStep;
use crate::state::task::Task;
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::workspace::Workspace;
use crate::step_executors::module::ModuleContext;
use crate::target;
use sextant_base::failure::Failure;
use sextant_model::step::Model;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Outcome of a try of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tried {
    pub(crate) state: StepState,
    pub(crate) outcome: String,
    pub(crate) facts: StepReport,
    pub(crate) parts: Vec<StepPart>,
    pub(crate) output: Option<StepOutput>,
    pub(crate) objection: Option<Objection>,
    /// The judgement of a step that is done, for answers that come late.
    pub(crate) judged: Option<JudgedStep>,
}

impl Tried {
    pub(crate) fn failed(error: StepError, outcome: String, facts: StepReport) -> Self {
        let facts = StepReport { error: Some(error), broken: Some(outcome.clone()), ..facts };
        Self { state: StepState::Failed, outcome, facts, ..Self::default() }
    }
}

/// The resolved inputs of a step, or the first input that cannot be resolved.
pub(crate) async fn resolve_inputs(
    store: &TaskStore,
    plan: &Plan,
    step: &Step,
) -> Result<Vec<(String, String)>, String> {
    let outputs: Vec<Option<&StepOutput>> =
        plan.steps.iter().map(|step| step.result.output.as_ref().filter(|_| step.state == StepState::Done)).collect();
    let mut resolved = Vec::new();
    for input in &step.inputs {
        let known = match input.value {
            Value::Preference(_) | Value::Variable(_) => validate_plan::session_value(store, &input.value).await,
            Value::Text(_) | Value::Step(..) => None,
        };
        resolved.push((input.name.clone(), inputs::resolve(&input.value, &outputs, known.as_deref())?));
    }
    Ok(resolved)
}

/// The symbols of a step with those that its target has brought. The symbols that a step changes must be in the scope
/// of the whole task. The symbols that it only reads need not be.
pub(crate) async fn with_target(
    workspace: &Workspace,
    step: &Step,
    resolved: &[(String, String)],
    whole: &Scope,
) -> Result<Vec<SymbolPath>, String> {
    let mut symbols = step.symbols.clone();
    let brings = step.inputs.iter().any(|input| input.name == TARGET && input.value.names_symbols());
    let Some((_, target)) = resolved.iter().find(|(name, _)| brings && name == TARGET) else { return Ok(symbols) };
    for text in target.split(", ") {
        let symbol = target::planned_path(workspace, text).await.map_err(|failure| failure.message)?;
        if !step.kind.only_looks() && !within(whole, &symbol) {
            return Err(format!("{symbol} is outside {}", whole.names().join(", ")));
        }
        if !symbols.contains(&symbol) {
            symbols.push(symbol);
        }
    }
    Ok(symbols)
}

/// Tries an editing step, or its fallback, in the scope of its symbols.
pub(crate) async fn try_step(
    edits: &EditService,
    model: &dyn Model,
    plan: &Plan,
    index: usize,
    task: &mut Task,
    fallback: bool,
    cancel: &CancellationToken,
) -> Result<Tried, Failure> {
    let (step, whole) = (&plan.steps[index], task.work.scope.clone());
    if let Some(missing) = alternatives::missing(&edits.workspace, step).await {
        let facts =
            StepReport { missing: Some(missing.to_string()), error: Some(StepError::Missing), ..StepReport::default() };
        let outcome = format!("{missing} is not there any more");
        return Ok(Tried { state: StepState::Skipped, outcome, facts, ..Tried::default() });
    }
    let unresolved = |why: String| {
        let facts = StepReport { unresolved: Some(why.clone()), ..StepReport::default() };
        Tried::failed(StepError::Unresolved, why, facts)
    };
    let resolved = match resolve_inputs(&edits.store, plan, step).await {
        Ok(resolved) => resolved,
        Err(why) => return Ok(unresolved(why)),
    };
    let symbols = match with_target(&edits.workspace, step, &resolved, &whole).await {
        Ok(symbols) => symbols,
        Err(why) => return Ok(unresolved(why)),
    };
    task.progress.course.contract = step_contract::contract(plan, index, task);
    task.progress.course.inputs = resolved.clone();
    task.progress.course.adherence = None;
    let context = ModuleContext {
        number: index + 1,
        title: if fallback { step.fallback.clone() } else { step.title.clone() },
        kind: step.kind,
        inputs: resolved,
        symbols,
        memory: Vec::new(),
    };
    let leaned: Vec<SymbolPath> = step
        .after
        .iter()
        .filter_map(|number| plan.steps.get(number.checked_sub(1)?))
        .filter(|before| before.state == StepState::Done)
        .flat_map(|before| before.symbols.iter().chain(&before.extent.creates).cloned())
        .collect();
    let tried = run_edit_step::carry_out(edits, model, step, &context, &leaned, task, cancel).await;
    (task.work.scope, task.progress.course.inputs) = (whole, Vec::new());
    task.progress.course.contract = Default::default();
    tried
}
