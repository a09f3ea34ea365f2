//! Confirms differences in unchanged files: only those count that the same providers, after a restart, find again.
//!
//! The diagnostics of a file can depend on the order in which a checker's threads reach the others. For example,
//! pyright reports an import cycle at one of its files or at another. Such a difference comes and goes between two runs
//! over one text.

use std::collections::BTreeSet;

use crate::cli::diff::collect_side::{DiffSide, comparable};
use crate::cli::diff::compare::{ComparedDiagnostic, ComparedState, entries};
use crate::cli::diff::diff_progress::DiffProgress;
use crate::cli::diff::git::ChangedFile;
use crate::cli::settings::Providers;
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;

/// Further runs of a provider whose two answers differed; a provider with equal answers gets one.
const ROUNDS: usize = 3;

/// The differences that remain after asking again.
pub(super) struct Confirmed {
    pub entries: Vec<ComparedDiagnostic>,
    /// The number of differences that were not found again, and are dropped.
    pub unconfirmed: usize,
    /// The reason why a reported difference was not confirmed.
    pub gap: Option<String>,
}

/// Asks again about every difference in a file that is the same on both sides.
///
/// # Errors
/// As [`DiffSide::ask`].
pub(super) async fn confirm(
    found: Vec<ComparedDiagnostic>,
    files: &[ChangedFile],
    before: &DiffSide,
    after: &DiffSide,
    configured: &Providers,
    deadline: Deadline,
    progress: DiffProgress,
) -> Result<Confirmed, Failure> {
    let mut out = Confirmed { entries: found, unconfirmed: 0, gap: None };
    let is_suspect = |entry: &ComparedDiagnostic| {
        entry.state != ComparedState::Unchanged && is_same_text(entry.file(), before, after)
    };
    for round in 0..ROUNDS {
        let suspects = out.entries.iter().filter(|entry| is_suspect(entry));
        let sources: BTreeSet<String> = suspects.map(source).collect();
        if sources.is_empty() {
            break;
        }
        if deadline.passed() {
            out.gap = Some("differences in files that did not change: the time was up before asking again".to_owned());
            break;
        }
        progress.say(&format!("asking again, for files differ that did not change ({})", round + 1));
        let providers = configured.only(&sources);
        let (was, is) = futures::future::try_join(
            before.ask(&providers, deadline, progress),
            after.ask(&providers, deadline, progress),
        )
        .await?;
        let both = comparable(files, (&before.name, was), (&after.name, is));
        let silent: BTreeSet<(&str, &str)> = both
            .silent
            .iter()
            .filter(|silent| !silent.guess)
            .flat_map(|silent| silent.files.iter().map(|file| (silent.provider.as_str(), file.as_str())))
            .collect();
        let again = entries(files, before, after, &both).iter().map(key).collect();
        let count = out.entries.len();
        let unheard = keep_what_stands(&mut out.entries, again, is_suspect, &silent);
        let dropped = count - out.entries.len();
        out.unconfirmed += dropped;
        if unheard > 0 {
            out.gap = Some(format!(
                "{} in files that did not change: nobody answered when asked again",
                counted(unheard, "difference")
            ));
            break;
        }
        // A provider with two equal answers is believed.
        if dropped == 0 {
            break;
        }
    }
    Ok(out)
}

/// Drops the suspects that were not found again. Returns the number of kept ones that no provider could report on.
fn keep_what_stands(
    entries: &mut Vec<ComparedDiagnostic>,
    mut again: Vec<EntryKey>,
    is_suspect: impl Fn(&ComparedDiagnostic) -> bool,
    silent: &BTreeSet<(&str, &str)>,
) -> usize {
    let mut unheard = 0;
    entries.retain(|entry| {
        if !is_suspect(entry) {
            return true;
        }
        if silent.contains(&(source(entry).as_str(), entry.file())) {
            unheard += 1;
            return true;
        }
        let wanted = key(entry);
        let place = again.iter().position(|known| *known == wanted);
        place.map(|place| again.swap_remove(place)).is_some()
    });
    unheard
}

fn is_same_text(file: &str, before: &DiffSide, after: &DiffSide) -> bool {
    before.texts.get(file).is_some_and(|text| after.texts.get(file) == Some(text))
}

fn source(entry: &ComparedDiagnostic) -> String {
    entry.found.diagnostic.source.clone()
}

/// The identity of an entry over several runs. Places count: the texts are the same.
type EntryKey = (ComparedState, String, String, u32, u32, Option<String>, String);

fn key(entry: &ComparedDiagnostic) -> EntryKey {
    let found = &entry.found;
    let diagnostic = &found.diagnostic;
    (
        entry.state,
        diagnostic.source.clone(),
        entry.file().to_owned(),
        found.line,
        found.column,
        diagnostic.code.clone(),
        diagnostic.message.clone(),
    )
}
