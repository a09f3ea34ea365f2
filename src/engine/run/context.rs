//! Collects the facts for a model: the request, the source in scope, the diagnostics there, the fixes on offer.

use std::collections::BTreeSet;

use crate::diagnostics::code_actions;
use crate::diagnostics::relevant::{Relevant, relevant};
use crate::diagnostics::reported::{self, OFFERS_MS};
use crate::diagnostics::triage::{self, RankedDiagnostic};
use crate::events::fact::TaskFact;
use crate::memory::{learn, project_files, prompt_memory};
use crate::plan::work_mode::Mode;
use crate::run::{conventions, file_list, sources};
use crate::state::asked_rename;
use crate::state::authority;
use crate::state::edit_service::EditService;
use crate::state::render;
use crate::state::task::{Conversation, OfferReports, Task, TaskWork};
use crate::state::{comparison, wanted_diagnostics};
use crate::tools::tool_list;
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::token_estimate;
use sextant_diagnostics::grouping;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge::Placed;
use sextant_model::abilities::Style;
use sextant_model::input::{
    MemoryFacts, ModelContext, PlanAsk, PlanInput, ReportFacts, RequestFacts, SourceFacts, StepAsk,
};
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_model::step::{DiagnosticLine, FixOffer, Model};

/// Most diagnostics of one question. More would not be read, and would cost.
const DIAGNOSTICS: usize = 12;
/// Most diagnostics of a plan's question.
const PLAN_DIAGNOSTICS: usize = 60;
/// The same for a model that reads no prompt and only applies offered fixes. Two servers may report each diagnostic
/// twice.
const OFFLINE_DIAGNOSTICS: usize = 1000;
/// Most symbols and themes that a plan's question sums up.
const SYMBOL_GROUPS: usize = 12;
const THEME_GROUPS: usize = 5;
/// Most fixes of one step's question.
const FIXES: usize = 4;
const FILES: usize = 40;

/// The task as the model reads it before a step.
pub(crate) async fn step_facts(
    edits: &EditService,
    model: &dyn Model,
    work: &mut TaskWork,
    conversation: &mut Conversation,
) -> ModelContext {
    let only_fixes = model.needs_providers();
    let (most, shown) = if only_fixes { (usize::MAX, OFFLINE_DIAGNOSTICS) } else { (PLAN_DIAGNOSTICS, DIAGNOSTICS) };
    let Relevant { found, fixable, older } = relevant(&edits.hub, work).await;
    let all = found.len();
    let mut found = first_ones(work, found, fixable, most).await;
    let unseen = all - found.len();
    if only_fixes {
        // A report that had no fix a moment ago comes last: there may be hundreds of them.
        found.sort_by_cached_key(|found| work.reports.offers.barren.contains(&triage::key(found)));
    }
    let checks = &edits.workspace.config.diagnostics;
    // A model that depends on the servers' offers waits as long as a server may take to start.
    let start = if only_fixes { checks.start_timeout_ms } else { 0 };
    let deadline = Deadline::after_ms(OFFERS_MS.max(checks.timeout_ms).max(start));
    // No server is asked for fixes that are not shown.
    let asked_of = if only_fixes { found.len() } else { fixable.min(found.len()).min(DIAGNOSTICS) };
    let (fixes, asked) =
        code_actions::offers(&edits.hub, work, &found[..asked_of], FIXES, AnswerWait { deadline, waits: only_fixes })
            .await;
    let left_out = if only_fixes { found.len() - asked } else { 0 };
    let unweighed = found.len().saturating_sub(asked.max(PLAN_DIAGNOSTICS));
    found.truncate(asked.max(PLAN_DIAGNOSTICS));
    let fixes = learn::trusted(&edits.store, &work.events, work.step, &found, fixes).await;
    let (seen, fixes) = triage::weigh(&edits.hub, work, &found, fixes).await;
    let (seen, left, fixes) = shorten(seen, fixes, shown);
    let more = if only_fixes { 0 } else { unseen + unweighed + left.len() };
    work.note_left_out(left).await;
    let absent = if only_fixes { absent(work).await } else { Vec::new() };
    let reports = ReportFacts { left_out, older, more, fixes, absent, ..ReportFacts::default() };
    context(edits, model, work, conversation, &seen, reports, false).await
}

pub(crate) fn step_ask(task: &Task) -> StepAsk {
    StepAsk {
        step: task.work.step,
        error_count: task.counts.errors,
        results: task.conversation.results.clone(),
        fresh: task.progress.course.fresh,
        applied: task.counts.applied,
        inputs: task.progress.course.inputs.clone(),
        contract: task.progress.course.contract.clone(),
    }
}

