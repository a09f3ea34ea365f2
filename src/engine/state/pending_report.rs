//! A part of an answer about diagnostics that is not known, with its reason.

use std::fmt;

use crate::state::answer_status::short;
use sextant_base::plural::counted;
use sextant_diagnostics::language_checkers;
use sextant_diagnostics::model::Freshness;
use sextant_diagnostics::model::Report;

/// The most files that are named for one reason; the rest is a number.
const NAMED: usize = 3;

/// A part of an answer that is not known. It is shown in the words of its `Display`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingReport {
    /// The short name of the provider; empty where no single one is meant.
    pub(crate) provider: String,
    /// The files that it is about, as far as they are known by name.
    pub(crate) files: Vec<String>,
    /// True if an answer of the provider about these files makes it untrue.
    pub(crate) may_be_answered: bool,
    /// True if no checker of the file is known, so that no answer ever comes.
    lacks_checker: bool,
    words: String,
}

impl fmt::Display for PendingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl PendingReport {
    /// In these words alone.
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self {
            provider: String::new(),
            files: Vec::new(),
            may_be_answered: false,
            lacks_checker: false,
            words: words.into(),
        }
    }

    /// About one file, in these words.
    pub(crate) fn about(file: &str, words: String) -> Self {
        Self { files: vec![file.to_owned()], ..Self::new(words) }
    }

    /// A provider that has not reported on a file, for a reason that no answer changes.
    pub(crate) fn of(provider: &str, file: &str, why: &str) -> Self {
        let provider = short(provider).to_owned();
        let words = format!("{provider} ({file}, {why})");
        Self { provider, ..Self::about(file, words) }
    }

    /// The same for several files.
    pub(crate) fn of_files(provider: &str, files: Vec<String>, why: &str) -> Self {
        let place = match files.as_slice() {
            [first, others @ ..] if !others.is_empty() => format!("{first} and {}", counted(others.len(), "other")),
            few => few.concat(),
        };
        Self { files, ..Self::of(provider, &place, why) }
    }

    /// A provider whose answer about a file is awaited.
    pub(crate) fn awaited(provider: &str, file: &str) -> Self {
        let provider = short(provider).to_owned();
        let words = format!("{provider} ({file})");
        Self { provider, may_be_answered: true, ..Self::about(file, words) }
    }

    /// A file that only the parser reads.
    pub(crate) fn unchecked(file: &str) -> Self {
        Self { lacks_checker: true, ..Self::about(file, format!("all but the syntax ({file})")) }
    }

    /// A file that nothing reads.
    pub(crate) fn uncovered(file: &str) -> Self {
        Self { lacks_checker: true, ..Self::about(file, format!("nothing checks {file}")) }
    }

    /// As it is, and an answer makes it untrue.
    pub(crate) fn until_answered(self) -> Self {
        Self { may_be_answered: true, ..self }
    }

    /// The same about an earlier text than the one that was compared with.
    pub(crate) fn of_older(&self) -> Self {
        Self { may_be_answered: false, words: format!("{}: older baseline", self.words), ..self.clone() }
    }

    /// True if this names the provider and all files of another one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.provider == other.provider && other.files.iter().all(|file| self.files.contains(file))
    }

    /// The providers without a fresh report, with their files, by reason.
    pub(crate) fn without_proof(reports: &[Report]) -> Vec<Self> {
        let open = reports.iter().filter(|report| !report.freshness.is_fresh());
        let (mut late, others): (Vec<&Report>, Vec<&Report>) =
            open.partition(|report| !matches!(report.freshness, Freshness::Quiet | Freshness::Unavailable));
        late.sort_by(|a, b| a.provider.cmp(&b.provider));
        let mut groups: Vec<(&str, String, Vec<&str>)> = Vec::new();
        for report in late.into_iter().chain(others) {
            let (name, why) = (short(&report.provider), reason(report));
            match groups.iter_mut().find(|(known, same, _)| *known == name && *same == why) {
                Some((_, _, files)) => files.push(&report.file),
                None => groups.push((name, why, vec![&report.file])),
            }
        }
        groups.into_iter().flat_map(|(name, why, files)| Self::group(name, &why, &files)).collect()
    }

    /// One entry a file, or one for all of them where they are many.
    fn group(provider: &str, why: &str, files: &[&str]) -> Vec<Self> {
        let why = if why.is_empty() { String::new() } else { format!(", {why}") };
        let entry = |place: String, files: &[&str]| Self {
            provider: provider.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            may_be_answered: true,
            lacks_checker: false,
            words: format!("{provider} ({place}{why})"),
        };
        match files {
            [first, others @ ..] if files.len() > NAMED => {
                vec![entry(format!("{first} and {} others", others.len()), files)]
            }
            few => few.iter().map(|file| entry((*file).to_owned(), &[file])).collect(),
        }
    }
}

/// The reason for which a report is no proof; empty where an answer is awaited.
fn reason(report: &Report) -> String {
    match (report.freshness, report.note.as_deref()) {
        (Freshness::Quiet, _) => "by guess only".to_owned(),
        (Freshness::Unavailable, Some(note)) => format!("not available: {note}"),
        (Freshness::Unavailable, None) => "not available".to_owned(),
        _ => String::new(),
    }
}

/// True if an answer may still make an entry untrue.
pub(crate) fn may_be_answered(pending: &[PendingReport]) -> bool {
    pending.iter().any(|entry| entry.may_be_answered)
}

/// The way out for the files that nothing checks, or only the parser, and that something could check.
pub(crate) fn way_out(pending: &[PendingReport]) -> Option<String> {
    let files = pending.iter().filter(|entry| entry.lacks_checker).flat_map(|entry| &entry.files);
    let mut files = files.filter(|file| language_checkers::of_path(file).is_some());
    let (first, others) = (files.next()?, files.count());
    let more = if others > 0 { format!(" and {}", counted(others, "other file")) } else { String::new() };
    Some(format!("No server and no command checks {first}{more}: {HEALTH} names what could"))
}

/// The files that name the checkers of each language.
const HEALTH: &str = "the health check (`sextant doctor`, or the editor's own)";

/// The entries in one line.
pub(crate) fn listed(pending: &[PendingReport]) -> String {
    words(pending).join(", ")
}

pub(crate) fn words(pending: &[PendingReport]) -> Vec<String> {
    pending.iter().map(ToString::to_string).collect()
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
            words(&PendingReport::without_proof(&reports)),
            [
                "tool:cargo (b.rs and 3 others, not available: it stopped in a.rs)",
                "tool:cargo (f.rs, not available: it is not saved)",
                "clangd (g.cc, by guess only)",
                "clangd (h.cc, by guess only)",
            ]
        );
    }

    #[test]
    fn an_entry_covers_another_of_the_same_file_and_not_of_a_longer_name() {
        let entry = PendingReport::awaited("lsp:x", "a.pyi");
        assert!(entry.covers(&PendingReport::of("lsp:x", "a.pyi", "by guess only")));
        assert!(!entry.covers(&PendingReport::awaited("lsp:x", "a.py")));
        assert!(!entry.covers(&PendingReport::awaited("lsp:y", "a.pyi")));
    }
}
