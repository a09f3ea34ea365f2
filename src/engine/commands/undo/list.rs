//! Lists the work that was done and undone: which task and step stands, and what undo and redo take next.

use serde::{Deserialize, Serialize};

use crate::commands::undo::{record_gaps, whose_task};
use crate::durable::stack::{self, Stack, UndoPlace};
use crate::edit::{edit_transaction, recover};
use crate::editor::event::PageEntry;
use crate::state::edit_service::EditService;
use crate::state::journal::{CheckpointKind, Journal};
use crate::state::plan_service::PlanService;
use crate::state::undo_target::{Target, standing};
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;

/// Most tasks of a list.
const TASKS: usize = 10;

/// A task that changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangingTask {
    pub task: String,
    pub request: String,
    pub state: UndoState,
    pub steps: Vec<DoneStep>,
}

/// The state of a task's work in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    Stands,
    /// A part of it is taken back.
    Partly,
    Undone,
    /// Its texts were removed to make room for others, or could not be recorded.
    Gone,
}

impl UndoState {
    fn word(self) -> &'static str {
        match self {
            Self::Stands => "",
            Self::Partly => " (partly undone)",
            Self::Undone => " (undone)",
            Self::Gone => " (cannot be undone any more)",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneStep {
    /// The number that `undo` takes.
    pub number: usize,
    pub state: UndoState,
    /// The changed symbols, or files where no symbol is known.
    pub changed: Vec<String>,
}

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The newest first.
    pub tasks: Vec<ChangingTask>,
    /// The task that an undo takes next.
    pub undo: Option<String>,
    /// The task that a redo brings back next, and the part of it.
    pub redo: Option<(String, String)>,
}

/// The last tasks that changed something here.
pub(crate) async fn history(edits: &EditService, plans: &PlanService) -> Result<History, Failure> {
    recover::recover_quietly(edits).await;
    edit_transaction::catch_up(edits, plans).await?;
    let stack = stack::stack(edits).await;
    let mut out = History::default();
    for known in stack.tasks.iter().take(TASKS) {
        let (task, request) = (known.task.clone(), known.request.clone());
        if known.place == UndoPlace::Removed {
            out.tasks.push(ChangingTask { task, request, state: UndoState::Gone, steps: Vec::new() });
            continue;
        }
        let done = done(&stack, &stack::journal(&edits.store, known).await?);
        if out.undo.is_none() && done.state != UndoState::Undone {
            out.undo = Some(done.task.clone());
        }
        out.tasks.push(done);
    }
    if let Some((row, known)) = stack.redoable().next().and_then(|row| Some((row, stack.find(&row.task)?))) {
        let journal = stack::journal(&edits.store, known).await?;
        let undo = journal.checkpoints.iter().find(|checkpoint| stack::position(checkpoint) == row.at);
        let part = undo.and_then(|undo| undo.symbols.first().cloned()).unwrap_or_default();
        out.redo = Some((known.task.clone(), part));
    }
    Ok(out)
}

fn state(stands: bool, undone: bool) -> UndoState {
    match (stands, undone) {
        (true, true) => UndoState::Partly,
        (true, false) => UndoState::Stands,
        (false, _) => UndoState::Undone,
    }
}

fn done(stack: &Stack, journal: &Journal) -> ChangingTask {
    let stands: Vec<_> = standing(journal).collect();
    let taken = journal.taken();
    let mut steps: Vec<DoneStep> = Vec::new();
    for edit in journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit) {
        let known = match steps.iter().position(|step| step.number == edit.step) {
            Some(known) => known,
            None => {
                steps.push(DoneStep { number: edit.step, state: UndoState::Undone, changed: Vec::new() });
                steps.len() - 1
            }
        };
        let files = || edit.files.iter().map(|file| file.path.clone()).collect();
        let changed: Vec<String> = if edit.symbols.is_empty() { files() } else { edit.symbols.clone() };
        for name in changed {
            if !steps[known].changed.contains(&name) {
                steps[known].changed.push(name);
            }
        }
    }
    for step in &mut steps {
        let own = |edit: &str| journal.checkpoints.iter().any(|row| row.id == edit && row.step == step.number);
        let undone = taken.iter().any(|((edit, _), hunks)| !hunks.is_empty() && own(edit));
        step.state = state(stands.iter().any(|pick| pick.edit.step == step.number), undone);
    }
    let gaps = record_gaps::of_task(stack, journal).into_iter();
    steps.extend(gaps.map(|gap| DoneStep { number: gap.step, state: UndoState::Gone, changed: gap.files }));
    steps.sort_by_key(|step| step.number);
    let undone = taken.values().any(|hunks| !hunks.is_empty());
    let (task, request) = (journal.task.clone(), journal.request.clone());
    ChangingTask { task, request, state: state(!stands.is_empty(), undone), steps }
}

/// The list as a reader sees it.
pub fn markdown(history: &History) -> String {
    page(history).0
}

/// The same, with the task and step of each line.
pub fn page(history: &History) -> (String, Vec<PageEntry>) {
    let mut lines = vec!["# What was done and undone".to_owned(), String::new()];
    let mut entries = Vec::new();
    if history.tasks.is_empty() {
        lines.push("Nothing was changed here yet.".to_owned());
    }
    for done in &history.tasks {
        let next = if history.undo.as_ref() == Some(&done.task) { " ← undo" } else { "" };
        let name = whose_task::name_if_shared(history, done);
        lines.push(format!("- “{}”{name}{}{next}", clean(&done.request), done.state.word()));
        entries.push(PageEntry { line: lines.len(), task: done.task.clone(), step: None });
        for step in &done.steps {
            let changed: Vec<String> = step.changed.iter().map(|name| clean(name)).collect();
            lines.push(format!("  - step {}: {}{}", step.number, changed.join(", "), step.state.word()));
            entries.push(PageEntry { line: lines.len(), task: done.task.clone(), step: Some(step.number) });
        }
        if let Some((_, part)) = history.redo.as_ref().filter(|(task, _)| *task == done.task) {
            let part = if part.is_empty() { "all of it".to_owned() } else { Target::parse(part).words() };
            lines.push(format!("  - ← redo: {}", clean(&part)));
            entries.push(PageEntry { line: lines.len(), task: done.task.clone(), step: None });
        }
    }
    (lines.join("\n"), entries)
}
