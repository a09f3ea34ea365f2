//! The stored form of a task's own baseline: the diagnostics, and the texts that they are about.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::durable::open_store;
use crate::events::stream::EventStream;
use crate::state::durable::{Durable, Keep};
use crate::state::snapshots::Snapshot;
use crate::state::task::TaskWork;
use crate::state::unlooked::Unlooked;
use sextant_base::clock::now_ms;
use sextant_diagnostics::model::Diagnostic;
use sextant_store::memory::checkpoints::{CheckpointFile, FileState, NewCheckpoint};
use sextant_store::memory::memory_error::Result;
use sextant_store::workspace::root::Root;

/// The name in the memory file.
const BASELINE: &str = "baseline";

/// One file and provider. Providers may have reported on different texts of a file, so a text has a name of its own.
#[derive(Serialize, Deserialize)]
struct StoredLine {
    file: String,
    provider: String,
    text: Option<String>,
    diagnostics: Vec<Diagnostic>,
    /// First known after the task's first edit.
    #[serde(default)]
    late: bool,
}

/// Stores the additions to the baseline since it was last stored.
pub(crate) async fn keep_baseline(events: &EventStream, durable: &Durable, work: &TaskWork, keep: &mut Keep) {
    // A task that has changed nothing compares nothing: the texts that it has only read stay out of the record.
    if work.journal.is_empty() {
        return;
    }
    let new: Vec<_> = work.reports.start.iter().filter(|(key, _)| !keep.baseline.contains(key)).collect();
    if new.is_empty() {
        return;
    }
    let mut files: Vec<CheckpointFile> = Vec::new();
    let mut lines = Vec::new();
    for (key @ (file, provider), snap) in &new {
        let late = work.reports.elsewhere.late.contains(*key);
        let name = snap.text.as_ref().map(|text| {
            let before = FileState::Bytes(text.as_bytes().to_vec());
            match files.iter().find(|kept| kept.before == before) {
                Some(kept) => kept.path.clone(),
                None => {
                    let path = format!("{} {file}", files.len());
                    files.push(CheckpointFile { path: path.clone(), before, after: None });
                    path
                }
            }
        });
        let (file, provider) = (file.clone(), provider.clone());
        lines.push(StoredLine { file, provider, text: name, diagnostics: snap.diagnostics.clone(), late });
    }
    let keys: Vec<_> = new.into_iter().map(|(key, _)| key.clone()).collect();
    let checkpoint = NewCheckpoint {
        session: durable.session(),
        task: work.journal.task.clone(),
        step: 0,
        reason: BASELINE.to_owned(),
        state: serde_json::to_value(lines).unwrap_or_default(),
        files,
        once: None,
        created: now_ms(),
    };
    let kept = durable.run(move |memory| memory.add_checkpoint(checkpoint)).await;
    if open_store::or_tell(events, durable, kept).is_some() {
        keep.baseline.extend(keys);
    }
}

/// Restores the stored baseline. Unreadable entries are left out.
pub(crate) async fn load_baseline(root: &Root, durable: &Durable, work: &mut TaskWork, keep: &mut Keep) -> Result<()> {
    let (owner, name) = (durable.session(), work.journal.task.clone());
    let kept = durable
        .run(move |memory| {
            let all = memory.checkpoints(&owner, Some(&name))?;
            let wanted = all.iter().filter(|info| info.reason == BASELINE);
            wanted.map(|info| memory.checkpoint(info.id, now_ms())).collect::<Result<Vec<_>>>()
        })
        .await?;
    // The reach of the other process's looks is not stored.
    work.reports.elsewhere.unlooked = Unlooked::anything();
    for checkpoint in kept {
        let lines: Vec<StoredLine> = serde_json::from_value(checkpoint.state).unwrap_or_default();
        for line in lines.into_iter().filter(|line| root.confirm(&line.file).is_ok()) {
            let text = match &line.text {
                None => None,
                Some(name) => match checkpoint.files.iter().find(|file| file.path == *name).map(|file| &file.before) {
                    Some(FileState::Bytes(bytes)) => Some(Arc::from(String::from_utf8_lossy(bytes))),
                    _ => continue,
                },
            };
            let key = (line.file, line.provider);
            keep.baseline.insert(key.clone());
            if line.late {
                work.reports.elsewhere.late.insert(key.clone());
            }
            work.reports.start.entry(key).or_insert_with(|| Arc::new(Snapshot { text, diagnostics: line.diagnostics }));
        }
    }
    Ok(())
}
