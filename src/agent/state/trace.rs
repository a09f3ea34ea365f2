//! The record of one task: which diagnostics led to which step, and what was set aside and why.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Serialize;

use crate::base::lock::lock;
use crate::base::message::clean;
use crate::base::plural::counted;
use crate::diagnostics::policy::Trace;

/// Entries of one task that the process holds; memory keeps all of them.
const MOST: usize = 400;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceEntry {
    /// The step that was being worked out: that of the plan, counted from 1 and 0 while it is made, or that of a
    /// task without a plan.
    pub step: u32,
    /// The call inside of a plan's step, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    #[serde(flatten)]
    pub trace: Trace,
}

/// Where a plan stands that the task carries out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// There is none: its steps are those of the task.
    #[default]
    Simple,
    Planning,
    Step(u32),
}

#[derive(Debug, Default)]
struct Record {
    /// Whose it is; empty for what no task was made for.
    task: String,
    request: String,
    stage: Stage,
    entries: Vec<TraceEntry>,
    /// What memory has not yet.
    unkept: Vec<TraceEntry>,
    /// What is recorded already: a step that sees the same as the one before says nothing new.
    known: HashSet<Trace>,
    left_out: usize,
}

impl Record {
    fn push(&mut self, entry: TraceEntry) {
        if !self.known.insert(entry.trace.clone()) {
            return;
        }
        if !self.task.is_empty() {
            self.unkept.push(entry.clone());
        }
        if self.entries.len() >= MOST {
            self.left_out += 1;
        } else {
            self.entries.push(entry);
        }
    }
}

/// A task's record, shared with whoever shows it while the task runs.
#[derive(Clone, Debug, Default)]
pub struct SharedTrace(Arc<Mutex<Record>>);

impl SharedTrace {
    /// Of what is no task of its own.
    pub fn new(request: &str) -> Self {
        Self::of("", request)
    }

    pub fn of(task: &str, request: &str) -> Self {
        let (task, request) = (task.to_owned(), request.to_owned());
        Self(Arc::new(Mutex::new(Record { task, request, ..Record::default() })))
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.0)
    }

    /// A plan is made, or made anew.
    pub(crate) fn planning(&self) {
        self.record().stage = Stage::Planning;
    }

    /// A step of the plan begins, counted from 1.
    pub(crate) fn enter(&self, step: usize) {
        self.record().stage = Stage::Step(u32::try_from(step).unwrap_or(u32::MAX));
    }

    /// Records an entry of the loop, at its call of this number, unless the task has recorded the same before.
    pub fn push(&self, call: u32, trace: Trace) {
        let mut record = self.record();
        let (step, call) = match record.stage {
            Stage::Simple => (call, None),
            Stage::Planning => (0, None),
            Stage::Step(step) => (step, Some(call)),
        };
        record.push(TraceEntry { step, call, trace });
    }

    /// Records an entry about a step of the plan as a whole.
    pub(crate) fn push_step(&self, step: u32, trace: Trace) {
        self.record().push(TraceEntry { step, call: None, trace });
    }

    pub fn entries(&self) -> Vec<TraceEntry> {
        self.record().entries.clone()
    }

    /// The task, its request, and the entries that memory has not yet; they count as kept from here on.
    pub(crate) fn take_unkept(&self) -> (String, String, Vec<TraceEntry>) {
        let mut record = self.record();
        (record.task.clone(), record.request.clone(), std::mem::take(&mut record.unkept))
    }

    /// What the process holds, for a reader.
    pub fn markdown(&self) -> String {
        let record = self.record();
        let mut text = markdown(&record.request, &record.entries);
        if record.left_out > 0 {
            text.push_str(&format!("\n\nNot kept: {}.", counted(record.left_out, "more entry")));
        }
        text
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
        lines.push(format!("- **{}** {} — {} ({rule})", effect.name(), clean(about), clean(reason)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::policy::Effect;

    #[test]
    fn the_same_is_recorded_once_and_only_so_much() {
        let trace = SharedTrace::new("fix\nthis");
        let entry = |about: &str| Trace::new(Effect::Kept, about, "view", "seen");
        trace.push(1, entry("a"));
        trace.push(2, entry("a"));
        trace.push(2, entry("b\u{1b}"));
        assert_eq!(trace.entries().iter().map(|entry| entry.step).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            trace.markdown(),
            "# Trace: fix this\n\n## Step 1\n- **kept** a — seen (view)\n\n## Step 2\n- **kept** b — seen (view)"
        );
        let plan = SharedTrace::of("t", "plan it");
        plan.planning();
        plan.push(1, entry("facts"));
        plan.push_step(1, entry("one"));
        plan.enter(2);
        plan.push(3, entry("call"));
        let text = plan.markdown();
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(headings, ["## Planning", "## Step 1", "## Step 2, call 3"]);
        assert_eq!((plan.take_unkept().2.len(), plan.take_unkept().2.len(), trace.take_unkept().2.len()), (3, 0, 0));
        (0..MOST).for_each(|n| trace.push(3, entry(&n.to_string())));
        assert_eq!(trace.entries().len(), MOST);
        assert!(trace.markdown().ends_with("Not kept: 2 more entries."));
    }
}
