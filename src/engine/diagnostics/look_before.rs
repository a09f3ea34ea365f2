//! The look at files before a task or an edit changes them, for what is known of them then.

use crate::diagnostics::collect_diagnostics::{look, waiting};
use crate::diagnostics::outside_look::{self, OutsideNews, SETTLE};
use crate::editor::Document;
use crate::state::answer_status;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::pending_report::PendingReport;
use crate::state::stop;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::model::Report;

/// Makes sure that there is a baseline for these files, asking only where the ledger is not current. Returns the
/// reports where it asked.
pub(crate) async fn ensure_baseline(
    hub: &DiagnosticsHub,
    edited: &[Document],
    bystanders: &[Document],
    deadline: Deadline,
) -> Vec<Report> {
    let news = outside_look::take(hub).await;
    baseline_after(hub, &news, edited, bystanders, deadline).await
}

/// The same after these changes by others.
async fn baseline_after(
    hub: &DiagnosticsHub,
    news: &OutsideNews,
    edited: &[Document],
    bystanders: &[Document],
    deadline: Deadline,
) -> Vec<Report> {
    let cancel = hub.cancelled();
    // Servers start over with new settings.
    let first = hub.workspace.config.diagnostics.start_timeout_ms;
    let limit = || if news.has_settings { Deadline::after_ms(first.max(deadline.left_ms())) } else { deadline };
    // A stopped task waits for nothing.
    stop::soon(&cancel, tokio::time::sleep(news.unread_for)).await;
    let is_current = {
        let ledger = hub.ledger.lock().await;
        edited.iter().all(|document| ledger.is_whole(&document.path, &document.text))
            && bystanders.iter().all(|document| ledger.is_current(&document.path, &document.text))
    };
    if is_current {
        return Vec::new();
    }
    let reports = look(hub, edited, bystanders, limit()).await;
    if !news.has_settings || stop::soon(&cancel, tokio::time::sleep(SETTLE)).await.is_none() {
        return reports;
    }
    // That look has notified the servers, and its answers may be by the old settings.
    hub.ledger.lock().await.note_overtaken();
    look(hub, edited, bystanders, limit()).await
}

/// The open points of a look before an edit.
pub(crate) struct LookedBefore {
    /// Providers that have not reported on the exact text that is about to be edited.
    pub(crate) stale: Vec<PendingReport>,
    /// The edited files that a provider has not reported on.
    pub(crate) unheard: Vec<String>,
    /// The rest of the deadline, or all of it again.
    pub(crate) deadline: Deadline,
}

/// Makes sure that the reports in these files are known before any edit of them. The first question about a file is
/// waited for as at the start of a task, since the servers open it only now.
pub(crate) async fn before_edit(
    hub: &DiagnosticsHub,
    edited: &[Document],
    bystanders: &[Document],
    deadline: Deadline,
) -> LookedBefore {
    let news = outside_look::take(hub).await;
    let is_first = {
        let ledger = hub.ledger.lock().await;
        // A provider that was waited for in vain is not waited for with every file.
        !ledger.is_mute() && !ledger.hangs() && edited.iter().any(|document| !ledger.was_asked(&document.path))
    };
    let (first, own) = (hub.workspace.config.diagnostics.start_timeout_ms, hub.workspace.config.diagnostics.timeout_ms);
    let limit = if is_first { Deadline::after_ms(first.max(own)) } else { deadline };
    let reports = waiting(&hub.events, baseline_after(hub, &news, edited, bystanders, limit)).await;
    let deadline = if is_first || news.has_settings { Deadline::after_ms(own) } else { deadline };
    let ledger = hub.ledger.lock().await;
    let unheard = |document: &&Document| {
        let silent = |report: &Report| report.file == document.path && !report.freshness.is_fresh();
        reports.iter().any(silent) || ledger.of(&document.path).next().is_none()
    };
    let unheard = edited.iter().filter(unheard).map(|document| document.path.clone()).collect();
    LookedBefore { stale: answer_status::status(&reports).1, unheard, deadline }
}
