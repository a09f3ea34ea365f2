//! A request about reports anywhere in the workspace: selects the files to look at, and reports the rest as open.
//!
//! No server has reported on files that nobody has opened. They are looked at from the disk, the last changed first, a
//! few files at a time and up to a limit; the user sees how far it went. Files that were opened for it are closed
//! again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use crate::diagnostics::{collect_diagnostics, reached, reported};
use crate::editor::Document;
use crate::state::agent_config::Config;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::look_reach::{self, LookReach};
use crate::state::stop;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::target;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::code_aliases::looks_at_one_file;
use sextant_diagnostics::syntax;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};
use sextant_text::symbols::language;

/// Files that are looked at for one request.
const MOST: usize = 200;
/// Files of one question: enough to keep a server busy, few enough to be open at a time.
const BATCH: usize = 20;
/// Bytes of the largest file that is opened for this; a larger one was hardly written by hand.
const LARGE: u64 = 1 << 20;

/// The files on disk with one of these endings or in a language of code, the last changed first. Few projects have a
/// server for their data and documents. Blocks.
fn candidates(root: &Root, endings: &BTreeSet<String>) -> Vec<String> {
    let is_code = |path: &String| language::of_path(path).is_some_and(|language| !language.is_document);
    let known = |path: &String| is_code(path) || endings.contains(look_reach::ending(path));
    let changed = |path: &String| {
        let data = std::fs::metadata(root.join(path)).ok().filter(|data| data.len() <= LARGE)?;
        Some((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), path.clone()))
    };
    let mut found: Vec<(SystemTime, String)> = workspace_files::list(root, "", MOST_FILES)
        .files
        .iter()
        .filter(|path| known(path))
        .filter_map(changed)
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Looks at the open files and then at the closed ones, until the deadline. Their reports are in the ledger then.
pub(crate) async fn look_over(hub: &DiagnosticsHub, deadline: Deadline) -> LookReach {
    let open: BTreeSet<String> = hub.workspace.editor.loaded().await.into_iter().collect();
    let endings: BTreeSet<String> =
        open.iter().map(|path| look_reach::ending(path).to_owned()).filter(|e| !e.is_empty()).collect();
    let root = hub.workspace.root.clone();
    let found = tokio::task::spawn_blocking(move || candidates(&root, &endings)).await.unwrap_or_default();
    let (first, rest): (Vec<String>, Vec<String>) = found.into_iter().partition(|path| open.contains(path));
    // An open file that is not on disk yet belongs to it as well.
    let mut all: Vec<String> = open.iter().filter(|path| !first.contains(path)).cloned().collect();
    all.splice(0..0, first);
    all.extend(rest);
    let mut looked_at = BTreeSet::new();
    for batch in all[..all.len().min(MOST)].chunks(BATCH) {
        if deadline.passed() {
            break;
        }
        looked_at.extend(look_at(hub, batch, &open, deadline).await);
    }
    let unlooked = all.iter().filter(|path| !looked_at.contains(*path)).cloned().collect();
    LookReach { looked_at: looked_at.len(), of: all.len(), unlooked }
}

/// Looks at a few files, and closes those without a report again. Returns the files that a provider reported on.
async fn look_at(hub: &DiagnosticsHub, batch: &[String], open: &BTreeSet<String>, deadline: Deadline) -> Vec<String> {
    let opened: Vec<String> = batch.iter().filter(|path| !open.contains(*path)).cloned().collect();
    hub.looked.visited.lock().await.extend(opened.iter().cloned());
    let mut documents: Vec<Document> = Vec::new();
    for path in batch {
        documents.extend(target::document(&hub.workspace, path).await.ok());
    }
    let reports = collect_diagnostics::look(hub, &documents, &[], deadline).await;
    // A text that parses may still be wrong in its meaning.
    let heard = |path: &String| {
        reports
            .iter()
            .any(|report| report.file == *path && report.freshness.is_fresh() && report.provider != syntax::NAME)
    };
    let looked_at = batch.iter().filter(|path| heard(path)).cloned().collect();
    let floor = hub.workspace.config.diagnostics.severity_floor;
    let reported = |path: &String| {
        let mut of_it = reports.iter().filter(|report| report.file == *path).flat_map(|report| &report.diagnostics);
        of_it.any(|diagnostic| diagnostic.severity <= floor)
    };
    leave(hub, opened.into_iter().filter(|path| !reported(path)).collect()).await;
    looked_at
}

