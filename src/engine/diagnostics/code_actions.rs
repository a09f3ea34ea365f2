//! Selects the servers' fixes to offer: never one that only hides a diagnostic or deletes a check.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;

use futures::future::join_all;
use regex::Regex;

use crate::diagnostics::triage;
use crate::editor::event::Event;
use crate::editor::workspace_edit::LONE_RETURN;
use crate::editor::{Editor, Fix, FixAnswers};
use crate::events::stream::EventStream;
use crate::events::task_events::TaskEvents;
use crate::state::answer_status;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_request::EditRequest;
use crate::state::offered::Offered;
use crate::state::task::{OfferReports, TaskWork};
use crate::state::task_scope;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::positions::{Encoding, LineIndex};
use sextant_base::suppressions;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_diagnostics::server_facts::is_of_server;
use sextant_model::step::FixOffer;
use sextant_text::edits::TextEdit;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Statements that check something: a fix that removes one repairs nothing.
static CHECK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*(assert|raise|if|elif|while|except)\b").ok());

/// The time that the servers have to offer fixes for one diagnostic; a cold one that looks for imports takes seconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Suppression,
    DeletesCheck,
}

fn count(pattern: &LazyLock<Option<Regex>>, text: &str) -> usize {
    pattern.as_ref().map_or(0, |regex| text.lines().filter(|line| regex.is_match(line)).count())
}

/// The reason why these edits of a file are no repair; `None` where they are one.
pub(crate) fn refusal(text: &str, hunks: &[TextEdit]) -> Option<Refusal> {
    let after = sextant_text::edits::apply_text::apply(text, hunks).ok()?;
    if suppressions::lines(&after) > suppressions::lines(text) {
        return Some(Refusal::Suppression);
    }
    (count(&CHECK, &after) < count(&CHECK, text)).then_some(Refusal::DeletesCheck)
}

/// Questions about fixes that are open at the same time, where all of them are asked.
const AT_ONCE: usize = 8;

/// After this time the user sees which servers are still waited for.
const SAID_AFTER: Duration = Duration::from_secs(1);

/// The fixes for these diagnostics, in their order, at most `most`, and the number of diagnostics that the servers were
/// asked about. Positions are indices into `found`. Where `waits` is set, a silent server is waited for once, up to the
/// deadline. A diagnostic without any answer is recorded beside it. Nobody is asked about a report of an older text: the
/// server would answer for the place where it was.
pub(crate) async fn offers(
    hub: &DiagnosticsHub,
    work: &mut TaskWork,
    found: &[LocatedDiagnostic],
    most: usize,
    AnswerWait { deadline, waits }: AnswerWait,
) -> (Vec<FixOffer>, usize) {
    let mut offers = Vec::new();
    let TaskWork { events: task_events, step, reports, .. } = work;
    let known_offers = &mut reports.offers;
    known_offers.offered.clear();
    known_offers.unanswered.clear();
    let at_once = if most == usize::MAX { AT_ONCE } else { 1 };
    let mut asked = 0;
    say_unasked(&hub.workspace, &hub.events, known_offers, found).await;
    let older = older_reports(hub, found).await;
    for items in found.chunks(at_once) {
        if offers.len() >= most || deadline.passed() {
            return (offers, asked);
        }
        let answers = ask_about(hub, known_offers, &older, items, AnswerWait { deadline, waits }).await;
        for (index, (item, answer)) in (asked..).zip(items.iter().zip(answers)) {
            let Some(FixAnswers { fixes, silent }) = answer else { continue };
            let key = triage::key(item);
            let before = offers.len();
            sift(task_events, *step, known_offers, index, item, &fixes, &mut offers);
            match (offers.len() > before, silent.is_empty()) {
                (true, _) => drop(known_offers.barren.remove(&key)),
                (false, true) => drop(known_offers.barren.insert(key)),
                (false, false) => {
                    let names = silent.iter().map(|name| answer_status::short(name).to_owned()).collect();
                    known_offers.unanswered.insert(key, names);
                }
            }
        }
        asked += items.len();
    }
    (offers, asked)
}

/// The providers, by file, whose known reports are of an older text than the present one.
async fn older_reports(hub: &DiagnosticsHub, found: &[LocatedDiagnostic]) -> BTreeMap<String, Vec<String>> {
    let mut older = BTreeMap::new();
    for file in found.iter().map(|item| &item.symbol.file).collect::<BTreeSet<_>>() {
        let Ok(document) = target::document(&hub.workspace, file).await else { continue };
        let ledger = hub.ledger.lock().await;
        let names: Vec<String> = ledger.of_another_text(file, &document.text).map(str::to_owned).collect();
        older.insert(file.clone(), names);
    }
    older
}

