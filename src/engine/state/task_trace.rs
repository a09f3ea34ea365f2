//! The traces of the last tasks, collected by an observer: the diagnostics behind each step, and the ones set aside.

use std::sync::{Mutex, MutexGuard};

use crate::events::envelope::{EventEnvelope, TaskEvent, TraceEntry};
use crate::events::stream::Observer;
use crate::state::unusable_reply;
use sextant_base::lock::lock;
use sextant_base::one_line::clean;
use sextant_diagnostics::policy::Trace;

/// Entries of one task that the process holds; memory stores all of them.
const MOST: usize = 400;
/// Tasks whose entries the process holds.
const TASKS: usize = 16;

#[derive(Debug, Default)]
struct TraceLine {
    /// The task of the entries; empty for work without a task.
    task: String,
    request: String,
    entries: Vec<TraceEntry>,
    /// Entries that memory does not hold yet.
    unkept: Vec<TraceEntry>,
}

impl TraceLine {
    fn push(&mut self, entry: TraceEntry) {
        if !self.task.is_empty() {
            self.unkept.push(entry.clone());
        }
        if self.entries.len() < MOST {
            self.entries.push(entry);
        }
    }
}

/// The traces of the last tasks; that of the running or last one is last.
#[derive(Debug, Default)]
pub(crate) struct TraceLog(Mutex<Vec<TraceLine>>);

impl Observer for TraceLog {
    fn notice(&self, envelope: &EventEnvelope) {
        let task = envelope.task.as_deref().unwrap_or_default();
        let mut records = lock(&self.0);
        match &envelope.event {
            TaskEvent::TakenUp { request, again, .. } => {
                let known = records.iter().position(|record| *again && record.task == task);
                let (task, request) = (task.to_owned(), request.clone());
                let record = known.map(|at| records.remove(at));
                records.push(record.unwrap_or_else(|| TraceLine { task, request, ..TraceLine::default() }));
                let old = records.len().saturating_sub(TASKS);
                records.drain(..old);
            }
            // The running or last work stays the last one.
            TaskEvent::OutsideBegan { request, .. } => {
                let record = TraceLine { task: task.to_owned(), request: request.clone(), ..TraceLine::default() };
                let before_last = records.len().saturating_sub(1);
                records.insert(before_last, record);
                let old = records.len().saturating_sub(TASKS);
                records.drain(..old);
            }
            TaskEvent::Traced { entry } => {
                let record = records.iter_mut().rev().find(|record| record.task == task);
                record.into_iter().for_each(|record| record.push(entry.clone()));
            }
            _ => {}
        }
    }
}

impl TraceLog {
    fn records(&self) -> MutexGuard<'_, Vec<TraceLine>> {
        lock(&self.0)
    }

    pub(crate) fn entries(&self) -> Vec<TraceEntry> {
        self.records().last().map(|record| record.entries.clone()).unwrap_or_default()
    }

    /// The entries of a task.
    pub(crate) fn of(&self, task: &str) -> Vec<TraceEntry> {
        let records = self.records();
        let known = records.iter().rev().find(|record| record.task == task);
        known.map(|record| record.entries.clone()).unwrap_or_default()
    }

    /// The last task and its request.
    pub(crate) fn last(&self) -> (String, String) {
        self.records().last().map(|record| (record.task.clone(), record.request.clone())).unwrap_or_default()
    }

    /// Tasks, their requests, and the entries that memory does not hold yet; they count as stored from here on.
    pub(crate) fn take_unkept(&self) -> Vec<(String, String, Vec<TraceEntry>)> {
        let mut records = self.records();
        let unkept = records.iter_mut().filter(|record| !record.unkept.is_empty());
        unkept.map(|record| (record.task.clone(), record.request.clone(), std::mem::take(&mut record.unkept))).collect()
    }

    pub(crate) fn forget(&self) {
        self.records().clear();
    }

    /// The entries of the last task, for a reader.
    pub(crate) fn page(&self) -> String {
        markdown(&self.last().1, &self.entries())
    }
}

