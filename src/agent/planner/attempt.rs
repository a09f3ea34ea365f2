//! One try of one step: its inputs, its scope, its parts, and what is known after it.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use crate::agent::diagnostics::{collect, reported};
use crate::agent::modules::edit;
use crate::agent::modules::module::ModuleContext;
use crate::agent::plan::criteria::CheckResult;
use crate::agent::plan::evaluate::{StepChecked, StepDiagnosed, StepReport};
use crate::agent::plan::inputs::{self, TARGET, Value};
use crate::agent::plan::output::StepOutput;
use crate::agent::plan::progress::Objection;
use crate::agent::plan::recovery::StepError;
use crate::agent::plan::{Plan, Step, StepPart, StepState};
use crate::agent::planner::validate::{self, place_of, within};
use crate::agent::planner::{available, checks};
use crate::agent::run::context::SOURCE;
use crate::agent::run::{contract, work};
use crate::agent::state::baseline::{Baseline, before_first_edits};
use crate::agent::state::comparison::{self, Verdict};
use crate::agent::state::journal::Journal;
use crate::agent::state::known_words;
use crate::agent::state::outcome::Ended;
use crate::agent::state::scope::{Scope, source};
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::target;
use crate::base::failure::Failure;
use crate::base::message::headline;
use crate::base::plural::counted;
use crate::diagnostics::model::Severity;
use crate::symbols::path::SymbolPath;

/// What a try of a step came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tried {
    pub(crate) state: StepState,
    pub(crate) outcome: String,
    pub(crate) facts: StepReport,
    pub(crate) parts: Vec<StepPart>,
    pub(crate) output: Option<StepOutput>,
    pub(crate) objection: Option<Objection>,
}

impl Tried {
    pub(crate) fn failed(error: StepError, outcome: String, facts: StepReport) -> Self {
        let facts = StepReport { error: Some(error), broken: Some(outcome.clone()), ..facts };
        Self { state: StepState::Failed, outcome, facts, ..Self::default() }
    }
}

/// What a step is handed, or the first input that cannot be had.
pub(crate) async fn resolve_inputs(
    session: &Session,
    plan: &Plan,
    step: &Step,
) -> Result<Vec<(String, String)>, String> {
    let outputs: Vec<Option<&StepOutput>> =
        plan.steps.iter().map(|step| step.result.output.as_ref().filter(|_| step.state == StepState::Done)).collect();
    let mut resolved = Vec::new();
    for input in &step.inputs {
        let known = match input.value {
            Value::Preference(_) | Value::Variable(_) => validate::session_value(session, &input.value).await,
            Value::Text(_) | Value::Step(..) => None,
        };
        resolved.push((input.name.clone(), inputs::resolve(&input.value, &outputs, known.as_deref())?));
    }
    Ok(resolved)
}

