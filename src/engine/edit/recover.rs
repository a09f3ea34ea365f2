//! Recovers from the death of a process: finds its unfinished changes, and decides the outcome of each.

use std::time::Duration;

use crate::durable::change_record::{self, CheckpointRow};
use crate::durable::task_state::RunState;
use crate::durable::{open_store, phase_name};
use crate::edit::apply_edits::{Place, apply};
use crate::edit::questions::{self, UserQuestion};
use crate::edit::shown_change::written;
use crate::editor::editor_error::EditorError;
use crate::editor::event::{Event, QuestionKind};
use crate::editor::{Document, FileEdit, HalfDone};
use crate::events::stream::EventStream;
use crate::plan::work_mode::Phase;
use crate::plan::{Plan, StepState};
use crate::state::approvals::{Approvals, UserAnswer};
use crate::state::durable::Durable;
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, FileChange};
use crate::state::workspace::Workspace;
use sextant_base::clock::now_ms;
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_store::workspace::auto_executed;
use sextant_store::workspace::root::Root;
use sextant_text::edits::hunks::hunks;

/// The time that a first command may take to repair the traces of other processes.
const PATIENCE: Duration = Duration::from_secs(4);

/// The state in which one file of an unfinished change was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskSide {
    Before,
    After,
    /// The beginning of the text to be written, or no file at all: the write was cut off.
    Torn,
    /// Somebody else has changed it.
    Neither,
    /// Its path is not ours, or it cannot be read.
    Refused,
}

/// The outcome of an unfinished change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryVerdict {
    /// It had been made; only the record of it was missing.
    Finished,
    /// No part of it had been made.
    Dropped,
    /// A part of it had been made, and that part is taken back.
    Back,
}

/// All files after: finished. All before: dropped. Mixed or torn: back. A file that is neither is left alone and
/// decides nothing. But where no file is before, the change counts as made: an undo stays possible, and one that does
/// not fit is refused.
pub(crate) fn decide(sides: &[DiskSide]) -> RecoveryVerdict {
    if sides.contains(&DiskSide::Torn) {
        return RecoveryVerdict::Back;
    }
    match (sides.contains(&DiskSide::Before), sides.contains(&DiskSide::After)) {
        (true, true) => RecoveryVerdict::Back,
        (true, false) => RecoveryVerdict::Dropped,
        (false, _) => RecoveryVerdict::Finished,
    }
}

/// A text that is the same before and after counts as before: there is nothing to take back.
fn side(change: &FileChange, now: Option<&str>) -> DiskSide {
    if now == change.before.as_deref() {
        DiskSide::Before
    } else if now == change.after.as_deref() {
        DiskSide::After
    } else if change.after.as_deref().is_some_and(|after| now.is_none_or(|now| after.starts_with(now))) {
        DiskSide::Torn
    } else {
        DiskSide::Neither
    }
}

/// The findings at the first command of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenChange {
    /// The actions on unfinished changes, in the user's words.
    pub notes: Vec<String>,
    /// The interrupted task, where it is the last one that was worked on.
    pub interrupted: Option<RunState>,
}

/// Repairs the traces of a dead process, once, and shows the user a task that it left.
pub(crate) async fn recover(edits: &EditService) {
    if let Some(found) = recovered(edits, true).await {
        if let Some(run) = found.interrupted {
            let steps = run.plan.map(|plan| plan.steps).unwrap_or_default();
            let done = steps.iter().filter(|step| step.state == StepState::Done).count();
            edits.store.note_offered(&run.id);
            let (request, of) = (run.request, steps.len());
            edits.hub.events.show(Event::Interrupted { request, done, of, notes: found.notes });
        } else {
            show_notes(&edits.hub.events, found.notes);
        }
    }
}

/// Does the same where the user is about to decide about the interrupted task: nothing is asked.
pub(crate) async fn recover_quietly(edits: &EditService) {
    if let Some(found) = recovered(edits, false).await {
        show_notes(&edits.hub.events, found.notes);
    }
}

