//! Decides how much of the answer about diagnostics is known: complete, partial, timeout, unavailable.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

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
pub(crate) fn status(reports: &[Report]) -> (Status, Vec<String>) {
    let open = reports.iter().filter(|report| !report.freshness.is_fresh());
    let (late, others): (Vec<&Report>, Vec<&Report>) =
        open.partition(|report| !matches!(report.freshness, Freshness::Quiet | Freshness::Unavailable));
    let count = late.len() + others.len();
    let mut pending = late_words(&late);
    pending.extend(others.into_iter().map(|report| {
        let name = short(&report.provider);
        if report.freshness == Freshness::Quiet {
            return format!("{name} ({}, by guess only)", report.file);
        }
        let why = report.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        format!("{name} ({}, not available{why})", report.file)
    }));
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
    pending.extend(only_syntax.into_iter().map(unchecked));
    (if status == Status::Complete { Status::Partial } else { status }, pending)
}

/// The most files that are named for one late provider; the rest is a number.
const NAMED: usize = 3;

/// The late providers with their files.
fn late_words(late: &[&Report]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    late.iter().for_each(|report| by_name.entry(&report.provider).or_default().push(&report.file));
    let words = |(provider, files): (&str, Vec<&str>)| match files.len() {
        0..=NAMED => files.iter().map(|file| format!("{} ({file})", short(provider))).collect::<Vec<_>>(),
        many => vec![format!("{} ({} and {} others)", short(provider), files[0], many - 1)],
    };
    by_name.into_iter().flat_map(words).collect()
}

pub(crate) fn short(provider: &str) -> &str {
    provider.strip_prefix("lsp:").unwrap_or(provider)
}

/// Whether a provider that has not answered may still do so.
pub(crate) fn may_come(report: &Report) -> bool {
    !report.freshness.is_fresh() && report.freshness != Freshness::Unavailable
}

/// The pending entry of a file that only the parser reads.
pub(super) fn unchecked(file: &str) -> String {
    format!("all but the syntax ({file})")
}

/// The files that only the parser reports on: a text that parses may still have other errors.
fn only_syntax(reports: &[Report]) -> BTreeSet<&str> {
    let by = |syntax: bool| {
        let chosen = reports.iter().filter(move |report| (report.provider == syntax::NAME) == syntax);
        chosen.map(|report| report.file.as_str()).collect::<BTreeSet<_>>()
    };
    by(true).difference(&by(false)).copied().collect()
}
