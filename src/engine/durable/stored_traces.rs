//! Stored traces of tasks, chosen by a reader: the last one, one by its number, or one by its name.

use serde::Serialize;

use crate::durable::open_store;
use crate::events::envelope::TraceEntry;
use crate::memory;
use crate::state::task_store::TaskStore;
use crate::state::task_trace::markdown;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_store::memory::memory_error::MemoryError;
use sextant_store::memory::trace_store::{TracedEntry, TracedTask};

/// Tasks of a list.
const LISTED: usize = 20;

/// The trace of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Traced {
    pub task: String,
    pub request: String,
    pub entries: Vec<TraceEntry>,
}

impl Traced {
    pub fn markdown(&self) -> String {
        markdown(&self.request, &self.entries)
    }
}

/// Stores the entries of the running or last task since the last call. Entries that cannot be stored are left out.
pub(crate) async fn keep(store: &TaskStore) {
    for (task, request, entries) in store.trace.take_unkept() {
        let Some(remember) = memory::remember(store).await else { return };
        let name = remember.session.clone();
        let entries = entries.into_iter().map(kept).collect();
        if let Err(error) = remember.run(move |memory| memory.add_traced(&name, &task, &request, entries)).await {
            tracing::warn!(%error, "a part of the trace could not be kept");
        }
    }
}

fn kept(entry: TraceEntry) -> TracedEntry {
    let Trace { effect, about, rule, reason } = entry.trace;
    TracedEntry { step: entry.step, call: entry.call, effect: effect.name().to_owned(), about, rule, reason }
}

fn read(entry: TracedEntry) -> TraceEntry {
    let TracedEntry { step, call, effect, about, rule, reason } = entry;
    let effect = Effect::from_name(&effect).unwrap_or(Effect::Kept);
    TraceEntry { step, call, trace: Trace { effect, about, rule, reason } }
}

fn failure(error: &MemoryError) -> Failure {
    Failure::new(FailureKind::Internal, error.to_string(), Hint::from("try again").and(HintCode::Memory))
}

/// The tasks that have a trace, the last one that was worked on first.
pub(crate) async fn list(store: &TaskStore) -> Result<Vec<TracedTask>, Failure> {
    keep(store).await;
    if !open_store::has_record(store) {
        return Ok(Vec::new());
    }
    let Some(remember) = memory::remember(store).await else { return Ok(Vec::new()) };
    let name = remember.session.clone();
    let tasks = remember.run(move |memory| memory.traced_tasks(&name, usize::MAX)).await;
    tasks.map_err(|error| failure(&error))
}

/// The list for a reader, numbered as [`find`] takes it.
pub fn list_markdown(tasks: &[TracedTask]) -> String {
    let mut lines = vec!["# Traces, the last task first".to_owned(), String::new()];
    for (number, task) in (1..).zip(tasks.iter().take(LISTED)) {
        lines.push(format!("{number}. “{}” ({})", clean(&task.request), counted(task.entries, "entry")));
    }
    if tasks.len() > LISTED {
        lines.push(format!("and {}", counted(tasks.len() - LISTED, "older one")));
    }
    lines.join("\n")
}

/// The trace of a task: the last one for an empty name, a number counts back from it (1 is the last), else its name.
///
/// # Errors
/// There is no such task; the error names those that exist.
pub(crate) async fn find(store: &TaskStore, which: &str) -> Result<Traced, Failure> {
    let which = which.trim();
    let tasks = list(store).await?;
    if tasks.is_empty() && which.is_empty() {
        // Without memory the process holds the traces.
        let (entries, (task, request)) = (store.trace.entries(), store.trace.last());
        if entries.is_empty() {
            return Err(Failure::user("nothing was done here yet", HintCode::Start));
        }
        return Ok(Traced { task, request, entries });
    }
    let place = match which.parse::<usize>() {
        _ if which.is_empty() => Some(0),
        Ok(number) if number <= tasks.len() => number.checked_sub(1),
        Ok(_) => None,
        Err(_) => tasks.iter().position(|known| known.task == which),
    };
    let Some(known) = place.and_then(|place| tasks.get(place)) else {
        let hint = match tasks.len() {
            0 => "nothing is kept of any task here".to_owned(),
            count => format!("give a number from 1 (the last task) to {count}, or a task's name"),
        };
        return Err(Failure::user(format!("there is no trace of a task {which}"), hint));
    };
    let remember =
        memory::remember(store).await.ok_or_else(|| Failure::user("there is no memory here", "memory.enabled"))?;
    let (task, request) = (known.task.clone(), known.request.clone());
    let name = task.clone();
    let entries = remember.run(move |memory| memory.traced(&name)).await.map_err(|error| failure(&error))?;
    Ok(Traced { task, request, entries: entries.into_iter().map(read).collect() })
}
