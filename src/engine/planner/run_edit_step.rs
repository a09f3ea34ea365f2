//! Carries out an editing step: its parts one after the other. The unmet results go back to it before it is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::diagnostics::{collect_diagnostics, reported, step_verdict};
use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::plan::check_criteria::CheckResult;
use crate::plan::plan_progress::PlanProgress;
use crate::plan::{Step, StepPart, StepState};
use crate::planner::evaluate_checks;
use crate::planner::run_step::Tried;
use crate::planner::step_judgement::{EndedTry, facts_after, joined, judge_edit};
use crate::planner::validate_plan::place_of;
use crate::run::{choose_loop, completion_checks, sources, start};
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_baseline::{Baseline, before_first_edits};
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::outcome::Ended;
use crate::state::snapshots::{Snapshots, add_missing};
use crate::state::task::{Conversation, Task, TaskWork};
use crate::state::task_scope::{Scope, source};
use crate::state::unlooked::Unlooked;
use crate::state::workspace::Workspace;
use crate::step_executors::edit_step;
use crate::step_executors::module::ModuleContext;
use crate::target;
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_model::abilities::Style;
use sextant_model::prompt::conversation;
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_model::step::{LastResult, Model};
use sextant_text::symbols::symbol_path::SymbolPath;

/// How many times the unmet results go back to the step.
const LESSONS: u32 = 2;

/// How the parts of a step ended.
struct PartsDone {
    ended: Ended,
    parts: Vec<StepPart>,
}

/// The state that a try of a step found.
#[derive(Clone)]
struct FoundBefore {
    reports: Snapshots,
    /// The texts of the files that earlier steps have changed.
    texts: BTreeMap<String, Arc<str>>,
}

impl FoundBefore {
    async fn of(edits: &EditService, journal: &Journal, mark: usize) -> Self {
        let earlier = step_verdict::files(journal.checkpoints.get(..mark).unwrap_or_default());
        let texts = step_verdict::texts(edits.workspace.editor.as_ref(), &earlier).await;
        Self { reports: collect_diagnostics::known(&edits.hub).await, texts }
    }
}

/// The facts after a try of a step.
struct StepView {
    verdict: Verdict,
    findings: Vec<CheckResult>,
    /// How many of the diagnostics that the step names are still there.
    left: usize,
    /// The reports that the verdict compares with.
    before: Snapshots,
}