pub(crate) async fn plan_facts(
    edits: &EditService,
    model: &dyn Model,
    work: &mut TaskWork,
    conversation: &mut Conversation,
    ask: PlanAsk,
) -> PlanInput {
    let Relevant { found, fixable, older } = relevant(&edits.hub, work).await;
    let groups = groups(&found).await;
    let only_fixes = model.needs_providers();
    let (all, most) = (found.len(), if only_fixes { OFFLINE_DIAGNOSTICS } else { PLAN_DIAGNOSTICS });
    let mut found = first_ones(work, found, fixable, most).await;
    let checks = &edits.workspace.config.diagnostics;
    let deadline = Deadline::after_ms((4 * OFFERS_MS).max(checks.timeout_ms).max(checks.start_timeout_ms));
    let most = if only_fixes { usize::MAX } else { most };
    let asked_of = fixable.min(found.len());
    let (mut fixes, asked) =
        code_actions::offers(&edits.hub, work, &found[..asked_of], most, AnswerWait { deadline, waits: true }).await;
    if only_fixes {
        found.truncate(asked);
    }
    let left_out = all - found.len();
    code_actions::look_up_changes(&edits.workspace, &work.scope, &work.reports.offers, &mut fixes, deadline).await;
    let fixes = learn::trusted(&edits.store, &work.events, work.step, &found, fixes).await;
    let (seen, fixes) = triage::weigh(&edits.hub, work, &found, fixes).await;
    let absent = if only_fixes { absent(work).await } else { Vec::new() };
    let reports = ReportFacts { groups, left_out, older, fixes, absent, ..ReportFacts::default() };
    PlanInput { context: context(edits, model, work, conversation, &seen, reports, true).await, ask }
}

/// The names of the request without reports in its scope when the task began.
async fn absent(work: &TaskWork) -> Vec<String> {
    let (narrowed, scope) = (wanted_diagnostics::wanted(work), work.scope.clone());
    if narrowed.is_all() {
        return Vec::new();
    }
    let start = &work.reports.start;
    let mut found = comparison::all(start, reported::files_of(&scope, start)).await;
    found.retain(|found| scope.holds(&found.symbol));
    tokio::task::spawn_blocking(move || wanted_diagnostics::absent(&narrowed, &found)).await.unwrap_or_default()
}

/// The present state, with the reports as they were weighed.
async fn context(
    edits: &EditService,
    model: &dyn Model,
    work: &mut TaskWork,
    conversation: &mut Conversation,
    seen: &[RankedDiagnostic],
    reports: ReportFacts,
    planning: bool,
) -> ModelContext {
    work.note_seen(seen);
    let codes = codes(seen);
    work.events.did(TaskFact::InView { any: !seen.is_empty(), codes: codes.clone() });
    let part = prompt_memory::memory_part(&edits.store, work, conversation, codes, planning).await;
    let remarks = work.intent.review.iter().map(|line| format!("review of your earlier changes: {line}"));
    let remarks: Vec<String> = remarks.collect();
    let room = part.limit + remarks.iter().map(|line| token_estimate::estimate(line) + 1).sum::<usize>();
    let abilities = model.abilities().await;
    let (budget, talks) = (PromptBudget::of(abilities), abilities.style == Style::Conversation);
    let mut texts = sources::sources(&edits.workspace, work, sources::room(talks, budget)).await;
    if talks && !work.intent.read_only && !work.intent.analysis.question {
        texts.extend(sources::imports(&edits.workspace, work).await);
    }
    let workspace = if planning && !talks {
        project_files::files_by_use(
            &edits.store,
            &edits.workspace.root,
            FILES,
            file_list::useful_files(&edits.workspace.root, &work.intent, &work.scope, FILES).await,
        )
        .await
    } else {
        file_list::file_list(&edits.workspace.root, &work.intent, &work.scope, budget.files).await
    };
    let unsettled = reported::unsettled(&edits.hub, &work.scope).await;
    let guides = planning || talks || work.step > 1 || work.mode != Mode::Simple;
    ModelContext {
        tools: tool_list::specs(),
        request: request_facts(work, &texts),
        sources: SourceFacts { texts, workspace },
        reports: ReportFacts {
            diagnostics: seen.iter().map(|seen| line(&work.reports.offers, seen)).collect(),
            unsettled,
            ..reports
        },
        memory: MemoryFacts { lines: part.lines, remarks, tokens: room },
        framing: conventions::framing(edits, model, guides).await,
        budget,
    }
}

