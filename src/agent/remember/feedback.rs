//! What the user's undo says of what was done: of a whole task, of one step, of one symbol; with the reason where given.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use crate::agent::remember::learn;
use crate::agent::remember::notes::{Approach, short};
use crate::agent::remember::{Remember, mode_of, now_ms};
use crate::agent::session::Session;
use crate::memory::entry::{EntryId, Kind, Mode, NewEntry};
use crate::memory::error::Result;
use crate::memory::store::Memory;
use crate::memory::trace::{Event, TraceRecord};

/// Records of one task that a later word of the user is about.
const RECORDS: usize = 1000;
/// Under this subject the trace has what was said of a task, and which of its entries are whose.
const SAID: &str = "feedback";
const ENTRIES: &str = "entries";
/// What an undo leaves of an entry's relevance; bringing it back gives as much again.
const SINKS: f64 = 0.25;
/// What an entry gains that a task had before it when it succeeded.
const RISES: f64 = 1.1;

/// What an undo was about.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) task: String,
    pub(crate) request: String,
    /// In the words of the undo: empty for the whole task.
    pub(crate) target: String,
    /// In a sentence, in front of the request: `step 2 of `.
    pub(crate) part: String,
    /// Whose edits were taken back; `None` for all of them.
    pub(crate) checkpoints: Option<Vec<String>>,
    /// The step that was taken back as a whole.
    pub(crate) step: Option<usize>,
    pub(crate) reason: String,
}

/// What a task has left in memory, and what was said of it since.
struct Left {
    /// Kind of task, approach, checkpoint.
    approaches: Vec<(String, String, String)>,
    /// Which of them count as bad by the user's word.
    undone: BTreeSet<usize>,
    /// What the last undo of each target has turned, newest last.
    turned: Vec<(String, Vec<usize>)>,
    /// Entries that tell of its success, with their steps.
    entries: Vec<(EntryId, usize)>,
}

