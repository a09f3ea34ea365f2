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
    pending.extend(unproven_words(&others));
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

/// The providers without a proof, with the reason. Where many files have the same, one is named for all.
fn unproven_words(others: &[&Report]) -> Vec<String> {
    let word = |report: &Report| match (report.freshness, report.note.as_deref()) {
        (Freshness::Quiet, _) => "by guess only".to_owned(),
        (_, Some(note)) => format!("not available: {note}"),
        (_, None) => "not available".to_owned(),
    };
    let mut groups: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for report in others {
        let (name, word) = (short(&report.provider), word(report));
        match groups.iter_mut().find(|(known, same, _)| *known == name && *same == word) {
            Some((_, _, files)) => files.push(&report.file),
            None => groups.push((name, word, vec![&report.file])),
        }
    }
    let words = |(name, word, files): (&str, String, Vec<&str>)| match files.len() {
        0..=NAMED => files.iter().map(|file| format!("{name} ({file}, {word})")).collect::<Vec<_>>(),
        many => vec![format!("{name} ({} and {} others, {word})", files[0], many - 1)],
    };
    groups.into_iter().flat_map(words).collect()
}

pub(crate) fn short(provider: &str) -> &str {
    provider.strip_prefix("lsp:").unwrap_or(provider)
}

/// True if a provider that has not answered may still do so.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn report(file: &str, freshness: Freshness, note: Option<&str>) -> Report {
        let provider = if freshness == Freshness::Quiet { "lsp:clangd" } else { "tool:cargo" };
        Report {
            provider: provider.into(),
            file: file.into(),
            diagnostics: Vec::new(),
            freshness,
            version: None,
            wanted_version: None,
            elapsed_ms: 0,
            note: note.map(str::to_owned),
            unasked: None,
        }
    }

    #[test]
    fn one_reason_of_many_files_stands_once() {
        let stopped = |file| report(file, Freshness::Unavailable, Some("it stopped in a.rs"));
        let mut reports: Vec<Report> = ["b.rs", "c.rs", "d.rs", "e.rs"].map(stopped).into();
        reports.push(report("f.rs", Freshness::Unavailable, Some("it is not saved")));
        reports.extend(["g.cc", "h.cc"].map(|file| report(file, Freshness::Quiet, None)));
        assert_eq!(
            status(&reports).1,
            [
                "tool:cargo (b.rs and 3 others, not available: it stopped in a.rs)",
                "tool:cargo (f.rs, not available: it is not saved)",
                "clangd (g.cc, by guess only)",
                "clangd (h.cc, by guess only)",
            ]
        );
    }
}
