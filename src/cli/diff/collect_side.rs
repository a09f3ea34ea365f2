//! Asks the providers about one side, from their cold start on, and decides which of their answers can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::join_all;

use crate::cli::diff::diff_progress::DiffProgress;
use crate::cli::diff::git::ChangedFile;
use crate::cli::settings::Providers;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::plural::counted;
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::model::{Diagnostic, DiagnosticsProvider, FileText, Freshness, Report};
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::language_id::language_id;

/// Files that a server has open at a time: enough to keep it busy, few enough for its queue and its memory.
const BATCH: usize = 50;
/// The time that the servers have to leave.
const LEAVE: Duration = Duration::from_secs(1);

/// One state of the project, on disk.
#[derive(Debug)]
pub(super) struct DiffSide {
    /// The name for a reader: `HEAD~1`, `working tree`.
    pub name: String,
    pub root: PathBuf,
    /// The texts to check, by path relative to the root.
    pub texts: BTreeMap<String, String>,
}

/// A provider without a reliable answer about some files of one side.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Silent {
    pub provider: String,
    pub side: String,
    pub why: String,
    /// True if it did answer, without a proof that the answer is for this text; such answers are compared.
    pub guess: bool,
    pub files: Vec<String>,
}

/// The comparable answers of both sides.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub before: Vec<Diagnostic>,
    pub after: Vec<Diagnostic>,
    pub silent: Vec<Silent>,
    /// Providers with at least one compared answer.
    pub answered: BTreeSet<String>,
}

/// One provider over one side.
enum SideProvider {
    Server(LanguageServer),
    /// A command, and whether it is run once for all files.
    Command(Box<CommandProvider>, bool),
}

impl SideProvider {
    fn fetcher(&self) -> &dyn DiagnosticsProvider {
        match self {
            Self::Server(server) => server,
            Self::Command(command, _) => command.as_ref(),
        }
    }

    async fn ask(&self, side: &DiffSide, deadline: Deadline, progress: DiffProgress) -> Vec<Report> {
        let fetcher = self.fetcher();
        let covered = side.texts.iter().filter(|(path, _)| speaks(fetcher.languages(), path));
        let files: Vec<FileText> =
            covered.map(|(path, text)| FileText { path: path.clone(), text: text.as_str().into() }).collect();
        let size = match self {
            Self::Command(_, true) => files.len().max(1),
            _ => BATCH,
        };
        let mut reports = Vec::with_capacity(files.len());
        for batch in files.chunks(size) {
            if deadline.passed() {
                reports.extend(batch.iter().map(|file| unasked(fetcher.name(), &file.path, deadline)));
                continue;
            }
            reports.extend(fetcher.fetch(batch, deadline).await);
            if let Self::Server(server) = self {
                batch.iter().for_each(|file| server.close(&file.path));
            }
            let name = short(fetcher.name());
            progress.say(&format!(
                "{}: {name} has answered for {} of {}",
                side.name,
                reports.len(),
                counted(files.len(), "file")
            ));
        }
        if let Self::Server(server) = self {
            server.shutdown(Deadline::after(LEAVE)).await;
        }
        reports
    }
}

impl DiffSide {
    /// One report for every provider and every file that it covers, in the order of the files.
    ///
    /// # Errors
    /// A command has a configuration that cannot be run.
    pub(super) async fn ask(
        &self,
        configured: &Providers,
        deadline: Deadline,
        progress: DiffProgress,
    ) -> Result<Vec<Report>, Failure> {
        if self.texts.is_empty() {
            return Ok(Vec::new());
        }
        let servers = configured.servers.iter();
        let mut providers: Vec<SideProvider> =
            servers.map(|config| SideProvider::Server(LanguageServer::new(config.clone(), &self.root))).collect();
        for config in &configured.commands {
            let whole = !config.asks_by_file();
            let command = CommandProvider::new(config.clone(), &self.root, &configured.places).map_err(|why| {
                Failure::new(FailureKind::Config, why, "see the section on configuration in the README")
            })?;
            providers.push(SideProvider::Command(Box::new(command), whole));
        }
        let reports = join_all(providers.iter().map(|provider| provider.ask(self, deadline, progress))).await;
        let mut reports = reports.concat();
        // The root may end in a slash of its own.
        let own = format!("{}/", self.root.display().to_string().trim_end_matches('/'));
        // The folder of a checkout differs each time; a message must not differ by it.
        reports.iter_mut().flat_map(|report| &mut report.diagnostics).for_each(|found| {
            if found.message.contains(&own) {
                found.message = found.message.replace(&own, "");
            }
        });
        Ok(reports)
    }
}

/// True if a file is in one of the languages; an empty list means any.
pub(super) fn speaks(languages: &[String], path: &str) -> bool {
    languages.is_empty() || languages.iter().any(|language| language == language_id(path))
}

fn unasked(provider: &str, file: &str, deadline: Deadline) -> Report {
    Report {
        provider: provider.to_owned(),
        file: file.to_owned(),
        diagnostics: Vec::new(),
        freshness: Freshness::Timeout,
        version: None,
        wanted_version: None,
        elapsed_ms: deadline.elapsed_ms(),
        note: Some("the time was up before it was asked".to_owned()),
        unasked: None,
    }
}

/// A provider's name without its kind.
pub(super) fn short(provider: &str) -> &str {
    provider.split_once(':').map_or(provider, |(_, name)| name)
}

