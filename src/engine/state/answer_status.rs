//! Decides how much of the answer about diagnostics is known: complete, partial, timeout, unavailable.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::state::pending_report::PendingReport;
use sextant_diagnostics::model::{Freshness, Report};
use sextant_diagnostics::syntax;

/// The known share of the answer. An empty list means clean only under `Complete`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Complete,
    Partial,
    Timeout,
    Unavailable,
    /// No provider covers the files.
    Skipped,
    /// Turned off by the user.
    Off,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Skipped => "skipped",
            Self::Off => "off",
        }
    }
}

/// The status from the reports alone, with the pending providers.
pub(crate) fn status(reports: &[Report]) -> (Status, Vec<PendingReport>) {
    let count = reports.iter().filter(|report| !report.freshness.is_fresh()).count();
    let mut pending = PendingReport::without_proof(reports);
    let status = if reports.is_empty() {
        Status::Skipped
    } else if pending.is_empty() {
        Status::Complete
    } else if count < reports.len() {
        Status::Partial
    } else if reports.iter().all(|report| report.freshness == Freshness::Unavailable) {
        Status::Unavailable
    } else {
        Status::Timeout
    };
    let only_syntax = only_syntax(reports);
    if only_syntax.is_empty() {
        return (status, pending);
    }
    pending.extend(only_syntax.into_iter().map(PendingReport::unchecked));
    (if status == Status::Complete { Status::Partial } else { status }, pending)
}

pub(crate) fn short(provider: &str) -> &str {
    provider.strip_prefix("lsp:").unwrap_or(provider)
}

/// True if a provider that has not answered may still do so.
pub(crate) fn may_come(report: &Report) -> bool {
    !report.freshness.is_fresh() && report.freshness != Freshness::Unavailable
}

/// The files that only the parser reports on: a text that parses may still have other errors.
fn only_syntax(reports: &[Report]) -> BTreeSet<&str> {
    let by = |syntax: bool| {
        let chosen = reports.iter().filter(move |report| (report.provider == syntax::NAME) == syntax);
        chosen.map(|report| report.file.as_str()).collect::<BTreeSet<_>>()
    };
    by(true).difference(&by(false)).copied().collect()
}