fn left(records: Vec<TraceRecord>) -> Left {
    let mut left = Left { approaches: Vec::new(), undone: BTreeSet::new(), turned: Vec::new(), entries: Vec::new() };
    for record in records {
        let numbers =
            |key: &str| -> Vec<usize> { serde_json::from_value(record.detail[key].clone()).unwrap_or_default() };
        match (record.event, record.subject.as_str()) {
            (Event::Decision, _) => {
                let checkpoint = record.detail["checkpoint"].as_str().unwrap_or_default().to_owned();
                left.approaches.push((record.reason, record.subject, checkpoint));
            }
            (Event::Note, SAID) => {
                let (turned, target) = (numbers("turned"), record.detail["target"].as_str().unwrap_or_default());
                if record.detail["undone"] == json!(true) {
                    left.undone.extend(&turned);
                    left.turned.push((target.to_owned(), turned));
                } else {
                    left.undone.retain(|index| !turned.contains(index));
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

impl Left {
    /// Which approaches a word is about: of an undo those that stand, of its taking back those that it turned.
    fn turns(&self, about: &About, undone: bool) -> Vec<usize> {
        if !undone {
            let last = self.turned.iter().rev().find(|(target, _)| *target == about.target);
            let turned = last.map(|(_, turned)| turned.as_slice()).unwrap_or_default();
            return turned.iter().copied().filter(|index| self.undone.contains(index)).collect();
        }
        let own = |checkpoint: &String| match &about.checkpoints {
            None => true,
            Some(taken) => !checkpoint.is_empty() && taken.contains(checkpoint),
        };
        let stands = |index: &usize| !self.undone.contains(index);
        (0..self.approaches.len()).filter(stands).filter(|index| own(&self.approaches[*index].2)).collect()
    }

    /// The entries that sink with what is undone. A symbol has none of its own.
    fn sinking(&self, about: &About) -> Vec<EntryId> {
        let own = |step: usize| about.checkpoints.is_none() || about.step.is_some_and(|own| own == step);
        self.entries.iter().filter(|(_, step)| own(*step)).map(|(id, _)| *id).collect()
    }
}

fn hear(memory: &Memory, remember: &Remember, mode: Mode, about: &About, undone: bool) -> Result<()> {
    let left = left(memory.trace(&remember.session, Some(&about.task), RECORDS)?);
    let turned = left.turns(about, undone);
    for index in &turned {
        let (kind, approach, checkpoint) = left.approaches[*index].clone();
        let note = match (undone, about.reason.is_empty()) {
            (true, true) => "undone by the user".to_owned(),
            (true, false) => format!("undone by the user: {}", about.reason),
            (false, _) => String::new(),
        };
        let approach = Approach { kind, approach, success: !undone, note, checkpoint };
        let experience = learn::experience(&approach, remember.project);
        if undone { memory.unlearn(experience)? } else { memory.learn(experience)? }
    }
    memory.weigh(left.sinking(about), if undone { SINKS } else { 1.0 / SINKS })?;
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
        subject: SAID.to_owned(),
        reason: about.reason.clone(),
        detail: json!({"target": about.target, "undone": undone, "turned": turned}),
        timestamp: now,
    }])
}

/// The record of which entries tell of a step's success.
pub(super) fn entries(session: &str, task: &str, step: usize, ids: &[EntryId]) -> TraceRecord {
    TraceRecord {
        session: session.to_owned(),
        task: task.to_owned(),
        step: u32::try_from(step).unwrap_or(u32::MAX),
        event: Event::Note,
        subject: ENTRIES.to_owned(),
        reason: String::new(),
        detail: json!({"ids": ids}),
        timestamp: now_ms(),
    }
}

/// What was recalled for a task that then succeeded was of use.
pub(super) fn was_of_use(memory: &Memory, recalled: Vec<EntryId>) -> Result<()> {
    memory.weigh(recalled, RISES)
}

impl Session {
    /// The user took something back, or brought it back again: what was done there counts as bad, or as good.
    pub(crate) async fn feedback(&self, about: About, undone: bool) {
        let (Some(remember), Some(durable)) = (self.remember().await, self.durable().await) else { return };
        let Some((run, _)) = self.kept(&durable, &about.task).await else { return };
        let about = About { reason: short(&about.reason, 160), ..about };
        let (known, mode) = (Arc::clone(&remember), mode_of(run.mode));
        let kept = remember.run(move |memory| hear(memory, &known, mode, &about, undone)).await;
        if let Err(error) = kept {
            tracing::warn!(%error, "what the user took back could not be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(event: Event, subject: &str, step: u32, detail: serde_json::Value) -> TraceRecord {
        let (session, task, reason) = ("main".to_owned(), "t".to_owned(), "fix X".to_owned());
        TraceRecord { session, task, step, event, subject: subject.to_owned(), reason, detail, timestamp: 1 }
    }

    fn about(target: &str, checkpoints: Option<&[&str]>) -> About {
        let checkpoints = checkpoints.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
        About { target: target.to_owned(), checkpoints, ..About::default() }
    }

    #[test]
    fn a_word_turns_what_it_is_about_and_nothing_twice() {
        let done = |name: &str, checkpoint: &str| record(Event::Decision, name, 0, json!({"checkpoint": checkpoint}));
        let mut records = vec![done("one", "c1"), done("two", "c2"), done("whole plan", "")];
        let part = about("2", Some(&["c2"]));
        assert_eq!(left(records.clone()).turns(&part, true), [1], "a step alone");
        records.push(record(Event::Note, SAID, 0, json!({"target": "2", "undone": true, "turned": [1]})));
        assert!(left(records.clone()).turns(&part, true).is_empty(), "it is undone already");
        assert_eq!(left(records.clone()).turns(&about("", None), true), [0, 2], "the rest of the task");
        records.push(record(Event::Note, SAID, 0, json!({"target": "", "undone": true, "turned": [0, 2]})));
        let back = left(records.clone()).turns(&about("", None), false);
        assert_eq!(back, [0, 2], "what the undo of the task had turned, and the step stays undone");
        records.push(record(Event::Note, SAID, 0, json!({"target": "", "undone": false, "turned": [0, 2]})));
        assert_eq!(left(records).turns(&part, false), [1]);
    }

    #[test]
    fn a_step_s_entries_sink_with_it_and_all_of_them_with_the_task() {
        let left = left(vec![
            record(Event::Note, ENTRIES, 1, json!({"ids": [4]})),
            record(Event::Note, ENTRIES, 2, json!({"ids": [5, 6]})),
        ]);
        let step = About { step: Some(2), ..about("2", Some(&["c2"])) };
        assert_eq!(left.sinking(&step), [EntryId(5), EntryId(6)]);
        assert_eq!(left.sinking(&about("", None)).len(), 3);
        assert_eq!(left.sinking(&about("a.py::f", Some(&["c2"]))), []);
    }
}