fn show_notes(events: &EventStream, notes: Vec<String>) {
    notes.into_iter().for_each(|text| events.show(Event::Progress { text }));
}

/// The findings; `Some` the first time only.
async fn recovered(edits: &EditService, asks: bool) -> Option<OpenChange> {
    let mut first = None;
    let found = &mut first;
    edits.store.recovered.get_or_init(move || async move { *found = Some(look_back(edits, asks).await) }).await;
    first
}

async fn look_back(edits: &EditService, asks: bool) -> OpenChange {
    let mut found = OpenChange::default();
    // The first task of a workspace makes the record, and has nothing to look back to.
    if !open_store::has_record(&edits.store) {
        return found;
    }
    let Some(durable) = open_store::durable(&edits.store).await else { return found };
    let open = durable.run(|memory| memory.open_checkpoints()).await;
    let end = Deadline::after(PATIENCE);
    for (id, owner) in open_store::or_tell(&edits.hub.events, &durable, open).unwrap_or_default() {
        if end.passed() {
            found.notes.push("unfinished changes are left for the next command: looking at them takes long".to_owned());
            break;
        }
        if !durable.owner().is_alive(&owner) {
            found.notes.extend(put_right_of(edits, &durable, id, owner, asks).await);
        }
    }
    found.interrupted = interrupted(&edits.hub.events, &durable).await;
    found
}

/// Repairs a change that a dead process has left open, and shows the user the result.
pub(crate) async fn take_over(edits: &EditService, durable: &Durable, id: i64, owner: String) {
    show_notes(&edits.hub.events, put_right_of(edits, durable, id, owner, false).await);
}

async fn put_right_of(edits: &EditService, durable: &Durable, id: i64, owner: String, asks: bool) -> Vec<String> {
    let me = durable.owner().name().to_owned();
    let taken = durable
        .run(move |memory| {
            let taken = memory.take_checkpoint(id, &owner, &me)?;
            taken.then(|| memory.checkpoint(id, now_ms())).transpose()
        })
        .await;
    match open_store::or_tell(&edits.hub.events, durable, taken) {
        Some(Some(kept)) => {
            let (checkpoint, row) = change_record::read(kept);
            put_right(edits, durable, checkpoint, &row, asks).await
        }
        _ => Vec::new(),
    }
}

/// The last task, where its process died over it.
async fn interrupted(events: &EventStream, durable: &Durable) -> Option<RunState> {
    let name = durable.session();
    let tasks = durable.run(move |memory| memory.tasks(&name)).await;
    let last = open_store::or_tell(events, durable, tasks)?.into_iter().next()?;
    let dead = last.owner.as_deref().is_none_or(|owner| !durable.owner().is_alive(owner));
    let run = dead.then(|| RunState::read(last.state).ok()).flatten()?;
    // Neovim was closed while it ran, or the user has stopped it: there is more to do as well.
    let open = |plan: &Plan| plan.steps.iter().any(|step| step.state == StepState::Open);
    let begun = |plan: &Plan| plan.steps.iter().any(|step| step.state != StepState::Open);
    let waits = run.progress.question.is_some() || run.plan.as_ref().is_some_and(open);
    let paused = last.phase == phase_name(Phase::Paused) && run.plan.is_some() && waits;
    // Its steps were run one at a time, or some of them were undone.
    let paused = paused
        || last.phase == phase_name(Phase::Planning) && run.plan.as_ref().is_some_and(|plan| open(plan) && begun(plan));
    (paused || last.phase == phase_name(Phase::Executing)).then_some(run)
}

