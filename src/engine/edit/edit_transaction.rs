//! A change of files in progress: work of its own, whose caller may leave and learn the result later.
//!
//! The checkpoint is opened, the editor asked, and the checkpoint closed with the result, all in one piece that no stop
//! breaks. Where the editor stalls, a stopped task ends without it. A change that the editor completes then is entered
//! in its journal before the next undo, approval or resume.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tracing::Instrument;

use crate::durable::{self, open_store, stored_review};
use crate::edit::apply_edits::{Place, apply};
use crate::edit::{recover, runnable_texts};
use crate::editor::editor_error::EditorError;
use crate::editor::event::Event;
use crate::editor::{Editor, Marks, Save};
use crate::events::stream::EventStream;
use crate::state::edit_service::EditService;
use crate::state::in_flight::{ChangeInFlight, Made, MadeResult, Making, PendingChange};
use crate::state::journal::{Checkpoint, CheckpointKind, Journal};
use crate::state::plan_service::PlanService;
use crate::state::review::workspace_review::ChangedBy;
use crate::state::task_store::TaskStore;
use crate::state::workspace::Workspace;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_store::workspace::open_beneath;

/// The time that a command waits for an editor whose changes it needs to know.
const PATIENCE: Duration = Duration::from_secs(5);

/// Held by the caller that waits for a change. Dropped before its end, the change is left.
struct ChangeWait<'a> {
    making: &'a Making,
    events: &'a EventStream,
    begun: ChangeInFlight,
    /// True if the end was seen.
    seen: bool,
}

impl Drop for ChangeWait<'_> {
    fn drop(&mut self) {
        if self.seen && self.begun.doubtful().is_none() {
            self.making.forget(&self.begun.ended);
            return;
        }
        self.begun.left.store(true, Ordering::SeqCst);
        if self.seen {
            return;
        }
        let text = "the editor is still busy with an edit; its result is reported later".to_owned();
        self.events.show(Event::Progress { text });
    }
}

impl ChangedBy {
    fn of(change: &PendingChange) -> Self {
        let is_redo = || change.takes_back.iter().any(|row| row.kind == CheckpointKind::Rollback);
        match change.restores_marks {
            true if change.takes_back.is_empty() => Self::Undo,
            true if is_redo() => Self::Redo,
            // What a task takes back itself was never shown to the user as decided.
            _ => Self::Task,
        }
    }
}

/// Makes a change. Dropping the future leaves it to be made; see [`catch_up`].
pub(crate) async fn make(edits: &EditService, change: PendingChange) -> MadeResult<Made> {
    let durable = open_store::durable(&edits.store).await;
    stored_review::load(&edits.store).await;
    let (sender, ended) = watch::channel(None);
    let left = Arc::new(AtomicBool::new(false));
    let begun = ChangeInFlight {
        task: change.task.clone(),
        request: change.request.clone(),
        takes_back: change.takes_back.iter().map(|checkpoint| checkpoint.id.clone()).collect(),
        left: Arc::clone(&left),
        ended,
        doubtful: Arc::default(),
    };
    let doubtful = Arc::clone(&begun.doubtful);
    edits.making.list().push(begun.clone());
    let mut ended = begun.ended.clone();
    let mut waiting = ChangeWait { making: &edits.making, events: &edits.hub.events, begun, seen: false };
    let (editor, events) = (Arc::clone(&edits.workspace.editor), Arc::clone(&edits.hub.events));
    let (root, save) = (edits.workspace.root.clone(), edits.workspace.config.save);
    let neighbours = edits.making.neighbours.get().cloned();
    let outside = Arc::clone(&edits.hub.looked.outside);
    let (review, approvals) = (Arc::clone(&edits.store.review), Arc::clone(&edits.approvals));
    let by = ChangedBy::of(&change);
    let making = async move {
        let at = Place {
            editor: editor.as_ref(),
            root: &root,
            durable: durable.as_deref(),
            neighbours: neighbours.as_ref(),
        };
        let made = carry_out(&at, &events, save, change, &doubtful).await;
        if let Ok(made) = &made {
            runnable_texts::note(&approvals, &root, &made.checkpoint.files);
            let written = made.checkpoint.files.iter().map(|file| file.path.as_str());
            lock(&outside).note(&root, written);
            review.edited(&made.checkpoint.files, by);
            stored_review::save(&review).await;
        }
        let words = match &made {
            Ok(made) => {
                let files: Vec<&str> = made.checkpoint.files.iter().map(|file| file.path.as_str()).collect();
                format!("the edit that was under way when you stopped was made: {}", files.join(", "))
            }
            Err(error) => format!("the edit that was under way when you stopped was not made: {error}"),
        };
        sender.send_replace(Some(made));
        if left.load(Ordering::SeqCst) {
            events.show(Event::Progress { text: words });
        }
    };
    tokio::spawn(making.in_current_span());
    let made = match ended.wait_for(Option::is_some).await {
        Ok(ended) => ended.clone().unwrap_or(Err(EditorError::Closed)),
        Err(_) => Err(EditorError::Closed),
    };
    waiting.seen = true;
    made
}

