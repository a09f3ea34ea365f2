//! Stores the review of a workspace in its record, so that it survives a restart.

use std::io::{BufWriter, ErrorKind, Write};

use crate::durable::open_store;
use crate::editor::event::Event;
use crate::state::review::file_review::FileReview;
use crate::state::review::review_store::ReviewStore;
use crate::state::review::workspace_review::{RejectedText, ReviewNote, WorkspaceReview};
use crate::state::task_store::TaskStore;
use sextant_base::private_files;
use sextant_store::memory::forget::Forget;
use sextant_store::workspace::record_folder::Record;

/// Its file in the record's folder.
const FILE: &str = "review.json";
/// Most bytes of it that are read.
const LARGEST: u64 = 64 << 20;

/// The name of one that could not be read. Only the last is kept.
const SET_ASIDE: &str = "review-damaged.json";

/// Reads the stored review, at the first call. An event reports one that cannot be read; its file is set aside.
pub(crate) async fn load(store: &TaskStore) {
    let review = &store.review;
    let read = || async {
        let record = store.record.clone().filter(|_| store.config.memory.enabled)?;
        if !open_store::has_record(store) {
            return Some(record);
        }
        let from = record.clone();
        let stored = tokio::task::spawn_blocking(move || stored(&from).map_err(|why| set_aside(&from, &why)));
        match stored.await {
            Ok(Ok(Some(known))) => review.change(|now| *now = known),
            Ok(Err(text)) => store.events.show(Event::Progress { text }),
            Ok(Ok(None)) | Err(_) => {}
        }
        Some(record)
    };
    review.record.get_or_init(read).await;
}

/// The error is the reason why our own file cannot be read. A folder or a file that is not ours is left as it is.
fn stored(record: &Record) -> Result<Option<WorkspaceReview>, String> {
    let opened = record.look().and_then(|()| private_files::open(&record.folder().join(FILE), false));
    let Ok(file) = opened else { return Ok(None) };
    if file.metadata().map_err(|error| error.to_string())?.len() > LARGEST {
        return Err(format!("it is larger than {} MB", LARGEST >> 20));
    }
    let text = std::io::read_to_string(file).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map(Some).map_err(|error| error.to_string())
}

/// Keeps a review that cannot be read from being overwritten. Returns the words for the user.
fn set_aside(record: &Record, why: &str) -> String {
    let (from, to) = (record.folder().join(FILE), record.folder().join(SET_ASIDE));
    let kept = match std::fs::rename(&from, &to) {
        Ok(()) => format!("it is now {}", to.display()),
        Err(error) => format!("it could not be set aside: {error}"),
    };
    tracing::warn!(why, "the stored review cannot be read");
    format!("the changes that waited for your review cannot be read ({why}); {kept}. A new review was begun")
}

/// Drops what a forgetting takes: all of it, or what holds the text. Files of tasks that the user keeps stay.
pub(crate) async fn forget(store: &TaskStore, filter: &Forget) {
    load(store).await;
    let text = filter.text.as_ref().map(|text| text.to_lowercase());
    if !filter.everything && text.is_none() {
        return;
    }
    let holds =
        |parts: &[&str]| text.as_ref().is_none_or(|text| parts.iter().any(|part| part.to_lowercase().contains(text)));
    let noted = |note: &ReviewNote| {
        let reported = note.reported.iter().map(String::as_str);
        let parts: Vec<&str> = [&*note.place, &*note.code, &*note.reason].into_iter().chain(reported).collect();
        holds(&parts)
    };
    let kept = |one: &RejectedText| !holds(&[&one.path, &one.with, &one.without]) && !one.notes.iter().any(&noted);
    let holds_file = |path: &str, file: &FileReview| holds(&[path, &file.baseline, &file.agent]);
    store.review.change(|review| {
        review.notes.retain(|note| !noted(note));
        review.accepted.retain(|files| !files.iter().any(|file| holds_file(&file.path, file.before())));
        review.rejected.retain(kept);
        review.undone.retain(kept);
        review.redoable.clear();
        if filter.keep.is_empty() {
            review.files.retain(|path, file| !holds_file(path, file));
        }
    });
    save(&store.review).await;
}

/// Stores the review as it is now; nothing waits for a record that does not exist.
pub(crate) async fn save(review: &ReviewStore) {
    let Some(Some(record)) = review.record.get().cloned() else { return };
    let now = review.now().kept();
    let written = tokio::task::spawn_blocking(move || {
        match record.look() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            ours => ours?,
        }
        private_files::replace_by(&record.folder().join(FILE), |file| {
            let mut file = BufWriter::new(file);
            serde_json::to_writer(&mut file, &now)?;
            file.flush()
        })
    });
    match written.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the review was not stored"),
        Err(error) => tracing::warn!(%error, "the review was not stored"),
    }
}