/// The symbols of a step with those that its target has brought. What a step changes must be in the scope of
/// the whole task; what it only reads need not be.
pub(crate) async fn with_target(
    session: &Session,
    step: &Step,
    resolved: &[(String, String)],
    whole: &Scope,
) -> Result<Vec<SymbolPath>, String> {
    let mut symbols = step.symbols.clone();
    let brings = step.inputs.iter().any(|input| input.name == TARGET && input.value.names_symbols());
    let Some((_, target)) = resolved.iter().find(|(name, _)| brings && name == TARGET) else { return Ok(symbols) };
    for text in target.split(", ") {
        let symbol = target::full_path(session, text).await.map_err(|failure| failure.message)?;
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
    session: &Session,
    plan: &Plan,
    index: usize,
    task: &mut Task,
    fallback: bool,
    cancel: &CancellationToken,
) -> Result<Tried, Failure> {
    let (step, whole) = (&plan.steps[index], task.scope.clone());
    if let Some(missing) = available::missing(session, step).await {
        let facts =
            StepReport { missing: Some(missing.clone()), error: Some(StepError::Missing), ..StepReport::default() };
        let outcome = format!("{missing} is not there any more");
        return Ok(Tried { state: StepState::Skipped, outcome, facts, ..Tried::default() });
    }
    let unresolved = |why: String| {
        let facts = StepReport { unresolved: Some(why.clone()), ..StepReport::default() };
        Tried::failed(StepError::Unresolved, why, facts)
    };
    let resolved = match resolve_inputs(session, plan, step).await {
        Ok(resolved) => resolved,
        Err(why) => return Ok(unresolved(why)),
    };
    let symbols = match with_target(session, step, &resolved, &whole).await {
        Ok(symbols) => symbols,
        Err(why) => return Ok(unresolved(why)),
    };
    task.progress.course.contract = contract::contract(plan, index, task);
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
    let tried = carry_out_edit(session, step, &context, task, cancel).await;
    (task.scope, task.progress.course.inputs) = (whole, Vec::new());
    task.progress.course.contract = Default::default();
    tried
}

async fn carry_out_edit(
    session: &Session,
    step: &Step,
    context: &ModuleContext,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Tried, Failure> {
    let mark = task.journal.checkpoints.len();
    let scope = scope_of(&context.symbols, &step.creates);
    let expected = targets(session, step, &scope).await;
    let mut before = collect::known(session).await;
    task.reports.first = Baseline::default();
    let portions = portions(session, context).await;
    let (mut ended, mut parts, mut after) = (None, Vec::new(), Vec::new());
    let request = task.request.clone();
    for (number, portion) in (1..).zip(&portions) {
        task.scope = scope_of(&portion.symbols, &step.creates);
        if number == 1 {
            task.conversation.results.clear();
        }
        (task.counts.step, task.counts.errors, task.counts.mended) = (0, 0, 0);
        let part = if portions.len() > 1 { format!(" ({})", portion.title) } else { String::new() };
        task.request = format!("{}{part}. Expected after it: {}", context.title, step.expect);
        let came_to = work::work(session, task, cancel).await;
        task.request.clone_from(&request);
        let came_to = came_to?;
        if let Scope::Symbols(symbols) = &task.scope {
            after.extend(symbols.iter().cloned());
        }
        let good = matches!(came_to, Ended::Done { .. });
        let state = if good { StepState::Done } else { StepState::Failed };
        parts.push(StepPart { title: portion.title.clone(), state });
        ended = Some(joined(ended, came_to));
        if !good {
            break;
        }
    }
    let left = portions.iter().skip(parts.len());
    parts.extend(left.map(|portion| StepPart { title: portion.title.clone(), state: StepState::Open }));
    if portions.len() < 2 {
        parts.clear();
    }
    let ended = ended.unwrap_or(Ended::Done { changed: false, answer: String::new() });
    task.scope = Scope::Symbols(after);
    // What was first looked at in this step, right before its edit, has its baseline there.
    for (key, snap) in &task.reports.start {
        before.entry(key.clone()).or_insert_with(|| snap.clone());
    }
    before_first_edits(&mut before, &task.reports.first.snaps, &texts_before(task, mark));
    let mut verdict = comparison::compared(&before, &collect::known(session).await, &[]).await;
    collect::doubt_unheard(session, task, mark, &mut verdict).await;
    let left = targets(session, step, &task.scope).await;
    let found = checks::findings(session, step, task, &verdict).await;
    let facts = facts_after(session, (step, mark), task, &verdict, &ended, (expected, left), &found);
    Ok(judge_edit(session, step, task, mark, (ended, verdict, facts), (found, parts)))
}

/// The text of each file as the first edit since this checkpoint found it.
fn texts_before(task: &Task, mark: usize) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for file in task.journal.checkpoints.get(mark..).unwrap_or_default().iter().flat_map(|one| &one.files) {
        if let Some(text) = &file.before {
            texts.entry(file.path.clone()).or_insert_with(|| text.clone());
        }
    }
    texts
}

fn floor(session: &Session) -> Severity {
    session.config.diagnostics.severity_floor
}

/// The parts of an edit, as its module cuts it.
async fn portions(session: &Session, context: &ModuleContext) -> Vec<edit::Portion> {
    let mut sizes = Vec::new();
    for symbol in &context.symbols {
        let bytes = if symbol.names.is_empty() {
            target::document(session, &symbol.file).await.map_or(0, |document| document.text.len())
        } else {
            let place = target::place(session, &symbol.to_string()).await;
            place.map_or(0, |place| source(&place.document.text, &place.outline, place.symbol).len())
        };
        // The outline stands for what is too long for any prompt.
        sizes.push((symbol.clone(), bytes.min(SOURCE)));
    }
    let size = |symbol: &SymbolPath| sizes.iter().find(|(known, _)| known == symbol).map_or(0, |(_, bytes)| *bytes);
    let portions = edit::portions(context, size, SOURCE);
    if edit::covers(context, &portions) {
        return portions;
    }
    vec![edit::Portion { title: context.title.clone(), symbols: context.symbols.clone() }]
}

fn facts_after(
    session: &Session,
    (step, mark): (&Step, usize),
    task: &Task,
    verdict: &Verdict,
    ended: &Ended,
    (targets, left): (usize, usize),
    findings: &[CheckResult],
) -> StepReport {
    let (errors, all) = (verdict.count(Severity::Error), verdict.new_from(floor(session)).count());
    StepReport {
        diagnosed: StepDiagnosed {
            expected: targets,
            met: targets.saturating_sub(left),
            new_errors: errors,
            new_warnings: all.saturating_sub(errors),
        },
        checked: StepChecked { checks: step.checks.len(), unmet: checks::unmet(findings) },
        changed: task.journal.checkpoints.len() > mark,
        answered: matches!(ended, Ended::Done { answer, .. } if !answer.is_empty()),
        broken: match ended {
            Ended::Done { .. } => None,
            Ended::OutOfSteps => Some("ran out of steps".to_owned()),
            Ended::TooManyErrors(last) => Some(last.clone()),
            Ended::Objected(objection) => Some(objection.reason.clone()),
            Ended::Unsolved(why) => Some(why.clone()),
        },
        adherence: task.progress.course.adherence,
        ..StepReport::default()
    }
}

/// What a step came to: new errors and unmet checks mean that it failed, whatever it says of itself.
fn judge_edit(
    session: &Session,
    step: &Step,
    task: &Task,
    mark: usize,
    (ended, verdict, facts): (Ended, Verdict, StepReport),
    (findings, parts): (Vec<CheckResult>, Vec<StepPart>),
) -> Tried {
    let (fixed, new) = (verdict.fixed_from(floor(session)), verdict.new_from(floor(session)).count());
    let broken = verdict.count(Severity::Error);
    let failed = |error: StepError, outcome: String| {
        let mut tried = Tried::failed(error, outcome.clone(), facts.clone());
        // Only what kept the step from its end is broken; the rest has its own part in the score.
        tried.facts.broken.clone_from(&facts.broken);
        Tried { parts: parts.clone(), outcome, ..tried }
    };
    if let Ended::Objected(objection) = ended {
        let mut tried = failed(StepError::ModelObjected, format!("the model objects: {}", objection.reason));
        tried.facts.objection = Some(objection.reason.clone());
        return Tried { objection: Some(objection), ..tried };
    }
    if broken > 0 {
        let first = verdict.new.first().map(|found| headline(&found.diagnostic.message)).unwrap_or_default();
        return failed(StepError::BrokeSomething, format!("{}, the first: {first}", counted(broken, "new error")));
    }
    let answer = match ended {
        Ended::Done { changed: false, answer } if fixed == 0 => {
            return failed(StepError::NothingDone, idle(task, &answer));
        }
        Ended::Done { answer, .. } => answer,
        Ended::OutOfSteps => return failed(StepError::OutOfSteps, "ran out of steps".to_owned()),
        Ended::TooManyErrors(last) | Ended::Unsolved(last) => return failed(StepError::ErrorsInARow, last),
        Ended::Objected(_) => String::new(),
    };
    let missed = step.checks.iter().zip(&findings).find_map(|(check, finding)| match finding {
        CheckResult::Unmet(why) => Some(format!("check `{check}` does not hold: {why}")),
        CheckResult::Met | CheckResult::Unknown(_) => None,
    });
    if let Some(missed) = missed {
        return failed(StepError::CheckUnmet, missed);
    }
    let untold = findings.iter().filter(|finding| matches!(finding, CheckResult::Unknown(_))).count();
    let untold =
        if untold > 0 { format!(", {} that nobody can tell", counted(untold, "check")) } else { String::new() };
    let outcome = format!("{}{untold}", known_words::of_step(&verdict, new, fixed));
    let text = format!("{answer}\n{outcome}");
    let mut output = StepOutput::new(text.trim(), changed_symbols(task, mark));
    (output.fixed, output.new, output.deviation) = (fixed, new, contract::hundredths(&facts));
    Tried { state: StepState::Done, outcome, facts, parts, output: Some(output), objection: None }
}

/// How many of the diagnostics that a step names are there.
async fn targets(session: &Session, step: &Step, scope: &Scope) -> usize {
    let named = |code: &Option<String>| code.as_ref().is_some_and(|code| step.because.contains(code.as_str()));
    reported::in_scope(session, scope).await.iter().filter(|found| named(&found.diagnostic.code)).count()
}

/// Why a step that came to its end did nothing: what was refused last, and what the model says of it.
fn idle(task: &Task, answer: &str) -> String {
    let refused = task.conversation.results.iter().rev().find(|result| !result.ok);
    let refused = refused.map(|result| format!(" ({} failed: {})", result.tool, headline(&result.text)));
    let said = if answer.is_empty() { String::new() } else { format!("; the model says “{}”", headline(answer)) };
    format!("nothing was changed{}{said}", refused.unwrap_or_default())
}

/// What a step may touch: its symbols, what it creates, and the place where that is put.
fn scope_of(symbols: &[SymbolPath], creates: &[SymbolPath]) -> Scope {
    let mut scope = symbols.to_vec();
    for new in creates {
        for path in [place_of(new), new.clone()] {
            if !scope.contains(&path) {
                scope.push(path);
            }
        }
    }
    Scope::Symbols(scope)
}

/// Two parts one after the other: the worse end, the answers of both.
fn joined(before: Option<Ended>, now: Ended) -> Ended {
    match (before, now) {
        (Some(Ended::Done { changed, answer }), Ended::Done { changed: more, answer: said }) => {
            Ended::Done { changed: changed || more, answer: format!("{answer}\n{said}").trim().to_owned() }
        }
        (_, now) => now,
    }
}

/// The symbols of the step in the files that it changed; all of them where it changed none.
fn changed_symbols(task: &Task, mark: usize) -> Vec<SymbolPath> {
    let checkpoints = task.journal.checkpoints.get(mark..).unwrap_or_default().to_vec();
    let changed = Journal { checkpoints, ..Journal::default() }.net();
    let Scope::Symbols(symbols) = &task.scope else { return Vec::new() };
    let mut out: Vec<SymbolPath> = Vec::new();
    for symbol in symbols {
        let touched = changed.is_empty() || changed.iter().any(|change| change.path == symbol.file);
        if touched && !out.contains(symbol) {
            out.push(symbol.clone());
        }
    }
    out
}