/// Waits for the changes that a stop has left, and enters their results into the journals.
///
/// # Errors
/// The editor has not answered within 5 s: the state of the files is not known then.
pub(crate) async fn catch_up(edits: &EditService, plans: &PlanService) -> std::result::Result<(), Failure> {
    let left = edits.making.left();
    for begun in &left {
        let mut ended = begun.ended.clone();
        if tokio::time::timeout(PATIENCE, ended.wait_for(Option::is_some)).await.is_err() {
            let message = format!("the editor is still busy with an edit of “{}”", begun.request);
            return Err(Failure::new(FailureKind::Editor, message, "try again when it has come to its end"));
        }
    }
    let mut known: Vec<(&ChangeInFlight, Option<Checkpoint>)> = Vec::new();
    for begun in &left {
        let made = match begun.doubtful() {
            None => begun.made(),
            Some(checkpoint) => match find(&edits.store, &edits.workspace, checkpoint).await? {
                Some(made) => Some(made),
                // It may come yet: the next call looks again.
                None => continue,
            },
        };
        known.push((begun, made));
    }
    for (begun, made) in &known {
        let Some(made) = made else { continue };
        let gone = edits.history.lock().await.iter().all(|journal| journal.task != begun.task);
        let whole = if begun.takes_back.is_empty() && gone { Some(journal(&edits.store, begun).await) } else { None };
        let mut history = edits.history.lock().await;
        history.extend(whole);
        history.iter_mut().for_each(|journal| begun.enter(made, journal));
    }
    let mut plan = plans.waiting.lock().await;
    for (begun, made) in &known {
        if let Some(made) = made {
            plan.iter_mut().for_each(|(_, task)| begun.enter(made, &mut task.work.journal));
        }
        edits.making.forget(&begun.ended);
    }
    Ok(())
}

/// The journal of a task that has ended here, as it is stored.
async fn journal(store: &TaskStore, begun: &ChangeInFlight) -> Journal {
    let new = Journal::new(begun.task.clone(), begun.request.clone());
    let Some(durable) = open_store::durable(store).await else { return new };
    let kept = durable::load_journal(store, &durable, &begun.task, &begun.request).await;
    open_store::or_tell(&store.events, &durable, kept).unwrap_or(new)
}

/// Finds an edit that the editor did not answer in time and made after all: no file is as it was before.
async fn find(
    store: &TaskStore,
    workspace: &Workspace,
    mut checkpoint: Checkpoint,
) -> std::result::Result<Option<Checkpoint>, Failure> {
    for file in &mut checkpoint.files {
        let now = recover::look_at(workspace, &file.path).await?.map(|document| document.text);
        if now.as_deref() == file.before.as_deref() {
            return Ok(None);
        }
        file.after = now;
        file.marks_after = workspace.editor.marks(&file.path).await;
    }
    if let Some(durable) = open_store::durable(store).await {
        durable.close_change(&store.events, &checkpoint, &[]).await;
    }
    Ok(Some(checkpoint))
}

/// True if each file has the format that the task has left: a user who has given a file other line ends since keeps
/// them.
async fn as_left(editor: &dyn Editor, checkpoint: &Checkpoint) -> Vec<bool> {
    let mut found = Vec::with_capacity(checkpoint.files.len());
    for file in &checkpoint.files {
        let unknown = file.marks_before == Marks::Null || file.before.is_none();
        found.push(unknown || editor.marks(&file.path).await == file.marks_before);
    }
    found
}

async fn carry_out(
    at: &Place<'_>,
    events: &EventStream,
    save: Save,
    change: PendingChange,
    doubtful: &Mutex<Option<Checkpoint>>,
) -> MadeResult<Made> {
    let Place { editor, durable, .. } = *at;
    let PendingChange { task, mut checkpoint, edits, takes_back, restores_marks, .. } = change;
    let reverses: Vec<i64> = takes_back.iter().filter_map(|taken| taken.record).collect();
    if let Some(durable) = durable {
        checkpoint.record = durable.open_change(events, &task, &checkpoint, &reverses).await;
    }
    let as_left = if restores_marks { as_left(editor, &checkpoint).await } else { Vec::new() };
    let mut applied = match apply(at, save, &edits).await {
        Ok(applied) => applied,
        Err(error) => {
            if let Some(durable) = durable {
                durable.drop_change(events, &checkpoint, &error).await;
            }
            // A change that takes others back records itself in which state it is found: nothing is guessed.
            if matches!(error, EditorError::Timeout(_)) && takes_back.is_empty() {
                *lock(doubtful) = Some(checkpoint);
            }
            return Err(error);
        }
    };
    for ((file, done), as_left) in checkpoint.files.iter().zip(&mut applied).zip(as_left) {
        if let (Some(text), Some(document), true) = (&file.after, &mut done.document, as_left)
            && editor.restore_format(&file.path, text, &file.marks_after).await
            && let Ok(now) = editor.read(&file.path).await
        {
            *document = now;
        }
    }
    if restores_marks {
        checkpoint.folders.iter().for_each(|folder| open_beneath::remove_empty(at.root.path(), folder));
    }
    for (file, done) in checkpoint.files.iter_mut().zip(&applied) {
        let now = done.document.as_ref().map(|document| &*document.text);
        if file.after.as_deref() != now {
            file.after = now.map(Into::into);
        }
        if !restores_marks {
            file.marks_after = editor.marks(&file.path).await;
        } else if done.document.is_some() {
            editor.restore_marks(&file.path, &file.marks_after, &file.marks_before).await;
        }
    }
    if let Some(durable) = durable {
        durable.close_change(events, &checkpoint, &reverses).await;
        durable.keep_gap(&task, &checkpoint, &reverses).await;
    }
    for file in &checkpoint.files {
        let own = if restores_marks { Vec::new() } else { checkpoint.symbols_in(&file.path) };
        let symbols = own.iter().map(ToString::to_string).collect();
        events.show(Event::Edited { path: file.path.clone(), symbols });
    }
    Ok(Made { checkpoint, applied })
}