/// Closes files that were opened for a look. Their reports are of no use where nobody watches them any more.
pub(crate) async fn leave(hub: &DiagnosticsHub, paths: Vec<String>) {
    if paths.is_empty() {
        return;
    }
    hub.workspace.editor.close(&paths).await;
    let still = hub.workspace.editor.loaded().await;
    let mut ledger = hub.ledger.lock().await;
    let mut visited = hub.looked.visited.lock().await;
    for path in paths {
        visited.remove(&path);
        if !still.contains(&path) {
            ledger.forget(&path);
        }
    }
}

/// Closes the files that a look over the workspace still holds open: the work on it is over.
pub(crate) async fn leave_all(hub: &DiagnosticsHub) {
    let open: Vec<String> = hub.looked.visited.lock().await.iter().cloned().collect();
    // A stopped task waits for no editor: the next task closes the files that are still open.
    stop::soon(&hub.cancelled(), leave(hub, open)).await;
    reached::leave_all(hub).await;
}

/// True if a task is about reports anywhere in the workspace.
pub(crate) fn is_wide(config: &Config, needs_providers: bool, work: &TaskWork) -> bool {
    matches!(work.scope, Scope::Workspace) && reported::works_on_reports(config, needs_providers, &work.request)
}

/// Drops the reports of single-file checkers about texts that are gone, for files that they are not asked about now.
/// Their reports on an edited file are compared with those on its text just before.
pub(crate) async fn drop_stale(hub: &DiagnosticsHub, asked: &[Document]) {
    let of_one = |provider: &str| looks_at_one_file(provider);
    let known = collect_diagnostics::known(hub).await.into_keys().filter(|(_, provider)| of_one(provider));
    let mut files: BTreeSet<String> = known.map(|(file, _)| file).collect();
    files.retain(|file| !asked.iter().any(|document| document.path == *file));
    let open = hub.workspace.editor.loaded().await;
    for file in files {
        let text = if open.contains(&file) || hub.looked.visited.lock().await.contains(&file) {
            hub.workspace.editor.read(&file).await.ok().map(|document| document.text)
        } else {
            on_disk(&hub.workspace.root, &file).map(Arc::from)
        };
        hub.ledger.lock().await.drop_stale(&file, text.as_deref(), of_one);
    }
}

fn on_disk(root: &Root, file: &str) -> Option<String> {
    let inside = root.resolve(file).ok()?;
    let text = workspace_files::text(root, &inside)?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_how_far_it_went() {
        let of_these = |looked_at, of, unlooked: &[&str]| {
            LookReach { looked_at, of, unlooked: unlooked.iter().map(|path| (*path).to_owned()).collect() }.words()
        };
        let words = |looked_at, of| of_these(looked_at, of, &[]);
        assert_eq!(of_these(7, 8, &["big.py"]), "looked at 7 of the 8 files of the workspace, not at big.py");
        let four = of_these(4, 8, &["a.py", "b.py", "c.py", "d.py"]);
        assert_eq!(four, "looked at 4 of the 8 files of the workspace, those changed last first");
        assert_eq!(words(1, 1), "looked at the one file of the workspace");
        assert_eq!(words(7, 7), "looked at all 7 files of the workspace");
        assert_eq!(words(200, 512), "looked at 200 of the 512 files of the workspace, those changed last first");
    }
}
