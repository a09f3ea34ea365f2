//! The runs of a compiler that a language server starts, by their progress messages.
//!
//! A run that began after the last save and has ended has read the saved files as they are. rust-analyzer reports each
//! run of `cargo check` under a token of its own name. `lua/sextant/lsp/compile_runs.lua` is the same in Neovim.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use crate::cargo_units;
use crate::server::background_work::{Progress, ProgressValue};
use crate::server::received::SentDiagnostic;

const TOKEN: &str = "rust-analyzer/flycheck";

/// The start of its message about a run that could not be done.
const FAILED: &str = "cargo check failed";

/// The note for a run of which nothing is known but its end.
const MUTE: &str = "cargo check ended without a report";

/// The note for a run whose diagnostics of a file came and went. Seen of `ra_ap_rust-analyzer` 0.0.349 in 3 of 1,400 runs,
/// each time for a file that cargo had diagnostics of.
const DROPPED: &str = "diagnostics of cargo check were reported and dropped within one run";

/// LSP's number for the severity of a hint.
const HINT: u64 = 4;

/// The same of an error.
const ERROR: u64 = 1;

/// The word of rust-analyzer for the diagnostic that a hint is a note of.
const ORIGINAL: &str = "original diagnostic";

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompileRun {
    /// The number of edits and saves that were sent before it began.
    pub edits: u64,
    pub began: SystemTime,
    /// It has reported on a crate or a file.
    spoke: bool,
    /// It emptied the list of a file after it had filled it.
    dropped: bool,
    pub ended: Option<Instant>,
}

/// The compiler of one process.
#[derive(Debug, Default)]
pub(crate) struct CompileRuns {
    open: HashSet<String>,
    current: Option<CompileRun>,
    /// The state for which a run was asked for last: the edits, and the run before.
    asked: Option<(u64, Option<CompileRun>)>,
    failure: Option<String>,
    /// How many runs in a row have reported nothing.
    mute: u32,
    /// The URIs of files with diagnostics in the current run, and whether there is an error among them.
    filled: HashMap<String, bool>,
    /// The targets that it has reported as checked: rust-analyzer's message is `NAME (KIND)`.
    checked: HashSet<String>,
    /// The lists that it published last, by URI. Opening or closing a document changes none.
    lists: HashMap<String, Arc<Vec<SentDiagnostic>>>,
}

impl CompileRuns {
    /// Starts over for a new process.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Takes a `$/progress` in.
    pub(super) fn progress(&mut self, progress: &Progress, edits: u64) {
        let Progress { token, value: ProgressValue { kind, message, .. } } = progress;
        let Some(token) = token.as_str().filter(|token| token.starts_with(TOKEN)) else { return };
        match (kind.as_str(), self.current.as_mut()) {
            ("begin", _) => {
                if self.open.is_empty() {
                    self.filled.clear();
                    self.checked.clear();
                    self.current =
                        Some(CompileRun { edits, began: SystemTime::now(), spoke: false, dropped: false, ended: None });
                }
                self.open.insert(token.to_owned());
            }
            ("report", Some(run)) => {
                run.spoke = true;
                let target = message.iter().flat_map(|text| text.split_whitespace()).next();
                self.checked.extend(target.map(cargo_units::crate_name));
            }
            ("end", Some(run)) => {
                self.open.remove(token);
                if self.open.is_empty() {
                    run.ended = Some(Instant::now());
                    self.mute = if run.spoke { 0 } else { self.mute + 1 };
                }
            }
            _ => {}
        }
    }

    pub(super) fn published(&mut self, uri: &str, items: &Arc<Vec<SentDiagnostic>>) {
        if let Some(run) = &mut self.current {
            run.spoke |= !items.is_empty();
            run.dropped |= items.is_empty() && self.filled.contains_key(uri);
            if !items.is_empty() {
                let is_error =
                    |item: &SentDiagnostic| item.fields().is_some_and(|fields| fields.severity == Some(ERROR));
                self.filled.insert(uri.to_owned(), items.iter().any(is_error));
            }
            self.lists.insert(uri.to_owned(), Arc::clone(items));
        }
    }

    /// Takes the message of its status in.
    pub(super) fn reported(&mut self, message: Option<&str>) {
        let failed = message.and_then(|text| text.lines().find_map(|line| line.find(FAILED).map(|at| &line[at..])));
        self.failure = failed.map(crate::model::name);
    }

    pub(super) fn is_running(&self) -> bool {
        !self.open.is_empty()
    }

    /// The last run; `None` while one goes on.
    pub(super) fn last(&self) -> Option<&CompileRun> {
        self.current.as_ref().filter(|run| run.ended.is_some() && self.open.is_empty())
    }

    /// A first run without a report may have been cancelled for another; a second one in a row was not.
    pub(super) fn may_be_cancelled(&self) -> bool {
        self.mute == 1
    }

    /// A run is wanted if none goes on and none was requested in this state.
    pub(super) fn is_wanted(&mut self, edits: u64) -> bool {
        let state = Some((edits, self.last().cloned()));
        !self.is_running() && std::mem::replace(&mut self.asked, state.clone()) != state
    }

