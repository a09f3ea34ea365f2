//! Selects the reports that a task's request wants repaired, for a model that applies offers and reads no prompt.

use std::collections::BTreeMap;

use crate::state::task::TaskWork;
use sextant_diagnostics::code_aliases;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge::{self, Placed};
use sextant_model::request_kind;
use sextant_model::request_kind::kinds::Reported;
use sextant_model::request_kind::repair_filter::Narrowed;

/// The wish of the task: in a step of its plan the words of the step, else the request of the plan.
pub(crate) fn wanted(work: &TaskWork) -> Narrowed {
    let request = &work.journal.request;
    let user = if work.request == *request { "" } else { request.as_str() };
    let mut narrowed =
        request_kind::repair_filter(&work.request, user).resolved(&work.intent.places, &work.scope.told());
    if !user.is_empty() {
        // A step has its symbols as its scope: names of the request elsewhere are for other steps.
        narrowed.missing.clear();
    }
    narrowed
}

/// The wanted diagnostics; all of them where the request names none. Two providers may report the same under two codes:
/// the name of one of them is enough.
pub(crate) fn keep_wanted(narrowed: &Narrowed, found: Vec<LocatedDiagnostic>) -> Vec<LocatedDiagnostic> {
    if narrowed.is_all() {
        return found;
    }
    let kept = with_reported(&found, |reported| reported.iter().map(|one| narrowed.wants(one)).collect::<Vec<bool>>());
    found.into_iter().zip(kept).filter_map(|(found, kept)| kept.then_some(found)).collect()
}

/// The names in the request that match none of these.
pub(crate) fn absent(narrowed: &Narrowed, found: &[LocatedDiagnostic]) -> Vec<String> {
    if narrowed.is_all() { Vec::new() } else { with_reported(found, |reported| narrowed.absent(reported)) }
}

fn with_reported<T>(found: &[LocatedDiagnostic], read: impl FnOnce(&[Reported<'_>]) -> T) -> T {
    let also = other_codes(found);
    let symbols: Vec<String> = found.iter().map(|found| found.symbol.to_string()).collect();
    let severities: Vec<String> = found.iter().map(|found| found.diagnostic.severity.to_string()).collect();
    let none = Vec::new();
    let reported = found.iter().enumerate().map(|(index, found)| Reported {
        severity: &severities[index],
        code: found.diagnostic.code.as_deref().unwrap_or_default(),
        also: also.get(&index).unwrap_or(&none),
        theme: code_aliases::theme(&found.diagnostic).unwrap_or_default(),
        source: &found.diagnostic.source,
        message: &found.diagnostic.message,
        symbol: &symbols[index],
    });
    read(&reported.collect::<Vec<Reported>>())
}

/// The codes under which others report the same, by the index of a diagnostic.
fn other_codes(found: &[LocatedDiagnostic]) -> BTreeMap<usize, Vec<String>> {
    let items: Vec<Placed> =
        found.iter().map(|found| Placed { diagnostic: &found.diagnostic, symbol: &found.symbol }).collect();
    let mut codes = BTreeMap::new();
    for group in merge::merge(&items).into_iter().filter(|group| group.members.len() > 1) {
        let all: Vec<String> =
            group.members.iter().filter_map(|member| found[*member].diagnostic.code.clone()).collect();
        codes.extend(group.members.into_iter().map(|member| (member, all.clone())));
    }
    codes
}