/// Carries out a step in the scope of its symbols. `leaned` are the changes of the steps that it leans on. The step may
/// change them too where it does not hold otherwise.
pub(crate) async fn carry_out(
    edits: &EditService,
    model: &dyn Model,
    step: &Step,
    context: &ModuleContext,
    leaned: &[SymbolPath],
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Tried, Failure> {
    let done = task.work.journal.checkpoints.len();
    let mark = step.result.begun.map_or(done, |begun| begun.min(done));
    let scope = scope_of(step, &context.symbols);
    look_at_unknown(edits, &scope, cancel).await?;
    let expected = targets(&edits.hub, step, &scope).await;
    let before = FoundBefore::of(edits, &task.work.journal, mark).await;
    task.work.reports.first = begun_with(task, mark);
    task.work.begun = (mark < done).then_some(mark);
    let PartsDone { mut ended, parts } = run_parts(edits, model, step, context, task, cancel).await?;
    let mut view = look_back(edits, model, step, &task.work, &before, mark).await;
    for _ in 0..LESSONS {
        let Some(lesson) = lesson(model, step, &ended, &view).await else { break };
        teach(&edits.hub.events, model, &mut task.conversation, &mut task.progress.course, &lesson).await;
        task.work.scope = task.work.scope.widened(leaned);
        ended = joined(Some(ended), under_title(edits, model, step, &context.title, task, cancel).await?);
        view = look_back(edits, model, step, &task.work, &before, mark).await;
    }
    let StepView { verdict, findings, left, before } = view;
    let texts = step_verdict::texts_around(edits.workspace.editor.as_ref(), &task.work.journal, mark).await;
    let tried = EndedTry { step, mark, ended, parts, verdict, findings, expected, left, before, texts };
    let facts = facts_after(&edits.workspace.config, task, &tried);
    Ok(judge_edit(&edits.workspace.config, task, tried, facts))
}

/// Looks at the files of a scope that no provider has reported on as they are. The user or another program may have
/// changed them since the plan was made, and another process may go on with it: the fixes of old reports would be
/// wrong, and those of unknown files count as not offered.
pub(super) async fn look_at_unknown(
    edits: &EditService,
    scope: &Scope,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let known = collect_diagnostics::known(&edits.hub).await;
    let mut documents = Vec::new();
    for path in scope.files() {
        // A file that the step makes is not there yet.
        let Ok(document) = target::document(&edits.workspace, &path).await else { continue };
        let is_known = start::has_reports(&known, &path);
        if !is_known || edits.hub.ledger.lock().await.of_another_text(&path, &document.text).next().is_some() {
            documents.push(document);
        }
    }
    if documents.is_empty() { Ok(()) } else { start::first_look(&edits.hub, &documents, cancel).await }
}

/// Runs the parts one after the other, until one does not come to its end. The task's scope is then all of theirs.
async fn run_parts(
    edits: &EditService,
    model: &dyn Model,
    step: &Step,
    context: &ModuleContext,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<PartsDone, Failure> {
    let portions = portions(&edits.workspace, model, context).await;
    let (mut ended, mut parts) = (None, Vec::new());
    let (mut files, mut symbols) = (Vec::new(), Vec::new());
    for (number, portion) in (1..).zip(&portions) {
        task.work.scope = scope_of(step, &portion.symbols);
        if number == 1 {
            task.conversation.results.clear();
        }
        (task.work.step, task.counts.errors, task.work.reports.offers.served) = (0, 0, 0);
        task.counts.applied = 0;
        let part = if portions.len() > 1 { format!(" ({})", portion.title) } else { String::new() };
        let title = format!("{}{part}", context.title);
        let came_to = under_title(edits, model, step, &title, task, cancel).await?;
        files.extend(task.work.scope.whole_files().iter().cloned());
        symbols.extend(task.work.scope.symbols().iter().cloned());
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
    task.work.scope = if files.is_empty() { Scope::Symbols(symbols) } else { Scope::Parts { files, symbols } };
    Ok(PartsDone { ended: ended.unwrap_or(Ended::Done { changed: false, answer: String::new() }), parts })
}

/// Works on the step, or a part of it, under its own words.
async fn under_title(
    edits: &EditService,
    model: &dyn Model,
    step: &Step,
    title: &str,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Ended, Failure> {
    let request = std::mem::take(&mut task.work.request);
    task.work.request = format!("{title}{}", expected_after(step));
    let came_to = choose_loop::work(edits, model, task, cancel).await;
    task.work.request = request;
    came_to
}

/// The result that a step names in words and as checks, behind its title.
fn expected_after(step: &Step) -> String {
    let checks: Vec<String> = step.checks.iter().map(ToString::to_string).collect();
    let checks = format!("checked: {}", checks.join("; "));
    match (step.expect.is_empty(), step.checks.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(". Expected after it: {checks}"),
        (false, true) => format!(". Expected after it: {}", step.expect),
        (false, false) => format!(". Expected after it: {} ({checks})", step.expect),
    }
}

/// The step's effect on the diagnostics, and the state of its checks.
async fn look_back(
    edits: &EditService,
    model: &dyn Model,
    step: &Step,
    work: &TaskWork,
    found: &FoundBefore,
    mark: usize,
) -> StepView {
    let FoundBefore { reports: mut before, mut texts } = found.clone();
    texts.extend(texts_before(&work.journal, mark));
    // A file that was first looked at in this step, right before its edit, has its baseline there.
    add_missing(&mut before, &work.reports.start);
    before_first_edits(&mut before, &work.reports.first.snaps, &texts);
    let now = collect_diagnostics::known(&edits.hub).await;
    let verdict = step_verdict::verdict(&edits.hub, &work.journal, mark, &before, &now).await;
    let left = targets(&edits.hub, step, &work.scope).await;
    let findings = evaluate_checks::findings(edits, model, step, work, &verdict, mark).await;
    StepView { verdict, findings, left, before }
}

/// The baseline of the texts that a resumed step found when it first began.
fn begun_with(task: &Task, mark: usize) -> Baseline {
    let texts = texts_before(&task.work.journal, mark);
    let found = task
        .work
        .reports
        .start
        .iter()
        .filter(|((file, _), snap)| texts.get(file).is_some_and(|text| snap.text.as_deref() == Some(&**text)));
    Baseline::of(found.map(|(key, snap)| (key.clone(), snap.clone())).collect(), BTreeSet::new(), Unlooked::default())
}

/// The text of each file as the first edit since this checkpoint found it.
fn texts_before(journal: &Journal, mark: usize) -> BTreeMap<String, Arc<str>> {
    let mut texts = BTreeMap::new();
    for file in journal.checkpoints.get(mark..).unwrap_or_default().iter().flat_map(|one| &one.files) {
        if let Some(text) = &file.before {
            texts.entry(file.path.clone()).or_insert_with(|| text.clone());
        }
    }
    texts
}

/// The unmet results of a step that came to its own end, for its model. `None` where all hold, or no model would read
/// them. A small model has had its tries, and would make the same change a second time.
async fn lesson(model: &dyn Model, step: &Step, ended: &Ended, view: &StepView) -> Option<Vec<String>> {
    let reads = !model.needs_providers() && model.abilities().await.style != Style::Compact;
    if !reads || !matches!(ended, Ended::Done { .. }) {
        return None;
    }
    let errors = completion_checks::errors(&view.verdict).into_iter().map(|line| format!("new: {line}"));
    let unmet = step.checks.iter().zip(&view.findings).filter_map(|(check, finding)| match finding {
        CheckResult::Unmet(why) => Some(format!("check `{check}` does not hold: {why}")),
        CheckResult::Met | CheckResult::Unknown(_) => None,
    });
    let lines: Vec<String> = errors.chain(unmet).collect();
    (!lines.is_empty()).then_some(lines)
}

/// Returns the unmet results: the model reads them before its next answer.
async fn teach(
    events: &EventStream,
    model: &dyn Model,
    conversation: &mut Conversation,
    course: &mut PlanProgress,
    lesson: &[String],
) {
    let what = "The step is not done: this does not hold after it. Fix it.";
    events.show(Event::Progress { text: format!("back to the model: {}", headline(&lesson.join("; "))) });
    if conversation.transcript.is_open() {
        let budget = PromptBudget::of(model.abilities().await);
        let fence = conversation.transcript.fence.clone();
        conversation.transcript.tell(conversation::with_data(&fence, budget, what, "After the step", lesson));
    }
    let text = format!("{what}\n{}", lesson.join("\n"));
    conversation.results.push(LastResult { tool: "check".to_owned(), ok: false, text });
    course.fresh = 1;
}

/// The parts of an edit, as its module cuts it.
async fn portions(workspace: &Workspace, model: &dyn Model, context: &ModuleContext) -> Vec<edit_step::Portion> {
    let whole = || vec![edit_step::Portion { title: context.title.clone(), symbols: context.symbols.clone() }];
    let abilities = model.abilities().await;
    if abilities.style == Style::Conversation {
        // The step reads the sources that it needs by itself.
        return whole();
    }
    let most = sources::room(false, PromptBudget::of(abilities));
    let mut sizes = Vec::new();
    for symbol in &context.symbols {
        let bytes = if symbol.names.is_empty() {
            target::document(workspace, &symbol.file).await.map_or(0, |document| document.text.len())
        } else {
            let place = target::known_place(workspace, symbol).await;
            place.map_or(0, |place| source(&place.document.text, &place.outline, place.symbol).len())
        };
        // The outline stands for a source that is too long for any prompt.
        sizes.push((symbol.clone(), bytes.min(most)));
    }
    let size = |symbol: &SymbolPath| sizes.iter().find(|(known, _)| known == symbol).map_or(0, |(_, bytes)| *bytes);
    let portions = edit_step::portions(context, size, most);
    if edit_step::covers(context, &portions) {
        return portions;
    }
    whole()
}

/// How many of the diagnostics that a step names are there.
async fn targets(hub: &DiagnosticsHub, step: &Step, scope: &Scope) -> usize {
    let named = |code: &Option<String>| code.as_ref().is_some_and(|code| step.because.contains(code.as_str()));
    reported::in_scope(hub, scope).await.iter().filter(|found| named(&found.diagnostic.code)).count()
}

/// The symbols and files that a step may touch: these of its own, the created ones, and the place for them.
fn scope_of(step: &Step, symbols: &[SymbolPath]) -> Scope {
    let (files, mut scope): (Vec<SymbolPath>, Vec<SymbolPath>) =
        symbols.iter().cloned().partition(|symbol| step.extent.whole && symbol.names.is_empty());
    for new in &step.extent.creates {
        for path in [place_of(new), new.clone()] {
            if !scope.contains(&path) {
                scope.push(path);
            }
        }
    }
    Scope::Symbols(scope).widened(&files)
}
