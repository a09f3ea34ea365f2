//! Records the user's undo as feedback on a whole task, one step or one symbol; with the reason where given.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::durable::{open_store, resumable};
use crate::memory::keep::SUMMARY;
use crate::memory::relevance::ENTRIES;
use crate::memory::{self, learn, mode_of};
use crate::state::memory_handle::Remember;
use crate::state::notes::{Approach, short};
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_store::memory::decision_record::{Event, TraceRecord};
use sextant_store::memory::entry::{EntryId, Kind, Mode, NewEntry};
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::metrics::Outcome;
use sextant_store::memory::store::Memory;

/// Most records of one task that a later word of the user is about.
const RECORDS: usize = 1000;
/// Subject of the trace records that hold the feedback on a task, and the owner of each entry.
const SUBJECT: &str = "feedback";
/// Opening of the remark on an approach that the user took back.
const UNDONE: &str = "undone by the user";
/// Share of an entry's relevance that an undo leaves, too little to be recalled; bringing it back restores the rest.
const SINKS: f64 = 0.25;

/// The subject of an undo.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndoSubject {
    pub(crate) task: String,
    pub(crate) request: String,
    /// The name of the undo; the redo that brings it back has the same name.
    pub(crate) undo: String,
    /// In a sentence, in front of the request: `step 2 of `.
    pub(crate) part: String,
    /// Checkpoints of the edits that were taken back; `None` for all of them.
    pub(crate) checkpoints: Option<Vec<String>>,
    /// The step that was taken back as a whole.
    pub(crate) step: Option<usize>,
    /// Nothing of the task stands any more: it was no success.
    pub(crate) over: bool,
    pub(crate) reason: String,
}

/// The changes that one undo made in memory; bringing it back reverses the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct UndoChanges {
    undo: String,
    undone: bool,
    /// Approaches that it made bad, by their place among those of the task.
    turned: Vec<usize>,
    /// Entries that lost relevance.
    sank: Vec<EntryId>,
    /// The earlier outcome of the task, where it counts as a failure since.
    run: Option<Outcome>,
}

/// The entries that a task has left in memory, and the feedback on them since.
#[derive(Debug, Default)]
struct LeftEntries {
    /// Kind of task, approach, checkpoint.
    approaches: Vec<(String, String, String)>,
    /// The undos that stand.
    undos: Vec<UndoChanges>,
    /// Entries that record its success, with their steps.
    entries: Vec<(EntryId, usize)>,
}

fn left(records: Vec<TraceRecord>) -> LeftEntries {
    let mut left = LeftEntries::default();
    for record in records {
        match (record.event, record.subject.as_str()) {
            (Event::Decision, _) => {
                let checkpoint = record.detail["checkpoint"].as_str().unwrap_or_default().to_owned();
                left.approaches.push((record.reason, record.subject, checkpoint));
            }
            (Event::Note, SUBJECT) => {
                let changes: UndoChanges = serde_json::from_value(record.detail).unwrap_or_default();
                left.undos.retain(|known| known.undo != changes.undo);
                if changes.undone {
                    left.undos.push(changes);
                }
            }
            (Event::Note, ENTRIES) => {
                let step = usize::try_from(record.step).unwrap_or(0);
                let ids: Vec<i64> = serde_json::from_value(record.detail["ids"].clone()).unwrap_or_default();
                left.entries.extend(ids.into_iter().map(|id| (EntryId(id), step)));
            }
            _ => {}
        }
    }
    left
}

impl LeftEntries {
    /// The changes that an undo makes: all about its subject that no earlier undo has changed.
    fn turns(&self, about: &UndoSubject) -> UndoChanges {
        let own = |checkpoint: &String| match &about.checkpoints {
            None => true,
            Some(taken) => !checkpoint.is_empty() && taken.contains(checkpoint),
        };
        let stands = |index: &usize| self.undos.iter().all(|undo| !undo.turned.contains(index));
        let not_sunk = |id: &EntryId| self.undos.iter().all(|undo| !undo.sank.contains(id));
        // A symbol has no entries of its own.
        let of = |step: usize| about.checkpoints.is_none() || about.step.is_some_and(|own| own == step);
        UndoChanges {
            undo: about.undo.clone(),
            undone: true,
            turned: (0..self.approaches.len()).filter(stands).filter(|index| own(&self.approaches[*index].2)).collect(),
            sank: self.entries.iter().filter(|(_, step)| of(*step)).map(|(id, _)| *id).filter(not_sunk).collect(),
            run: None,
        }
    }
}

