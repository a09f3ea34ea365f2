//! Selects the reports that a task's request wants repaired, for a model that applies offers and reads no prompt.

use crate::state::task::TaskWork;
use sextant_diagnostics::code_aliases;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge::{self, Placed};
use sextant_model::request_kind;
use sextant_model::request_kind::filter_reports::Narrowed;
use sextant_model::request_kind::kinds::Reported;

/// The wish of the task: in a step of its plan the words of the step, else the request of the plan.
pub(crate) fn wanted(work: &TaskWork) -> Narrowed {
    let request = &work.journal.request;
    let user = if work.request == *request { "" } else { request.as_str() };
    let mut narrowed =
        request_kind::repair_filter(&work.request, user).resolved(&work.intent.places, &work.scope.described());
    if !user.is_empty() {
        // A step has its symbols as its scope: names of the request elsewhere are for other steps.
        narrowed.missing.clear();
    }
    narrowed
}

/// The wanted diagnostics; all of them where the request names none.
pub(crate) fn keep_wanted(narrowed: &Narrowed, found: Vec<LocatedDiagnostic>) -> Vec<LocatedDiagnostic> {
    split(narrowed, found).0
}

/// The wanted diagnostics, and the others. Two providers may report the same under two codes and severities: the code of
/// one of them is enough, and the worst severity counts, as it is shown.
pub(crate) fn split(
    narrowed: &Narrowed,
    found: Vec<LocatedDiagnostic>,
) -> (Vec<LocatedDiagnostic>, Vec<LocatedDiagnostic>) {
    if narrowed.is_all() {
        return (found, Vec::new());
    }
    let kept = with_reported(&found, |reported| reported.iter().map(|one| narrowed.wants(one)).collect::<Vec<bool>>());
    let (wanted, others): (Vec<_>, Vec<_>) = found.into_iter().zip(kept).partition(|(_, kept)| *kept);
    let found = |pairs: Vec<(LocatedDiagnostic, bool)>| pairs.into_iter().map(|(found, _)| found).collect();
    (found(wanted), found(others))
}

/// The names in the request that match none of these.
pub(crate) fn absent(narrowed: &Narrowed, found: &[LocatedDiagnostic]) -> Vec<String> {
    if narrowed.is_all() { Vec::new() } else { with_reported(found, |reported| narrowed.absent(reported)) }
}

fn with_reported<T>(found: &[LocatedDiagnostic], read: impl FnOnce(&[Reported<'_>]) -> T) -> T {
    let groups = groups(found);
    let symbols: Vec<String> = found.iter().map(|found| found.symbol.to_string()).collect();
    let severity_of = |group: &[usize]| group.iter().map(|member| found[*member].diagnostic.severity).min();
    let severities: Vec<String> = found
        .iter()
        .zip(&groups)
        .map(|(found, group)| severity_of(group).unwrap_or(found.diagnostic.severity).to_string())
        .collect();
    let code_of = |member: &usize| found[*member].diagnostic.code.clone();
    let also: Vec<Vec<String>> = groups.iter().map(|group| group.iter().filter_map(code_of).collect()).collect();
    let reported = found.iter().enumerate().map(|(index, found)| Reported {
        severity: &severities[index],
        code: found.diagnostic.code.as_deref().unwrap_or_default(),
        also: &also[index],
        theme: code_aliases::theme(&found.diagnostic).unwrap_or_default(),
        source: &found.diagnostic.source,
        message: &found.diagnostic.message,
        symbol: &symbols[index],
    });
    read(&reported.collect::<Vec<Reported>>())
}

/// Of each diagnostic the indices of those that report the same, itself among them.
fn groups(found: &[LocatedDiagnostic]) -> Vec<Vec<usize>> {
    let items: Vec<Placed> = found.iter().map(Placed::from).collect();
    let mut groups = vec![Vec::new(); found.len()];
    for group in merge::merge(&items) {
        for member in &group.members {
            groups[*member].clone_from(&group.members);
        }
    }
    groups
}
