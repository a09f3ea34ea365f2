//! The reports in a scope, and the fixes that are left for them.

use std::collections::BTreeSet;

use crate::diagnostics::{code_actions, collect_diagnostics, triage};
use crate::memory::learn;
use crate::state::agent_config::Config;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::snapshots::Snapshots;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::wanted_diagnostics;
use crate::state::{answer_status, comparison};
use crate::target;
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::merge;
use sextant_diagnostics::syntax;
use sextant_model::request_kind::{self, Ask};
use sextant_model::step::FixOffer;

/// Milliseconds that the servers have to offer fixes, where the user's patience for an edit is no longer; a cold server
/// that looks for imports takes seconds.
pub(crate) const OFFERS_MS: u64 = 5000;

/// The known diagnostics in scope, from the floor up, worst first.
pub(crate) async fn in_scope(hub: &DiagnosticsHub, scope: &Scope) -> Vec<LocatedDiagnostic> {
    let known = collect_diagnostics::known(hub).await;
    let mut found = comparison::all(&known, files_of(scope, &known)).await;
    found.retain(|found| {
        found.diagnostic.severity <= hub.workspace.config.diagnostics.severity_floor && scope.holds(&found.symbol)
    });
    found
}

/// The number of known diagnostics in scope; the same report of two providers at one place counts once.
pub(crate) async fn count_in_scope(hub: &DiagnosticsHub, scope: &Scope) -> usize {
    let found = in_scope(hub, scope).await;
    tokio::task::spawn_blocking(move || merge::count(&found)).await.unwrap_or_default()
}

/// The rest of the fixes that a scope was offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemainingFixes {
    /// Diagnostics that another plan would fix.
    pub(crate) open: usize,
    /// Diagnostics whose fixes were tried, there or for another of the same words, and did not help.
    pub(crate) tried: usize,
    /// True if the time was too short to ask about all of them.
    pub(crate) more: bool,
    /// Servers that have not answered about the fixes that are left.
    pub(crate) unanswered: BTreeSet<String>,
}

/// Asks the servers once more, and selects from their offers as another plan would.
pub(crate) async fn fixes_left(hub: &DiagnosticsHub, store: &TaskStore, work: &mut TaskWork) -> RemainingFixes {
    let found = wanted_diagnostics::keep_wanted(&wanted_diagnostics::wanted(work), in_scope(hub, &work.scope).await);
    let deadline = Deadline::after_ms(OFFERS_MS.max(store.config.diagnostics.timeout_ms));
    let given_up = std::mem::take(&mut work.reports.offers.tried);
    let (offers, asked) =
        code_actions::offers(hub, work, &found, usize::MAX, AnswerWait { deadline, waits: false }).await;
    work.reports.offers.tried = given_up;
    let keys: BTreeSet<String> = work
        .reports
        .offers
        .offered
        .iter()
        .filter(|offer| work.reports.offers.tried.contains(&offer.key))
        .map(|offer| offer.id.clone())
        .collect();
    let unanswered = work.reports.offers.unanswered.values().flatten().cloned().collect();
    let offers = learn::trusted(store, &work.events, work.step, &found, offers).await;
    let (_, offers) = triage::weigh(hub, work, &found, offers).await;
    let (known, new): (Vec<FixOffer>, Vec<FixOffer>) = offers.into_iter().partition(|offer| keys.contains(&offer.id));
    let open: BTreeSet<usize> = new.iter().filter_map(|offer| offer.diagnostic).collect();
    let tried: BTreeSet<usize> = known.iter().filter_map(|offer| offer.diagnostic).collect();
    RemainingFixes { open: open.len(), tried: tried.difference(&open).count(), more: asked < found.len(), unanswered }
}

/// Providers that have not answered about the current text of the files in scope; their known reports are of an older
/// text.
pub(crate) async fn unsettled(hub: &DiagnosticsHub, scope: &Scope) -> Vec<String> {
    let mut names = Vec::new();
    for file in files_of(scope, &collect_diagnostics::known(hub).await) {
        let Ok(document) = target::document(&hub.workspace, &file).await else { continue };
        let ledger = hub.ledger.lock().await;
        // The parser runs again with every answer and is never late.
        let of_file = ledger.unsettled(&file, &document.text).into_iter().filter(|name| *name != syntax::NAME);
        names.extend(of_file.map(|provider| format!("{} ({file})", answer_status::short(provider))));
    }
    names
}

/// True if a request is about the reports of providers, and they are asked at all.
pub(crate) fn works_on_reports(config: &Config, needs_providers: bool, request: &str) -> bool {
    let driven = needs_providers && request_kind::classify(request) == Ask::Repair;
    (driven || request_kind::asks_report_repair(request)) && config.diagnostics.on_edit
}

/// The files in scope; in a whole workspace those with a report.
pub(crate) fn files_of(scope: &Scope, known: &Snapshots) -> BTreeSet<String> {
    match scope {
        Scope::Workspace => known.keys().map(|(file, _)| file.clone()).collect(),
        _ => scope.files().into_iter().collect(),
    }
}