fn request_facts(work: &TaskWork, shown: &[(String, String)]) -> RequestFacts {
    let user = if work.request == work.journal.request { String::new() } else { work.journal.request.clone() };
    let named = work.intent.analysis.lines(|path| {
        let own = path.to_string();
        // A source has its path above it, and a whole source shows its definitions.
        shown.iter().any(|(name, text)| *name == own || (*name == path.file && !sources::is_list(text)))
    });
    let entry = if user.is_empty() { work.intent.place.entry.trim() } else { "" };
    RequestFacts {
        query: work.request.clone(),
        entry: entry.to_owned(),
        user,
        cursor: work.intent.place.cursor.clone(),
        current_file: work.intent.current_file.clone(),
        places: work.intent.places.clone(),
        scope: work.scope.described(),
        earlier: work.intent.earlier.clone(),
        named: named.into_iter().chain(asked_rename::lines(work)).collect(),
    }
}

/// Each code once, in the order of the diagnostics.
fn codes(seen: &[RankedDiagnostic]) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for code in seen.iter().filter_map(|seen| seen.found.diagnostic.code.as_ref()) {
        if !codes.contains(code) {
            codes.push(code.clone());
        }
    }
    codes
}

/// As many diagnostics as can be weighed, worst first; those that the request names come before them. The trace sums up
/// the rest.
async fn first_ones(
    work: &TaskWork,
    mut found: Vec<LocatedDiagnostic>,
    fixable: usize,
    most: usize,
) -> Vec<LocatedDiagnostic> {
    let (analysis, request) = (work.intent.analysis.clone(), work.request.clone());
    let sorted = move || {
        let second =
            |found: &LocatedDiagnostic| !(analysis.bears_on(found) || authority::is_named(&request, &found.diagnostic));
        // Diagnostics that may have an offered fix stay before the others.
        let mut others = found.split_off(fixable.min(found.len()));
        found.sort_by_cached_key(second);
        others.sort_by_cached_key(second);
        found.append(&mut others);
        let left = found.split_off(found.len().min(most));
        (found, left)
    };
    let (found, left) = tokio::task::spawn_blocking(sorted).await.unwrap_or_default();
    work.note_left_out(left).await;
    found
}

/// All diagnostics in scope, a line for each symbol and theme; nothing where the list itself is short.
async fn groups(found: &[LocatedDiagnostic]) -> Vec<String> {
    if found.len() <= DIAGNOSTICS {
        return Vec::new();
    }
    let found = found.to_vec();
    let work = move || {
        let items: Vec<Placed> =
            found.iter().map(|found| Placed { diagnostic: &found.diagnostic, symbol: &found.symbol }).collect();
        let mut lines = grouping::lines(&grouping::by_symbol(&items), SYMBOL_GROUPS);
        lines.extend(grouping::lines(&grouping::by_theme(&items), THEME_GROUPS));
        lines
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

fn line(offers: &OfferReports, seen: &RankedDiagnostic) -> DiagnosticLine {
    let unanswered = offers.unanswered.get(&triage::key(&seen.found)).cloned().unwrap_or_default();
    let line = render::question(&seen.found, seen.source(), seen.confidence, seen.doubtful);
    DiagnosticLine { also: seen.codes.clone(), unanswered, ..line }
}

/// Keeps the diagnostics that have a fix and as many others as fit, and renumbers the fixes. Returns the ones that do
/// not fit second.
fn shorten(
    found: Vec<RankedDiagnostic>,
    fixes: Vec<FixOffer>,
    most: usize,
) -> (Vec<RankedDiagnostic>, Vec<LocatedDiagnostic>, Vec<FixOffer>) {
    let fixable: BTreeSet<usize> = fixes.iter().filter_map(|fix| fix.diagnostic).collect();
    let mut kept: Vec<usize> = fixable.iter().copied().take(most).collect();
    kept.extend((0..found.len()).filter(|index| !fixable.contains(index)).take(most.saturating_sub(kept.len())));
    kept.sort_unstable();
    let place = |index: usize| kept.iter().position(|known| *known == index);
    let fixes = fixes
        .into_iter()
        .filter_map(|fix| match fix.diagnostic {
            Some(index) => place(index).map(|index| FixOffer { diagnostic: Some(index), ..fix }),
            None => Some(fix),
        })
        .collect();
    let left = found.iter().enumerate().filter(|(index, _)| place(*index).is_none());
    let left = left.map(|(_, seen)| seen.found.clone()).collect();
    (kept.iter().filter_map(|index| found.get(*index).cloned()).collect(), left, fixes)
}