    /// The reason why the last run has checked nothing; `None` if it has.
    pub(super) fn failure(&self) -> Option<String> {
        let of_run = |run: &CompileRun| match (run.spoke, run.dropped) {
            (false, _) => Some(MUTE.to_owned()),
            (true, true) => Some(DROPPED.to_owned()),
            (true, false) => None,
        };
        self.failure.clone().or_else(|| self.current.as_ref().and_then(of_run))
    }

    /// The last run has reported the target as checked.
    pub(super) fn has_checked(&self, target: &str) -> bool {
        self.checked.contains(target)
    }

    /// The URIs of files with diagnostics in the last run, each with whether one is an error.
    pub(super) fn filled(&self) -> impl Iterator<Item = (&str, bool)> {
        self.filled.iter().map(|(uri, is_error)| (uri.as_str(), *is_error))
    }

    /// The URIs of all files that had diagnostics once.
    pub(super) fn uris(&self) -> impl Iterator<Item = &str> {
        self.lists.keys().map(String::as_str)
    }

    /// The compiler's diagnostics of a document, without those that are notes of others.
    pub(super) fn items(&self, uri: &str) -> Vec<SentDiagnostic> {
        let items = self.lists.get(uri).map(|items| items.as_slice()).unwrap_or_default();
        items.iter().filter(|item| !is_note(item)).cloned().collect()
    }
}

/// Recognizes a note of another diagnostic, which is published as a hint at the note's own place.
fn is_note(item: &SentDiagnostic) -> bool {
    item.fields().is_some_and(|fields| {
        fields.severity == Some(HINT)
            && fields.related_information.iter().flatten().any(|place| place.message == ORIGINAL)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn progress(runs: &mut CompileRuns, token: &str, kind: &str, edits: u64) {
        let value = ProgressValue { kind: kind.into(), title: None, message: Some("my-shop (lib)".into()) };
        runs.progress(&Progress { token: token.into(), value }, edits);
    }

    const ONE: &str = "rust-analyzer/flycheck/0";
    const TWO: &str = "rust-analyzer/flycheck/1";

    #[test]
    fn runs_of_several_workspaces_are_one_that_began_with_the_first_and_ends_with_the_last() {
        let mut runs = CompileRuns::default();
        for (token, kind, edits) in [(ONE, "begin", 3), ("rustAnalyzer/Indexing", "end", 3), (TWO, "begin", 4)] {
            progress(&mut runs, token, kind, edits);
        }
        progress(&mut runs, ONE, "end", 4);
        assert!(runs.is_running() && runs.last().is_none());
        progress(&mut runs, TWO, "end", 4);
        assert_eq!(runs.last().map(|run| run.edits), Some(3));
        assert!(runs.is_wanted(5) && !runs.is_wanted(5), "once for several files");
        progress(&mut runs, ONE, "begin", 5);
        assert!(runs.last().is_none() && !runs.is_wanted(6), "the next one goes on");
    }

    #[test]
    fn a_run_of_which_nothing_was_heard_or_that_failed_has_checked_nothing() {
        let mut runs = CompileRuns::default();
        let found = Arc::new(vec![SentDiagnostic(json!({"message": "m"}))]);
        runs.published("file:///a.rs", &found);
        assert!(runs.items("file:///a.rs").is_empty(), "no run has begun");
        let run = |runs: &mut CompileRuns, kinds: &[&str]| kinds.iter().for_each(|kind| progress(runs, ONE, kind, 1));
        run(&mut runs, &["begin", "end"]);
        assert!(runs.may_be_cancelled() && runs.failure().as_deref() == Some(MUTE));
        run(&mut runs, &["begin", "end"]);
        assert!(!runs.may_be_cancelled(), "twice");
        run(&mut runs, &["begin", "report", "end"]);
        assert!(runs.failure().is_none() && runs.has_checked("my_shop"));
        run(&mut runs, &["begin"]);
        assert!(!runs.has_checked("my_shop"));
        let place = json!({"uri": "file:///a.rs", "range": {"start": {"line": 1, "character": 0}}});
        let note = json!({"message": "n", "severity": 4,
            "relatedInformation": [{"location": place, "message": "original diagnostic"}]});
        let with_note = vec![found[0].clone(), SentDiagnostic(note)];
        runs.published("file:///a.rs", &Arc::new(with_note));
        run(&mut runs, &["end"]);
        assert_eq!((runs.failure(), runs.items("file:///a.rs").len()), (None, 1));
        run(&mut runs, &["begin"]);
        for items in [Arc::default(), Arc::clone(&found), Arc::default()] {
            runs.published("file:///a.rs", &items);
        }
        run(&mut runs, &["end"]);
        assert_eq!(runs.failure().as_deref(), Some(DROPPED));
        run(&mut runs, &["begin", "report", "end"]);
        assert_eq!(runs.failure(), None);
        runs.reported(Some("Failed to x\ncargo check failed to start: no such file\n"));
        assert_eq!(runs.failure().as_deref(), Some("cargo check failed to start: no such file"));
        runs.reported(None);
        assert_eq!(runs.failure(), None);
    }
}
