//! Handles a task that ends without its purpose: new errors, or no change at all.

use crate::edit::rollback;
use crate::editor::event::Event;
use crate::plan::work_mode::Mode;
use crate::run::{completion_checks, finish};
use crate::state::agent_config::NewErrors;
use crate::state::comparison::Verdict;
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::task::{TaskCounts, TaskWork};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_diagnostics::model::Severity;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_diagnostics::syntax;
use sextant_model::request_kind::{self, Ask};

/// Takes back the changes of a task that are worse than nothing, as far as the user's option allows it. Returns the
/// reason where it did; `None` where everything stays.
pub(crate) async fn take_back(edits: &EditService, work: &mut TaskWork) -> Option<String> {
    let rule = edits.workspace.config.diagnostics.new_errors;
    if work.journal.is_empty() || rule == NewErrors::Keep {
        return None;
    }
    let files: Vec<String> = work.journal.net().into_iter().map(|change| change.path).collect();
    let verdict = finish::known_verdict(edits, work).await;
    let reason = why(&verdict, rule)?;
    match rollback::roll_back_to(edits, work, 0, false).await {
        Ok(_) => {
            let about = format!("the changes of {}", files.join(", "));
            work.events.trace(work.step.max(1), Trace::new(Effect::Refused, about, "new_errors", &reason));
            Some(reason)
        }
        Err(failure) => {
            edits.hub.events.show(Event::Progress { text: format!("what was changed stays: {}", failure.one_line()) });
            None
        }
    }
}

/// Why the changes do not stay.
fn why(verdict: &Verdict, rule: NewErrors) -> Option<String> {
    let errors: Vec<_> = verdict.new_from(Severity::Error).collect();
    let first = match rule {
        NewErrors::Keep => None,
        NewErrors::UndoSyntax => errors.iter().find(|found| found.diagnostic.source == syntax::NAME),
        NewErrors::Undo => errors.first(),
    }?;
    let (path, message) = (&first.symbol.file, headline(&first.diagnostic.message));
    Some(match rule {
        NewErrors::UndoSyntax => format!("the changes were taken back, since {path} did not parse any more: {message}"),
        _ => format!("the changes were taken back, since they left {}: {message}", counted(errors.len(), "new error")),
    })
}

/// How a piece of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CameTo {
    /// By its own end.
    End,
    /// By its own end, after which its changes were taken back.
    TakenBack,
    /// Early: it was stopped, has failed, asks the user, or has reached a limit; its own words give the cause.
    Short,
    /// In part: the rest waits.
    Waits,
}

/// The verdict on a piece of work. All who report it use this: its outcome and exit status, its last event, the
/// statistics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkVerdict {
    pub(crate) ok: bool,
    /// The reason why not, where no other text gives it.
    pub(crate) why: Option<String>,
}

/// The one verdict on a task and on the run of a plan. It leaves no new error, and its intended changes are made. The
/// changes of a plan's steps were agreed on with the plan; each step is judged by itself.
pub(crate) fn judge(
    needs_providers: bool,
    work: &TaskWork,
    counts: &TaskCounts,
    came_to: CameTo,
    files: &[String],
    verdict: &Verdict,
) -> WorkVerdict {
    let errors = verdict.count(Severity::Error);
    let not_done = |why: String| WorkVerdict { ok: false, why: Some(why).filter(|_| came_to != CameTo::Short) };
    match came_to {
        CameTo::TakenBack => return WorkVerdict::default(),
        CameTo::End | CameTo::Short | CameTo::Waits => {}
    }
    if errors > 0 {
        let count = counted(errors, "new error");
        let stay = if errors == 1 { "stays" } else { "stay" };
        // The user must know of what was refused as well: only the user can let it through.
        let left_out = counts.left_out.words(&work.intent.consent.declined);
        let refused = left_out.as_deref().map(|words| words.strip_prefix("Not done: ").unwrap_or(words));
        let refused = refused.map(|words| format!("; {words}")).unwrap_or_default();
        return not_done(format!("Not done: {count} {stay}{refused}"));
    }
    if came_to == CameTo::Short {
        return WorkVerdict::default();
    }
    if came_to == CameTo::End
        && let Some(why) = left_undone(needs_providers, work).or_else(|| only_hidden(&work.journal, verdict))
    {
        return not_done(why);
    }
    let is_question = request_kind::is_plain_question(&work.request);
    let is_simple = came_to == CameTo::End && work.mode == Mode::Simple;
    if is_simple
        && !files.is_empty()
        && let Some(left_out) = counts.left_out.words(&work.intent.consent.declined).filter(|_| !is_question)
    {
        return not_done(left_out);
    }
    if is_simple && files.is_empty() {
        // A refused edit names the cause; that a change was wanted only names the lack.
        if let Some(refused) = counts.refused.as_ref().filter(|_| !is_question) {
            return not_done(refused.words());
        }
        if completion_checks::asks_for_change(&work.journal, &work.intent) {
            return not_done("Not done: the request asks for a change".to_owned());
        }
        if work.notes.had_work() && request_kind::classify(&work.request) == Ask::Repair {
            return not_done("Not done: nothing was repaired".to_owned());
        }
    }
    WorkVerdict { ok: !declines(needs_providers, &work.journal, work.mode, &work.request), why: None }
}

/// The further wish of a request to repair that a model which applies offered fixes has not fulfilled.
fn left_undone(needs_providers: bool, work: &TaskWork) -> Option<String> {
    let request = &work.journal.request;
    if !needs_providers || request_kind::classify(request) != Ask::Repair {
        return None;
    }
    let narrowed = request_kind::repair_filter(request, "").resolved(&work.intent.places, &work.scope.described());
    if let Some(name) = narrowed.missing.first() {
        return Some(format!("Not done: `{name}` is not found"));
    }
    let quoted: Vec<String> = narrowed.undone.iter().map(|what| format!("“{what}”")).collect();
    (!quoted.is_empty()).then(|| format!("Not done: {} needs a language model", quoted.join(", ")))
}

/// The reason of a request to fix reports of which none is repaired and some are gone by an edit that hides them.
fn only_hidden(journal: &Journal, verdict: &Verdict) -> Option<String> {
    completion_checks::hidden(journal, verdict).map(|reason| format!("Not done: what was reported is hidden: {reason}"))
}

/// True if the model could only name the need for another model: it serves repairs alone.
fn declines(needs_providers: bool, journal: &Journal, mode: Mode, request: &str) -> bool {
    mode == Mode::Simple && needs_providers && request_kind::classify(request) != Ask::Repair && journal.is_empty()
}