async fn put_right(
    edit_service: &EditService,
    durable: &Durable,
    mut checkpoint: Checkpoint,
    row: &CheckpointRow,
    asks: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    let paths: Vec<String> = checkpoint.files.iter().map(|file| file.path.clone()).collect();
    let half = |file: &FileChange| HalfDone {
        path: file.path.clone(),
        before: file.before.as_deref().map(str::to_owned),
        after: file.after.as_deref().map(str::to_owned),
    };
    // Leftovers of a refused path are not even searched for; the check below gives the reason.
    let ours = checkpoint.files.iter().filter(|file| edit_service.workspace.root.confirm(&file.path).is_ok());
    edit_service.workspace.editor.tidy(&ours.map(half).collect::<Vec<_>>()).await;
    let found = sides_of(&edit_service.workspace, &checkpoint.files, &mut notes).await;
    for (change, _) in checkpoint.files.iter().zip(&found).filter(|(_, (side, _))| *side == DiskSide::Neither) {
        notes.push(format!("{} is not as the interrupted edit had it and was left alone", change.path));
    }
    let sides: Vec<DiskSide> = found.iter().map(|(side, _)| *side).collect();
    let verdict = decide(&sides);
    if verdict == RecoveryVerdict::Back {
        let mut edits = Vec::new();
        let ours = |side: DiskSide| matches!(side, DiskSide::After | DiskSide::Torn);
        for (change, (_, now)) in checkpoint.files.iter().zip(found).filter(|(_, (side, _))| ours(*side)) {
            if !may_put_back(&edit_service.workspace.root, &edit_service.approvals, change, now.as_ref(), asks).await {
                // Still open, with our name on it: the next process asks again.
                let name = clean(&change.path);
                notes.push(format!("an edit of {name} had not come to its end and is left: something runs that file"));
                return notes;
            }
            edits.extend(edit_to(&change.path, now.as_ref(), change.before.as_deref()));
        }
        let names: Vec<String> = edits.iter().map(|edit| edit.path().to_owned()).collect();
        let place = Place::of(&edit_service.workspace, &edit_service.making, Some(durable));
        match apply(&place, edit_service.workspace.config.save, &edits).await {
            Ok(_) => notes.push(format!("an edit had not come to its end and was taken back: {}", names.join(", "))),
            Err(error) => {
                // Still open, with our name on it: the next process tries again.
                notes.push(format!("an edit that had not come to its end could not be taken back: {error}"));
                return notes;
            }
        }
    }
    if verdict == RecoveryVerdict::Finished {
        for (change, _) in checkpoint.files.iter_mut().zip(&sides).filter(|(_, side)| **side != DiskSide::Refused) {
            change.marks_after = edit_service.workspace.editor.marks(&change.path).await;
        }
        durable.close_change(&edit_service.hub.events, &checkpoint, &row.reverses).await;
    } else if let Some(id) = checkpoint.record {
        let dropped = durable.run(move |memory| memory.drop_checkpoints(vec![id])).await;
        open_store::or_tell(&edit_service.hub.events, durable, dropped);
    }
    tracing::info!(?verdict, ?sides, files = ?paths, "an unfinished change was put right");
    notes
}

/// True if a file may get the text that the record has for it: the record is no word of the user's.
async fn may_put_back(
    root: &Root,
    approvals: &Approvals,
    change: &FileChange,
    now: Option<&Document>,
    asks: bool,
) -> bool {
    let now = now.map(|document| &*document.text).unwrap_or_default();
    let then = change.before.as_deref().unwrap_or_default();
    let Some(runs) = auto_executed::runs(root, &change.path, [now, then]) else { return true };
    if approvals.allowed_file(&change.path) {
        return true;
    }
    if !asks || !approvals.can_ask() {
        return false;
    }
    let text = format!("Take back an edit of {} that was cut off? {runs}.", clean(&change.path));
    let options = ["put the text before it back", "leave it"].map(str::to_owned);
    let shows = written(now, then);
    let asking = UserQuestion { kind: QuestionKind::File, text: &text, options: &options, shows: Some(&shows) };
    matches!(questions::ask_user(approvals, asking).await, Ok(UserAnswer::Option(1)))
}