/// Puts the two sides' answers beside each other. If a provider answered for a file on one side only, neither answer is
/// used: the missing ones would look new or fixed.
pub(super) fn comparable(files: &[ChangedFile], before: (&str, Vec<Report>), after: (&str, Vec<Report>)) -> Collected {
    let mut providers: BTreeSet<String> = BTreeSet::new();
    let mut index = |reports: Vec<Report>| -> BTreeMap<(String, String), Report> {
        let reports = reports.into_iter();
        reports
            .map(|report| {
                providers.insert(report.provider.clone());
                ((report.provider.clone(), report.file.clone()), report)
            })
            .collect()
    };
    let (mut old, mut new) = (index(before.1), index(after.1));
    let mut out = Collected::default();
    let mut silent: BTreeMap<(String, String, String, bool), Vec<String>> = BTreeMap::new();
    for provider in &providers {
        for file in files {
            let take = |reports: &mut BTreeMap<(String, String), Report>, path: &Option<String>| {
                path.as_ref().and_then(|path| reports.remove(&(provider.clone(), path.clone())))
            };
            let pair = [(before.0, take(&mut old, &file.old)), (after.0, take(&mut new, &file.new))];
            for (side, report) in &pair {
                let Some(report) = report.as_ref().filter(|report| !report.freshness.is_fresh()) else { continue };
                let why = report.note.clone().unwrap_or_else(|| "no answer".to_owned());
                let guess = report.freshness == Freshness::Quiet;
                let key = (provider.clone(), (*side).to_owned(), why, guess);
                silent.entry(key).or_default().push(report.file.clone());
            }
            let lost = |report: &Option<Report>| {
                report.as_ref().is_some_and(|r| matches!(r.freshness, Freshness::Timeout | Freshness::Unavailable))
            };
            if pair.iter().any(|(_, report)| lost(report)) {
                continue;
            }
            let [(_, was), (_, is)] = pair;
            if was.is_some() || is.is_some() {
                out.answered.insert(provider.clone());
            }
            out.before.extend(was.into_iter().flat_map(|report| report.diagnostics));
            out.after.extend(is.into_iter().flat_map(|report| report.diagnostics));
        }
    }
    out.silent = silent
        .into_iter()
        .map(|((provider, side, why, guess), files)| Silent { provider, side, why, guess, files })
        .collect();
    out
}

/// Reads the regular text files; the second list holds the others.
pub(super) fn read<'p>(
    root: &Path,
    paths: impl Iterator<Item = &'p String>,
) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut texts, mut unread) = (BTreeMap::new(), Vec::new());
    for path in paths {
        match std::fs::read_to_string(root.join(path)) {
            Ok(text) => {
                texts.insert(path.clone(), text);
            }
            Err(_) => unread.push(path.clone()),
        }
    }
    (texts, unread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::positions::Range;
    use sextant_diagnostics::model::{Confidence, Location, Severity};

    fn report(provider: &str, file: &str, freshness: Freshness) -> Report {
        let found = Diagnostic {
            source: provider.into(),
            severity: Severity::Error,
            code: None,
            message: format!("{provider} on {file}"),
            location: Location::Range { file: file.into(), range: Range::default() },
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        };
        let answered = freshness.is_fresh() || freshness == Freshness::Quiet;
        let diagnostics = if answered { vec![found] } else { Vec::new() };
        let note = (!freshness.is_fresh()).then(|| "why".to_owned());
        let (provider, file) = (provider.to_owned(), file.to_owned());
        let (version, wanted_version) = (None, None);
        Report { provider, file, diagnostics, freshness, version, wanted_version, elapsed_ms: 0, note, unasked: None }
    }

    fn file(old: Option<&str>, new: Option<&str>) -> ChangedFile {
        ChangedFile { old: old.map(str::to_owned), new: new.map(str::to_owned) }
    }

    #[test]
    fn what_one_side_lacks_is_used_on_neither() {
        use Freshness::{Exact, Quiet, Timeout};
        let files = [file(Some("old.py"), Some("new.py")), file(Some("b.py"), Some("b.py")), file(None, Some("c.py"))];
        let before = vec![report("lsp:x", "old.py", Exact), report("lsp:x", "b.py", Exact)];
        let mut after = vec![report("lsp:x", "new.py", Timeout), report("lsp:x", "b.py", Quiet)];
        after.extend([report("lsp:x", "c.py", Exact), report("lsp:y", "c.py", Timeout)]);
        let both = comparable(&files, ("HEAD", before), ("working tree", after));
        let messages = |list: &[Diagnostic]| list.iter().map(|d| d.message.clone()).collect::<Vec<_>>();
        assert_eq!(messages(&both.before), ["lsp:x on b.py"]);
        assert_eq!(messages(&both.after), ["lsp:x on b.py", "lsp:x on c.py"]);
        assert_eq!(both.answered, BTreeSet::from(["lsp:x".to_owned()]));
        let silent: Vec<(&str, bool, &str)> =
            both.silent.iter().map(|s| (s.provider.as_str(), s.guess, s.files[0].as_str())).collect();
        assert_eq!(silent, [("lsp:x", false, "new.py"), ("lsp:x", true, "b.py"), ("lsp:y", false, "c.py")]);
        assert!(both.silent.iter().all(|silent| silent.side == "working tree" && silent.why == "why"));
    }

    #[test]
    fn a_file_that_is_no_text_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.py"), "x = 1\n").unwrap();
        std::fs::write(folder.path().join("b.py"), b"\xff\xfe").unwrap();
        let paths = ["a.py".to_owned(), "b.py".to_owned(), "gone.py".to_owned()];
        let (texts, unread) = read(folder.path(), paths.iter());
        assert_eq!(texts.keys().collect::<Vec<_>>(), ["a.py"]);
        assert_eq!(unread, ["b.py", "gone.py"]);
    }
}
