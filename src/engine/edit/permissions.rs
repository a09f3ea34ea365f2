//! Decides what a task may delete or spread over without a further word of the user, and when it may not begin.
//!
//! The user's words count as a request. The report of a checker does not: it may be fixed, and no more. The words of an
//! approved plan count as a request too, and anything beyond them becomes a question.

use std::collections::BTreeSet;

use crate::diagnostics::{collect_diagnostics, reported};
use crate::state::authority::{self, Basis, KINDS};
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_request::EditRequest;
use crate::state::task::{Task, TaskWork};
use crate::state::task_scope::{self, Scope};
use sextant_base::failure::{Failure, FailureKind, tool_failure};
use sextant_base::hint::{Hint, HintCode};
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge::{self, Placed};
use sextant_diagnostics::model::{Confidence, Diagnostic};
use sextant_diagnostics::policy::decide::{self, ChangeSize};
use sextant_diagnostics::policy::{Effect, PolicyLimits, Trace, stop};
use sextant_diagnostics::{grouping, syntax};
use sextant_model::request_kind;
use sextant_text::symbols::language;
use sextant_text::symbols::path_spelling;
use sextant_text::symbols::symbol_path::SymbolPath;
use sextant_text::symbols::whole_word::holds_word;

/// Refuses an edit that goes further than the task was asked to go. Called before anything is written.
pub(crate) fn permit(needs_providers: bool, work: &mut TaskWork, wanted: &[EditRequest]) -> Result<(), Failure> {
    let basis = authority::basis_of(&work.intent, work.mode, &work.request, needs_providers);
    if basis == Basis::Asked {
        return keep_wanted(work, wanted);
    }
    let mut lost = authority::lost(wanted);
    lost.retain(|path| !authority::put_elsewhere(&work.journal, path) && !authority::made_here(&work.journal, path));
    let change = ChangeSize {
        files: wanted.iter().map(EditRequest::path).collect::<BTreeSet<_>>().len(),
        symbols: wanted.iter().flat_map(task_scope::touched).collect::<BTreeSet<_>>().len(),
        destructive: !lost.is_empty(),
    };
    let step = work.step.max(1);
    if let Some(reason) = decide::takes_away(&change) {
        let heard = basis == Basis::Reported || !work.intent.consent.replanned;
        let asked = |path: &SymbolPath| {
            let is_allowed = work.intent.consent.allowed.contains(&path.to_string());
            is_allowed || heard && authority::says(&work.request, path, &work.scope)
        };
        let (requested, withheld): (Vec<SymbolPath>, Vec<SymbolPath>) = lost.into_iter().partition(asked);
        for path in requested {
            let who = if basis == Basis::Approved { "the approved plan says so" } else { "the request asks for it" };
            work.events.trace(step, Trace::new(Effect::Kept, format!("deletion of {path}"), "asked_for", who));
        }
        if !withheld.is_empty() {
            let withheld: Vec<String> = withheld.iter().map(ToString::to_string).collect();
            let what = withheld.join(", ");
            let trace = Trace::new(Effect::Asked, format!("deletion of {what}"), "destructive_asks", reason);
            work.events.trace(step, trace);
            work.intent.consent.withheld.extend(withheld);
            return Err(unasked(basis, &what));
        }
    }
    let narrow =
        basis == Basis::Approved || !matches!(work.scope, Scope::Workspace) || request_kind::wants_all(&work.request);
    if let Some(reason) = decide::is_wide(&change, &PolicyLimits::default()).filter(|_| !narrow) {
        work.events.trace(step, Trace::new(Effect::Asked, "a change for what is reported", "wide_asks", &*reason));
        return Err(tool_failure(
            format!("{reason}, and it was only asked to fix what is reported; nothing was written"),
            "fix it in fewer places, or let the user ask for it with a plan",
        ));
    }
    Ok(())
}

/// Words of a request to which a deletion may answer without a verb of removal.
const GOES: &str = "rid gone dead unused unneeded needless superfluous redundant deprecated longer anymore instead \
    lugar sobra statt überflüssig ungenutzt";

