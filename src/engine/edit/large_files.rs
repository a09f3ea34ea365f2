//! The large open files that an edit does not reach: a server would check each again for seconds.

use crate::diagnostics::edit_reach::EditReach;
use crate::editor::Document;
use crate::state::edit_request::EditRequest;
use crate::state::snapshots::SnapshotStore;
use sextant_diagnostics::code_aliases::reads_whole_package;
use sextant_text::symbols::language;

/// Bytes from which on a text is large. tsserver took 3 s for 630,000 bytes, after each change of any file.
const LARGE: usize = 100_000;

/// Takes out of the open files those that are large, known as they are, and use nothing that the edits change. Returns
/// their names, none where that cannot be known.
pub(crate) fn take_out(
    open: &mut Vec<Document>,
    wanted: &[EditRequest],
    reach: &EditReach,
    ledger: &SnapshotStore,
) -> Vec<String> {
    let has_offers = |path: &str| language::of_path(path).is_some_and(|language| language.has_offers());
    let is_read = |want: &EditRequest| {
        want.document().is_some_and(|document| document.exists) && want.after().is_some() && has_offers(want.path())
    };
    if reach.more || !reach.unread.is_empty() || !wanted.iter().all(is_read) {
        return Vec::new();
    }
    let is_spared = |document: &Document| {
        let Document { path, text, .. } = document;
        text.len() >= LARGE
            && has_offers(path)
            && !reach.files.contains(path)
            && ledger.is_current(path, text)
            && !ledger.of(path).any(|(provider, _)| reads_whole_package(provider))
    };
    let (spared, left): (Vec<Document>, Vec<Document>) = std::mem::take(open).into_iter().partition(is_spared);
    *open = left;
    spared.into_iter().map(|document| document.path).collect()
}

/// The words of an answer for these files.
pub(crate) fn words(spared: &[String]) -> Option<String> {
    let files = spared.join(", ");
    (!spared.is_empty())
        .then(|| format!("not asked about again, since they are large and use nothing that changed: {files}"))
}