/// The side of the change that each file is on, and its text.
async fn sides_of(
    workspace: &Workspace,
    files: &[FileChange],
    notes: &mut Vec<String>,
) -> Vec<(DiskSide, Option<Document>)> {
    let mut found = Vec::new();
    for change in files {
        match look_at(workspace, &change.path).await {
            Ok(now) => found.push((side(change, now.as_ref().map(|document| &*document.text)), now)),
            Err(failure) => {
                // Its state cannot be determined: it is not touched.
                notes.push(failure.one_line());
                found.push((DiskSide::Refused, None));
            }
        }
    }
    found
}

/// A file that a record names, as it is; `None` where it does not exist.
pub(crate) async fn look_at(workspace: &Workspace, path: &str) -> Result<Option<Document>, Failure> {
    recorded(&workspace.root, path)?;
    match workspace.editor.read(path).await {
        Ok(document) => Ok(Some(document)),
        Err(EditorError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a path that a record names and that is not, or is no longer, a file of the workspace.
pub(crate) fn recorded(root: &Root, path: &str) -> Result<(), Failure> {
    root.confirm(path).map_err(|error| {
        let failure = Failure::from(error);
        Failure::new(
            failure.kind,
            format!("{path:?}, which the record names, is refused: {}", failure.message),
            failure.hint,
        )
    })
}

/// The edit that leads from a file as it is to a text; `None` where the text is there already.
pub(crate) fn edit_to(path: &str, now: Option<&Document>, then: Option<&str>) -> Option<FileEdit> {
    let path = path.to_owned();
    match (now, then) {
        (None, None) => None,
        (None, Some(text)) => Some(FileEdit::Create { path, text: text.to_owned() }),
        (Some(document), None) => Some(FileEdit::Delete { path, version: document.version }),
        (Some(document), Some(text)) => {
            let hunks = hunks(&document.text, text);
            (!hunks.is_empty()).then_some(FileEdit::Change { path, version: document.version, hunks })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Marks;

    #[test]
    fn an_unfinished_change_is_finished_dropped_or_taken_back() {
        use DiskSide::{After, Before, Neither, Torn};
        let cases: &[(&[DiskSide], RecoveryVerdict)] = &[
            (&[After, After], RecoveryVerdict::Finished),
            (&[Before, Before], RecoveryVerdict::Dropped),
            (&[Before, After], RecoveryVerdict::Back),
            (&[After, Neither, Before], RecoveryVerdict::Back),
            (&[Before, Neither], RecoveryVerdict::Dropped),
            (&[After, Neither], RecoveryVerdict::Finished),
            (&[Neither], RecoveryVerdict::Finished),
            (&[Torn], RecoveryVerdict::Back),
            (&[After, Torn, Neither], RecoveryVerdict::Back),
        ];
        for (sides, verdict) in cases {
            assert_eq!(decide(sides), *verdict, "{sides:?}");
        }
    }

    #[test]
    fn a_file_is_known_by_its_text() {
        let text = |text: &str| Some(text.into());
        let change = |before, after| FileChange {
            path: "a".into(),
            before,
            after,
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        };
        let edited = change(text("1"), text("2"));
        assert_eq!([side(&edited, Some("1")), side(&edited, Some("2"))], [DiskSide::Before, DiskSide::After]);
        assert_eq!(side(&edited, Some("3")), DiskSide::Neither);
        assert_eq!([side(&edited, Some("")), side(&edited, None)], [DiskSide::Torn, DiskSide::Torn]);
        assert_eq!(side(&change(text("a"), text("a\nb\n")), Some("a\n")), DiskSide::Torn);
        assert_eq!(side(&change(text("a"), None), Some("b")), DiskSide::Neither);
        let made = change(None, text("2"));
        assert_eq!([side(&made, None), side(&made, Some("2"))], [DiskSide::Before, DiskSide::After]);
        assert_eq!(side(&change(text("1"), text("1")), Some("1")), DiskSide::Before);
    }
}