/// Refuses an edit that does nothing but delete a symbol which the user's request names and wants to have. A small model
/// deletes what it was to write.
fn keep_wanted(work: &TaskWork, wanted: &[EditRequest]) -> Result<(), Failure> {
    let request = &work.journal.request;
    let goes = || GOES.split_whitespace().any(|word| holds_word(&request.to_lowercase(), word));
    if work.intent.client.is_some() || work.intent.is_direct || !wanted.iter().all(only_deletes) || goes() {
        return Ok(());
    }
    let is_wanted = |path: &SymbolPath| {
        let name = path_spelling::last_name(&path.names);
        !name.is_empty()
            && holds_word(request, name)
            && !authority::says(request, path, &work.scope)
            && !authority::put_elsewhere(&work.journal, path)
    };
    let Some(kept) = authority::lost(wanted).into_iter().find(is_wanted) else { return Ok(()) };
    let reason = "the request names it, and does not ask for its deletion";
    work.events.trace(work.step.max(1), Trace::new(Effect::Refused, format!("deletion of {kept}"), "wanted", reason));
    Err(tool_failure(
        format!("this would delete {kept}; {reason}; nothing was written"),
        "give its new text with replace; where it has to move, write it there first",
    ))
}

/// Recognizes an edit that adds no line of code but the filler of an empty block.
fn only_deletes(want: &EditRequest) -> bool {
    let (Some(document), Some(after)) = (want.document(), want.after()) else { return false };
    let filler = language::of_path(&document.path).and_then(|language| language.filler).map(|(_, filler)| filler);
    let lines = |text: &str| -> Vec<String> {
        let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && Some(*line) != filler);
        code.map(str::to_owned).collect()
    };
    let (before, after) = (lines(&document.text), lines(after));
    let mut old = before.iter();
    after.len() < before.len() && after.iter().all(|line| old.any(|other| other == line))
}

/// Refuses to begin on reports that are too many to weigh, or that hold too little.
///
/// # Errors
/// With the figures and the way out.
pub(crate) async fn begin_on_reports(hub: &DiagnosticsHub, task: &Task) -> Result<(), Failure> {
    if !reported::works_on_reports(&hub.workspace.config, hub.needs_providers, &task.work.request) {
        return Ok(());
    }
    let found = reported::in_scope(hub, &task.work.scope).await;
    let once = move || -> Vec<LocatedDiagnostic> {
        let items: Vec<Placed> = found.iter().map(Placed::from).collect();
        merge::merge(&items).iter().map(|group| found[group.shown].clone()).collect()
    };
    let found = tokio::task::spawn_blocking(once).await.unwrap_or_default();
    let items: Vec<Placed> = found.iter().map(Placed::from).collect();
    // A report without a place is a hint, as in `unplaced_is_low`.
    let believed = |item: &Placed| match item.diagnostic.location.file() {
        Some(_) => item.diagnostic.clone(),
        None => Diagnostic { confidence: Confidence::Low, ..item.diagnostic.clone() },
    };
    let diagnostics: Vec<Diagnostic> = items.iter().map(believed).collect();
    let diagnostics: Vec<&Diagnostic> = diagnostics.iter().collect();
    let known = collect_diagnostics::known(hub).await;
    // A language model can work without any provider; a model that depends on their reports cannot.
    let heard = known.keys().any(|(_, provider)| provider != syntax::NAME) || !hub.needs_providers;
    let asked = matches!(task.work.scope, Scope::Symbols(_) | Scope::Parts { .. })
        || authority::names_a_kind(&task.work.request, &diagnostics);
    let Some((rule, reason)) = stop(&diagnostics, heard, asked, &PolicyLimits::default()) else { return Ok(()) };
    task.work.events.trace(1, Trace::new(Effect::Stopped, &task.work.request, rule, &*reason));
    let kinds = grouping::by_theme(&items).into_iter().take(KINDS);
    let kinds: Vec<String> = kinds.map(|group| format!("{} ({})", group.key, group.members.len())).collect();
    let hint = if rule == "noise" {
        Hint::from(format!("ask at a symbol or with a range, or name a kind of them: {}", kinds.join(", ")))
    } else {
        Hint::from("attach a language server or name a command, or say what is to be changed").and(HintCode::Commands)
    };
    Err(Failure::new(FailureKind::User, format!("nothing was begun: {reason}"), hint))
}

fn unasked(basis: Basis, what: &str) -> Failure {
    match basis {
        Basis::Approved => tool_failure(
            format!("this would delete {what}, which the approved plan does not say; nothing was written"),
            "do the step without it; where it cannot be done without, end the step, and the user is asked",
        ),
        _ => tool_failure(
            format!("this would delete {what}, and it was only asked to fix what is reported; nothing was written"),
            "fix it in place; where it has to go, say so in your answer: the user can ask for it by name",
        ),
    }
}