/// The heading of an entry.
pub(crate) fn heading(step: u32, call: Option<u32>) -> String {
    match (step, call) {
        (0, _) => "Planning".to_owned(),
        (step, None) => format!("Step {step}"),
        (step, Some(call)) => format!("Step {step}, call {call}"),
    }
}

/// A heading for each step and call, a line for each entry.
pub(crate) fn markdown(request: &str, entries: &[TraceEntry]) -> String {
    let title = if request.is_empty() { "nothing was done yet" } else { request };
    let mut lines = vec![format!("# Trace: {}", clean(title))];
    let mut place = None;
    for entry in entries {
        if place != Some((entry.step, entry.call)) {
            place = Some((entry.step, entry.call));
            lines.extend([String::new(), format!("## {}", heading(entry.step, entry.call))]);
        }
        let Trace { effect, about, rule, reason } = &entry.trace;
        let (first, reply) = reply_in(about, reason);
        lines.push(format!("- **{}** {} — {} ({rule})", effect.name(), clean(about), clean(first)));
        if !reply.is_empty() {
            lines.push(String::new());
            lines.extend(reply.lines().map(|line| format!("    {}", line.replace(char::is_control, " "))));
        }
    }
    lines.join("\n")
}

/// The reason of an entry, and the reply of a model below it.
fn reply_in<'a>(about: &str, reason: &'a str) -> (&'a str, &'a str) {
    match reason.split_once('\n') {
        Some(parts) if about == unusable_reply::ABOUT => parts,
        _ => (reason, ""),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::events::stream::EventStream;
    use crate::events::task_events::TaskEvents;
    use crate::plan::work_mode::Mode;
    use sextant_diagnostics::policy::Effect;

    fn unkept(log: &TraceLog) -> usize {
        log.take_unkept().iter().map(|(_, _, entries)| entries.len()).sum()
    }

    #[test]
    fn the_same_is_recorded_once_and_only_so_much() {
        let (stream, log) = (Arc::new(EventStream::default()), Arc::new(TraceLog::default()));
        stream.observe(Arc::<TraceLog>::clone(&log));
        let entry = |about: &str| Trace::new(Effect::Kept, about, "view", "seen");
        let mut task = TaskEvents::new("s", Mode::Simple);
        task.take_up(&stream, "fix\nthis", Mode::Simple);
        task.trace(1, entry("a"));
        task.trace(2, entry("a"));
        task.trace(2, entry("b\u{1b}"));
        assert!(task.has_reported(&entry("a")) && !task.has_reported(&entry("c")));
        assert_eq!(log.entries().iter().map(|entry| entry.step).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            log.page(),
            "# Trace: fix this\n\n## Step 1\n- **kept** a — seen (view)\n\n## Step 2\n- **kept** b — seen (view)"
        );
        let mut plan = TaskEvents::new("t", Mode::Planner);
        plan.take_up(&stream, "plan it", Mode::Planner);
        plan.trace(1, entry("facts"));
        plan.trace_step(1, entry("one"));
        plan.step_began(2);
        plan.trace(3, entry("call"));
        let text = log.page();
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(headings, ["## Planning", "## Step 1", "## Step 2, call 3"]);
        assert_eq!((unkept(&log), unkept(&log)), (5, 0), "of both tasks");
        task.take_up(&stream, "fix\nthis", Mode::Simple);
        assert_eq!((log.entries().len(), log.of("t").len()), (2, 3), "gone on with, it has what it had");
        (0..MOST).for_each(|n| task.trace(3, entry(&n.to_string())));
        assert_eq!((log.entries().len(), unkept(&log)), (MOST, MOST), "memory gets all");
        let entry = TraceEntry { step: 1, call: None, trace: entry("x") };
        stream.emit(None, TaskEvent::TakenUp { request: "show".into(), mode: Mode::Simple, again: false });
        stream.emit(None, TaskEvent::Traced { entry });
        assert_eq!((log.entries().len(), unkept(&log)), (1, 0), "what is no task is not for memory");
        (0..TASKS).for_each(|n| TaskEvents::new(&n.to_string(), Mode::Simple).take_up(&stream, "", Mode::Simple));
        assert_eq!((log.of("s").len(), log.records().len()), (0, TASKS));
    }
}