/// Reports once why a file gets no fixes: its diagnostics have no known places.
async fn say_unasked(
    workspace: &Workspace,
    events: &EventStream,
    offers: &mut OfferReports,
    found: &[LocatedDiagnostic],
) {
    for item in found.iter().filter(|item| item.diagnostic.location.range().is_none()) {
        let file = &item.symbol.file;
        if !offers.unasked.contains(file)
            && let Ok(document) = workspace.editor.read(file).await
            && LineIndex::new(&document.text).has_lone_return()
        {
            offers.unasked.insert(file.clone());
            events.show(Event::Progress { text: format!("no fix is asked for in {file}, {LONE_RETURN}") });
        }
    }
}

/// Asks the servers about some diagnostics; `None` for one that names no place of the present text.
async fn ask_about(
    hub: &DiagnosticsHub,
    offers: &mut OfferReports,
    older: &BTreeMap<String, Vec<String>>,
    items: &[LocatedDiagnostic],
    AnswerWait { deadline, waits }: AnswerWait,
) -> Vec<Option<FixAnswers>> {
    let (workspace, events) = (&hub.workspace, &hub.events);
    let known = offers.waited.clone();
    // A server that needed a wait and answered will need it again; one that did not answer then is not waited for
    // another time.
    let slow = waits && known.values().any(|answered| *answered);
    let first = if slow { deadline.left() } else { deadline.left().min(if waits { SAID_AFTER } else { PATIENCE }) };
    let is_older = |item: &LocatedDiagnostic| {
        let of_file = older.get(&item.symbol.file);
        of_file.is_some_and(|names| names.contains(&item.diagnostic.source))
    };
    let ask = |item| async move {
        if is_older(item) { None } else { ask_one(workspace.editor.as_ref(), item, slow, first).await }
    };
    let mut answers = join_all(items.iter().map(ask)).await;
    let to_wait_for = |answer: &Option<FixAnswers>| -> Vec<String> {
        let silent = answer.iter().flat_map(|answer| &answer.silent);
        silent.filter(|name| known.get(*name) != Some(&false)).cloned().collect()
    };
    let mut names: Vec<String> = answers.iter().flat_map(to_wait_for).collect();
    names.sort();
    names.dedup();
    if !waits || slow || names.is_empty() || deadline.passed() {
        return answers;
    }
    let short: Vec<&str> = names.iter().map(|name| answer_status::short(name)).collect();
    let text = format!("waiting for {}'s fixes", short.join(" and "));
    events.show(Event::Progress { text });
    let most = Duration::from_millis(workspace.config.diagnostics.start_timeout_ms);
    let left = deadline.left().min(most);
    let again: Vec<usize> = (0..items.len()).filter(|index| !to_wait_for(&answers[*index]).is_empty()).collect();
    let waited =
        join_all(again.iter().map(|index| ask_one(workspace.editor.as_ref(), &items[*index], true, left))).await;
    for (index, answer) in again.into_iter().zip(waited) {
        answers[index] = answer;
    }
    for name in names {
        let answered = !answers.iter().flatten().any(|answer| answer.silent.contains(&name));
        if !answered {
            let text = format!("{name} has not reported which fixes it offers: no answer in time");
            events.show(Event::Progress { text });
        }
        offers.waited.insert(name, answered);
    }
    answers
}

async fn ask_one(editor: &dyn Editor, item: &LocatedDiagnostic, waits: bool, patience: Duration) -> Option<FixAnswers> {
    let range = item.diagnostic.location.range()?;
    match editor.fixes(&item.symbol.file, Some(range), AnswerWait { deadline: Deadline::after(patience), waits }).await
    {
        Ok(answers) => Some(answers),
        Err(error) => {
            tracing::warn!(%error, "no fixes could be asked for");
            Some(FixAnswers { fixes: Vec::new(), silent: item.sources.clone() })
        }
    }
}

/// Takes the fixes that are meant for a diagnostic and may be applied.
fn sift(
    task_events: &TaskEvents,
    step: u32,
    known_offers: &mut OfferReports,
    index: usize,
    item: &LocatedDiagnostic,
    fixes: &[Fix],
    offers: &mut Vec<FixOffer>,
) {
    for fix in fixes.iter().filter(|fix| answers(fix, item)) {
        if suppressions::is_title(&fix.title) {
            let reason = "it would only hide what it is for";
            let about = format!("fix “{}” for {}", fix.title, item.symbol);
            task_events.trace(step.max(1), Trace::new(Effect::SetAside, about, "suppression", reason));
            continue;
        }
        let about = triage::key(item);
        let key = format!("{}|{about}", fix.title);
        if known_offers.tried.contains(&key) {
            continue;
        }
        let code = item.diagnostic.code.clone().unwrap_or_default();
        known_offers.offered.push(Offered { id: fix.id.clone(), key, about, code });
        offers.push(FixOffer {
            id: fix.id.clone(),
            title: fix.title.clone(),
            symbol: item.symbol.to_string(),
            diagnostic: Some(index),
            preferred: fix.preferred,
            changes: Vec::new(),
        });
    }
}

