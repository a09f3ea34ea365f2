//! A reply of a model that could not be used: its text goes into the trace of the task, and the message names the trace.

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::events::task_events::TaskEvents;
use crate::state::task_trace::TraceLog;
use sextant_base::secrets::{hide_likely, mask};
use sextant_base::token_estimate::head_and_tail;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::step::REPLY_IN_TRACE;

/// The subject of an entry that holds a reply below its first line.
pub(crate) const ABOUT: &str = "a reply";

/// Tokens of a reply that are kept.
const KEPT: usize = 1000;

/// Adds a reply to the trace, without secrets.
pub(crate) fn keep(events: &TaskEvents, call: u32, model: &str, problem: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let masked = mask(text);
    let reply = head_and_tail(hide_likely(&masked).trim(), KEPT);
    events.trace(call, Trace::new(Effect::Refused, ABOUT, model, format!("{problem}\n{reply}")));
}

/// Counts an unusable reply for the user, after `before` errors in a row. The last one ends the task, whose end names it.
pub(crate) fn count(events: &EventStream, before: u32, most: u32) {
    let now = before + 1;
    if now < most {
        events.show(Event::Progress { text: format!("error {now} of {most} in a row: no usable reply") });
    }
}

/// The problem for the user, with the place of the reply if the trace of the last task holds it.
pub(crate) fn with_place(trace: &TraceLog, problem: &str) -> String {
    let holds = trace.entries().iter().any(|entry| {
        let first = entry.trace.reason.lines().next().unwrap_or_default();
        entry.trace.about == ABOUT && first == problem
    });
    if holds { format!("{problem}; {REPLY_IN_TRACE}") } else { problem.to_owned() }
}
