//! Finds what others have changed on disk since the look before: nothing that is known of other files is a baseline then.

use std::sync::Arc;
use std::time::Duration;

use crate::state::brought_by_others;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::snapshots::Snapshots;
use crate::state::task::TaskReports;
use sextant_base::lock::lock;
use sextant_diagnostics::policy::silencing_edits::{BENEATH, is_settings};
use sextant_diagnostics::server::is_compiler_settings;
use sextant_diagnostics::server_facts::{Fact, knows};
use sextant_store::workspace::outside_changes::SettingsFiles;

/// The files that configure checkers.
pub const SETTINGS: SettingsFiles =
    SettingsFiles { is_one: is_settings, is_read_late: is_compiler_settings, beneath: BENEATH };

/// The time after which a server answers by the settings that it was notified of. basedpyright took up to 250 ms, and
/// its first answer was by the old ones.
pub(crate) const SETTLE: Duration = Duration::from_millis(800);

/// The changes since the look before.
#[derive(Debug, Default)]
pub(crate) struct OutsideNews {
    pub(crate) is_any: bool,
    pub(crate) has_settings: bool,
    /// The time until the servers can have read the settings again.
    pub(crate) unread_for: Duration,
}

/// Takes the changes on disk since the last call, apart from the session's own edits of source files. The known reports
/// are no longer current after any.
pub(crate) async fn take(hub: &DiagnosticsHub) -> OutsideNews {
    let (root, outside) = (hub.workspace.root.clone(), Arc::clone(&hub.looked.outside));
    let look = move || {
        let mut outside = lock(&outside);
        let changes = outside.take(&root, &SETTINGS, |_| true);
        let has_settings = changes.iter().any(|(path, _)| is_settings(path));
        OutsideNews { is_any: !changes.is_empty(), has_settings, unread_for: outside.unread_for() }
    };
    let mut news = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    let mut ledger = hub.ledger.lock().await;
    if news.is_any {
        ledger.note_overtaken();
    }
    let reads_late = |provider: &str| knows(provider.strip_prefix("lsp:").unwrap_or(provider), Fact::Preamble);
    if !ledger.providers().any(reads_late) {
        news.unread_for = Duration::ZERO;
    }
    news
}

/// Enters into the start of a task the effects of changes by others since its last look.
pub(crate) async fn enter(hub: &DiagnosticsHub, reports: &mut TaskReports) {
    reports.elsewhere.brought = renew(hub, &mut reports.start, reports.elsewhere.brought).await;
}

/// Enters into the start of a task the effects of changes by others, behind those that it includes. Returns how many it
/// includes then.
pub(crate) async fn renew(hub: &DiagnosticsHub, start: &mut Snapshots, included: Option<usize>) -> Option<usize> {
    let (brought, count) = {
        let ledger = hub.ledger.lock().await;
        let count = ledger.brought();
        (ledger.brought_since(included.unwrap_or(count)), count)
    };
    brought_by_others::renew(start, brought).await;
    Some(count)
}

/// Notes how the files are, before the first look at reports.
pub(crate) async fn begin(hub: &DiagnosticsHub) {
    if lock(&hub.looked.outside).is_new() {
        take(hub).await;
    }
}