/// Looks up the edits of each fix outside its symbol, as far as the scope allows it: a step that may touch the symbol
/// alone could not carry out a fix that adds an import.
pub(crate) async fn look_up_changes(
    workspace: &Workspace,
    scope: &Scope,
    known_offers: &OfferReports,
    offers: &mut [FixOffer],
    deadline: Deadline,
) {
    for offer in offers {
        if deadline.passed() {
            break;
        }
        // A server that was slow to offer a fix is slow to report its edits.
        let slow = known_offers.waited.values().any(|answered| *answered);
        let patience = Deadline::after(if slow { deadline.left() } else { deadline.left().min(PATIENCE) });
        let Ok(wanted) = wanted(workspace, &offer.id, patience).await else {
            // A server that does not report the edits of its fix is not asked about all the others.
            if patience.passed() {
                break;
            }
            continue;
        };
        let mut changes: Vec<String> = wanted.iter().flat_map(task_scope::touched).collect();
        changes.retain(|path| *path != offer.symbol && scope.holds(&SymbolPath::parse(path)));
        offer.changes = changes;
    }
}

/// True if a fix is meant for a diagnostic.
fn answers(fix: &Fix, item: &LocatedDiagnostic) -> bool {
    let same = fix
        .repairs
        .iter()
        .any(|known| known.message == item.diagnostic.message && known.location == item.diagnostic.location);
    let silent = fix.repairs.is_empty() && is_of_server(&item.diagnostic.source, &fix.provider);
    same || silent
}

/// The edits of an offered fix; nothing is changed.
///
/// # Errors
///
/// The fix is gone, hides a diagnostic, or does more than edit.
pub(crate) async fn wanted(workspace: &Workspace, id: &str, deadline: Deadline) -> Result<Vec<EditRequest>, Failure> {
    let change = workspace.editor.fix_change(id, deadline).await?;
    if let Some(operation) = change.operations.first() {
        return Err(tool_failure(format!("the fix wants more than edits: {operation}"), "do it in the editor by hand"));
    }
    let mut wanted = Vec::new();
    for (path, edits) in change.files {
        let document = target::document(workspace, &path).await?;
        let index = LineIndex::new(&document.text);
        let mut hunks: Vec<TextEdit> = edits
            .into_iter()
            .map(|(range, text)| {
                let text = text.replace("\r\n", "\n");
                TextEdit { range: index.byte_range(&document.text, range, Encoding::Utf16), text }
            })
            .map(|edit| sextant_text::edits::hunks::trim(&document.text, &edit))
            .collect();
        hunks.retain(|edit| document.text.get(edit.range.clone()) != Some(edit.text.as_str()));
        hunks.sort_by_key(|edit| (edit.range.start, edit.range.end));
        if let Some(refusal) = refusal(&document.text, &hunks) {
            return Err(match refusal {
                Refusal::Suppression => tool_failure("the fix only hides the diagnostic", "repair what it is about"),
                Refusal::DeletesCheck => tool_failure("the fix deletes a check", "repair what it is about"),
            });
        }
        if !hunks.is_empty() {
            wanted.push(EditRequest::change(document, hunks, false));
        }
    }
    if wanted.is_empty() {
        return Err(tool_failure("the fix changes nothing", "take another one"));
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(before: &str, after: &str) -> Option<Refusal> {
        refusal(before, &sextant_text::edits::hunks::hunks(before, after))
    }

    #[test]
    fn hiding_and_deleting_checks_is_no_repair() {
        assert_eq!(judge("x = y\n", "x = y  # type: ignore[name-defined]\n"), Some(Refusal::Suppression));
        assert_eq!(judge("x = y\n", "x = y  # noqa: F821\n"), Some(Refusal::Suppression));
        assert_eq!(judge("x = y\n", "x = y  # pyright: ignore\n"), Some(Refusal::Suppression));
        assert_eq!(judge("assert x\ny = 1\n", "y = 1\n"), Some(Refusal::DeletesCheck));
        assert_eq!(judge("import os\nx = 1  # noqa\n", "x = 1  # noqa\n"), None, "an old one may stay");
        assert_eq!(judge("if x == None:\n    y()\n", "if x is None:\n    y()\n"), None);
    }

    #[test]
    fn patterns_are_valid() {
        assert!(CHECK.is_some());
    }
}
