//! The record of one task: which diagnostics led to which step, and what was set aside and why.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::agent::tools::answer::clean;
use crate::diagnostics::policy::Trace;

/// Entries of one task. Whoever reads more than that looks for something else.
const MOST: usize = 400;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The step that was being worked out; counted from 1.
    pub step: u32,
    #[serde(flatten)]
    pub trace: Trace,
}

#[derive(Debug, Default)]
struct Record {
    request: String,
    entries: Vec<Entry>,
    /// What is recorded already: a step that sees the same as the one before says nothing new.
    known: HashSet<Trace>,
    left_out: usize,
}

/// A task's record, shared with whoever shows it while the task runs.
#[derive(Clone, Debug, Default)]
pub struct SharedTrace(Arc<Mutex<Record>>);

impl SharedTrace {
    pub fn new(request: &str) -> Self {
        Self(Arc::new(Mutex::new(Record { request: request.to_owned(), ..Record::default() })))
    }

    /// Records an entry, unless the task has recorded the same before.
    pub fn push(&self, step: u32, trace: Trace) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if record.entries.len() >= MOST {
            record.left_out += 1;
        } else if record.known.insert(trace.clone()) {
            record.entries.push(Entry { step, trace });
        }
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.clone()
    }

    /// A heading for each step, a line for each entry.
    pub fn markdown(&self) -> String {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let title = if record.request.is_empty() { "nothing was done yet" } else { &record.request };
        let mut lines = vec![format!("# Trace: {}", clean(title))];
        let mut step = None;
        for entry in &record.entries {
            if step != Some(entry.step) {
                step = Some(entry.step);
                lines.extend([String::new(), format!("## Step {}", entry.step)]);
            }
            let Trace { effect, about, rule, reason } = &entry.trace;
            lines.push(format!("- **{}** {} — {} ({rule})", effect.name(), clean(about), clean(reason)));
        }
        if record.left_out > 0 {
            lines.extend([String::new(), format!("{} more entries are not kept.", record.left_out)]);
        }
        lines.join("\n")
    }
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
        (0..MOST).for_each(|n| trace.push(3, entry(&n.to_string())));
        assert_eq!(trace.entries().len(), MOST);
        assert!(trace.markdown().ends_with("2 more entries are not kept."));
    }
}
