//! Answers requests about the work itself: why the last decision was taken, how things went so far, stop.

use crate::commands::intents::intent::Direct;
use crate::commands::intents::intent_answer::DirectAnswer;
use crate::commands::intents::phrase::Phrase;
use crate::durable::stored_traces;
use crate::memory;
use crate::state::request::Request;
use crate::state::task_store::TaskStore;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::plural::counted;
use sextant_diagnostics::policy::Effect;

const WHY: &[&str] = &[
    "why",
    "why that",
    "why did you do that",
    "why did you do it",
    "why did you do this",
    "why did you change that",
    "why did you change it",
    "explain your decision",
    "explain your last decision",
    "explain why you did that",
    "por que",
    "por que eso",
    "por que hiciste eso",
    "por que lo hiciste",
    "por que has hecho eso",
    "por que cambiaste eso",
    "explica tu decision",
    "explica tu ultima decision",
    "explica por que hiciste eso",
];

const STOP: &[&str] = &[
    "stop",
    "stop it",
    "stop that",
    "cancel",
    "cancel that",
    "abort",
    "halt",
    "para",
    "parar",
    "detente",
    "alto",
    "cancela",
    "cancela eso",
];

const STATS: &[&str] = &[
    "stats",
    "statistics",
    "show stats",
    "show the stats",
    "show me the stats",
    "show statistics",
    "show the statistics",
    "show me the statistics",
    "estadisticas",
    "muestra las estadisticas",
    "muestrame las estadisticas",
];

/// Most entries of one explanation.
const MOST: usize = 8;

pub(crate) fn recognise(phrase: &Phrase) -> Option<Direct> {
    if phrase.is(WHY) {
        return Some(Direct::Why);
    }
    if phrase.is(STOP) {
        return Some(Direct::Stop);
    }
    phrase.is(STATS).then_some(Direct::Stats)
}

/// True if a text asks to stop the running task.
pub fn is_stop(text: &str) -> bool {
    Phrase::new(text).is_some_and(|phrase| phrase.is(STOP))
}

/// The last thing that was done or refused, and the part of its step that led to it. `None` where there was no task and
/// lines are named: the question is about them.
pub(crate) async fn direct_why(store: &TaskStore, request: &Request) -> Option<DirectAnswer> {
    let entries = match store.trace.entries() {
        entries if !entries.is_empty() => entries,
        // Of the last task here, from any of its workers.
        _ => stored_traces::find(store, "").await.map(|found| found.entries).unwrap_or_default(),
    };
    let decided = |effect| matches!(effect, Effect::Acted | Effect::Refused | Effect::Planned | Effect::Stopped);
    let Some(last) = entries.iter().rev().find(|entry| decided(entry.trace.effect)) else {
        let nothing = "nothing was decided here yet".to_owned();
        let is_about_lines = entries.is_empty() && request.lines.is_some();
        return (!is_about_lines).then(|| DirectAnswer::new("", nothing));
    };
    let line = |trace: &sextant_diagnostics::policy::Trace| {
        format!("{} {} — {} ({})", trace.effect.name(), trace.about, trace.reason, trace.rule)
    };
    let before: Vec<String> = entries
        .iter()
        .filter(|entry| (entry.step, entry.call) == (last.step, last.call) && *entry != last)
        .take(MOST)
        .map(|entry| format!("- {}", line(&entry.trace)))
        .collect();
    let call = last.call.map(|call| format!(", call {call}")).unwrap_or_default();
    let step = format!("step {}{call}", last.step);
    let mut text = format!("{step}: {}", line(&last.trace));
    if !before.is_empty() {
        text.push_str("\nwhat it came from:\n");
        text.push_str(&before.join("\n"));
    }
    Some(DirectAnswer::new(text, "the trace shows all of it".to_owned()))
}

pub(crate) async fn direct_stats(store: &TaskStore) -> Result<DirectAnswer, Failure> {
    let Some(remember) = memory::remember(store).await else {
        return Err(Failure::user("nothing is counted without memory", "`memory.enabled` turns it on"));
    };
    let stats = remember.run(|memory| memory.stats()).await;
    let stats = stats.map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))?;
    let lines: Vec<String> = stats
        .modes
        .iter()
        .filter(|mode| mode.runs > 0)
        .map(|mode| {
            format!(
                "{}: {}, {} succeeded, {} failed, {} stopped",
                mode.mode.name(),
                counted(mode.runs, "run"),
                mode.successes,
                mode.failures,
                mode.cancelled
            )
        })
        .collect();
    let none = "no task has been counted yet".to_owned();
    let runs = stats.modes.iter().map(|mode| mode.runs).sum::<u64>() as usize;
    Ok(if lines.is_empty() {
        DirectAnswer::new("", none)
    } else {
        DirectAnswer::new(lines.join("\n"), counted(runs, "run"))
    })
}