fn hear(memory: &Memory, remember: &Remember, mode: Mode, about: &UndoSubject, undone: bool) -> Result<()> {
    let left = left(memory.trace(&remember.session, Some(&about.task), RECORDS)?);
    let mut changes = if undone {
        left.turns(about)
    } else {
        let known = left.undos.iter().find(|known| known.undo == about.undo).cloned().unwrap_or_default();
        UndoChanges { undo: about.undo.clone(), undone: false, ..known }
    };
    for index in changes.turned.iter().filter(|index| **index < left.approaches.len()) {
        let (kind, approach, checkpoint) = left.approaches[*index].clone();
        let note = match (undone, about.reason.is_empty()) {
            (true, true) => UNDONE.to_owned(),
            (true, false) => format!("{UNDONE}: {}", about.reason),
            (false, _) => String::new(),
        };
        let approach = Approach { kind, approach, success: !undone, note, checkpoint };
        let experience = learn::experience(&approach, remember.project);
        if undone { memory.unlearn(experience)? } else { memory.relearn(experience, UNDONE)? }
    }
    memory.weigh(changes.sank.clone(), if undone { SINKS } else { 1.0 / SINKS })?;
    if undone && about.over {
        let former = memory.set_outcome(&remember.session, &about.task, Outcome::Failure)?;
        changes.run = former.filter(|former| *former == Outcome::Success);
    } else if let (false, Some(former)) = (undone, changes.run) {
        memory.set_outcome(&remember.session, &about.task, former)?;
    }
    if memory.summary(&remember.session)?.is_some() {
        memory.summarise_chat(&remember.session, SUMMARY, now_ms())?;
    }
    let what = if undone { "undid" } else { "brought back" };
    let why = if about.reason.is_empty() { String::new() } else { format!(": {}", about.reason) };
    let content = format!("The user {what} {}“{}”{why}.", about.part, short(&about.request, 100));
    let now = now_ms();
    memory.append(NewEntry::new(remember.session.clone(), mode, Kind::UserFeedback, content, now))?;
    memory.add_trace(vec![TraceRecord {
        session: remember.session.clone(),
        task: about.task.clone(),
        step: 0,
        event: Event::Note,
        subject: SUBJECT.to_owned(),
        reason: about.reason.clone(),
        detail: serde_json::to_value(&changes)?,
        timestamp: now,
    }])
}

/// The user took something back, or brought it back again: that work counts as bad, or as good.
pub(crate) async fn feedback(store: &TaskStore, about: UndoSubject, undone: bool) {
    let (Some(remember), Some(durable)) = (memory::remember(store).await, open_store::durable(store).await) else {
        return;
    };
    let Some((run, _)) = resumable::kept(&store.events, &durable, &about.task).await else { return };
    let about = UndoSubject { reason: short(&about.reason, 160), ..about };
    let (known, mode) = (Arc::clone(&remember), mode_of(run.mode));
    remember.written().await;
    let kept = remember.run(move |memory| hear(memory, &known, mode, &about, undone)).await;
    if let Err(error) = kept {
        tracing::warn!(%error, "what the user took back could not be kept");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(event: Event, subject: &str, step: u32, detail: serde_json::Value) -> TraceRecord {
        let (session, task, reason) = ("main".to_owned(), "t".to_owned(), "fix X".to_owned());
        TraceRecord { session, task, step, event, subject: subject.to_owned(), reason, detail, timestamp: 1 }
    }

    fn about(undo: &str, checkpoints: Option<&[&str]>) -> UndoSubject {
        let checkpoints = checkpoints.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
        UndoSubject { undo: undo.to_owned(), checkpoints, ..UndoSubject::default() }
    }

    fn note_of(changes: &UndoChanges) -> TraceRecord {
        record(Event::Note, SUBJECT, 0, serde_json::to_value(changes).unwrap())
    }

    #[test]
    fn a_word_turns_what_it_is_about_and_nothing_twice() {
        let done = |name: &str, checkpoint: &str| record(Event::Decision, name, 0, json!({"checkpoint": checkpoint}));
        let mut records = vec![done("one", "c1"), done("two", "c2"), done("whole plan", "")];
        let part = left(records.clone()).turns(&about("c7", Some(&["c2"])));
        assert_eq!(part.turned, [1], "a step alone");
        records.push(note_of(&part));
        assert!(left(records.clone()).turns(&about("c8", Some(&["c2"]))).turned.is_empty(), "it is undone already");
        let rest = left(records.clone()).turns(&about("c8", None));
        assert_eq!(rest.turned, [0, 2], "the rest of the task");
        records.push(note_of(&rest));
        records.push(note_of(&UndoChanges { undone: false, ..rest.clone() }));
        assert_eq!(left(records.clone()).turns(&about("c9", None)).turned, [0, 2], "the step stays undone");
        records.push(note_of(&UndoChanges { undone: false, ..part }));
        assert_eq!(left(records).turns(&about("c9", None)).turned, [0, 1, 2]);
    }

    #[test]
    fn a_step_s_entries_sink_with_it_once_and_all_of_them_with_the_task() {
        let mut records = vec![
            record(Event::Note, ENTRIES, 1, json!({"ids": [4]})),
            record(Event::Note, ENTRIES, 2, json!({"ids": [5, 6]})),
        ];
        let step = left(records.clone()).turns(&UndoSubject { step: Some(2), ..about("c7", Some(&["c2"])) });
        assert_eq!(step.sank, [EntryId(5), EntryId(6)]);
        assert_eq!(left(records.clone()).turns(&about("c8", Some(&["c2"]))).sank, [], "a symbol has none");
        records.push(note_of(&step));
        assert_eq!(left(records).turns(&about("c8", None)).sank, [EntryId(4)]);
    }
}
