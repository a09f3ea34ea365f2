//! The target of an undo: all of a task, a step, or its changes in one symbol.

use std::collections::BTreeSet;
use std::fmt;

use crate::plan::{Plan, StepState};
use crate::state::journal::{Checkpoint, CheckpointKind, FileChange, Journal};
use crate::state::overlapping_hunks::{PickedHunk, joined};
use crate::state::undo_hunks::{count, within};
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_text::symbols::symbol_path::SymbolPath;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    #[default]
    Task,
    /// Counted from 1; the last one that changed something where absent.
    Step(Option<usize>),
    /// This step of a plan and all behind it; counted from 1.
    From(usize),
    Symbol(String),
    Lines(ChangedLines),
}

/// Hunks beside each other of one file of one edit, as `src/engine/state/undo_hunks.rs` counts them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedLines {
    pub task: String,
    /// The edit's name.
    pub edit: String,
    /// Among the files of the edit, from 0.
    pub file: usize,
    pub first: usize,
    pub last: usize,
}

impl ChangedLines {
    /// Reads the form that [`fmt::Display`] writes.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix("lines:")?.rsplitn(5, ':');
        let mut number = || parts.next()?.parse().ok();
        let (last, first, file) = (number()?, number()?, number()?);
        let (edit, task) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some(Self { task, edit, file, first, last })
    }
}

impl fmt::Display for ChangedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lines:{}:{}:{}:{}:{}", self.task, self.edit, self.file, self.first, self.last)
    }
}

impl Target {
    /// Reads the words of a user: empty or `task`, `step`, a number, or a symbol; or the form that an editor was
    /// offered.
    pub fn parse(text: &str) -> Self {
        if let Some(lines) = ChangedLines::parse(text.trim()) {
            return Self::Lines(lines);
        }
        match text.trim() {
            "" | "task" => Self::Task,
            "step" => Self::Step(None),
            text if text.strip_prefix("from ").is_some_and(|number| number.trim().parse::<usize>().is_ok()) => {
                Self::From(text.strip_prefix("from ").and_then(|number| number.trim().parse().ok()).unwrap_or(1))
            }
            text => match text.strip_prefix("step ").unwrap_or(text).trim().parse() {
                Ok(number) => Self::Step(Some(number)),
                Err(_) => Self::Symbol(text.to_owned()),
            },
        }
    }

    /// Like [`Self::parse`], with a reason after the target: `2 because it broke the tests`.
    pub fn parse_because(text: &str) -> (Self, String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| ["because", "porque"].contains(&word.to_lowercase().as_str()));
        let (target, reason) = words.split_at(at.unwrap_or(words.len()));
        (Self::parse(&target.join(" ")), reason.get(1..).unwrap_or_default().join(" "))
    }

    /// The words for a sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Task => "the task".to_owned(),
            Self::Step(None) => "the last step".to_owned(),
            Self::Step(Some(number)) => format!("step {number}"),
            Self::From(number) => format!("the steps from {number} on"),
            Self::Symbol(symbol) => symbol.clone(),
            Self::Lines(_) => "one change".to_owned(),
        }
    }

    /// True if the step of this index is undone as a whole.
    fn covers(&self, index: usize) -> bool {
        match self {
            Self::Task => true,
            Self::Step(Some(number)) => number.saturating_sub(1) == index,
            Self::From(number) => number.saturating_sub(1) <= index,
            Self::Step(None) | Self::Symbol(_) | Self::Lines(_) => false,
        }
    }

    /// Opens the steps of a plan that were undone, but for those that the user has skipped. A second call changes
    /// nothing.
    pub(crate) fn reopen(&self, plan: &mut Plan) {
        for (index, step) in plan.steps.iter_mut().enumerate() {
            if self.covers(index) && step.state != StepState::Open && !step.is_skipped_by_user() {
                step.state = StepState::Open;
                step.result.outcome = "taken back".to_owned();
                step.result.late_errors = 0;
            }
        }
    }

    /// Gives the steps that [`Target::reopen`] has opened their state in the plan before it.
    pub(crate) fn close_again(&self, plan: &mut Plan, before: &Plan) {
        for (index, (step, was)) in plan.steps.iter_mut().zip(&before.steps).enumerate() {
            // A plan that was changed since has other steps there.
            let same = step.title == was.title && step.symbols == was.symbols;
            if self.covers(index) && same && step.state == StepState::Open {
                step.clone_from(was);
            }
        }
    }
}

/// Writes the form that [`Target::parse`] reads.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task => Ok(()),
            Self::Step(None) => f.write_str("step"),
            Self::Step(Some(number)) => write!(f, "{number}"),
            Self::From(number) => write!(f, "from {number}"),
            Self::Symbol(symbol) => f.write_str(symbol),
            Self::Lines(lines) => lines.fmt(f),
        }
    }
}

/// Hunks of one file of an edit that are to be undone.
#[derive(Debug)]
pub(crate) struct Pick<'a> {
    pub(crate) edit: &'a Checkpoint,
    pub(crate) file: &'a FileChange,
    pub(crate) hunks: BTreeSet<usize>,
}

/// The hunks of a target, oldest edit first; none of them is undone yet.
#[derive(Debug)]
pub(crate) struct Chosen<'a> {
    /// The target with every part that the user left out.
    pub(crate) target: Target,
    pub(crate) picks: Vec<Pick<'a>>,
    pub(crate) step: usize,
    /// Places where an edit of a symbol reaches over the symbol's edge.
    pub(crate) across: Vec<String>,
}

impl Chosen<'_> {
    /// The names of its edits.
    pub(crate) fn edits(&self) -> Vec<String> {
        let mut names: Vec<String> = self.picks.iter().map(|pick| pick.edit.id.clone()).collect();
        names.dedup();
        names
    }
}

/// The applied hunks of a task, oldest edit first. Each is computed on demand: a caller that only checks for any of
/// them reads the first.
pub(crate) fn standing(journal: &Journal) -> impl Iterator<Item = Pick<'_>> {
    let taken = journal.taken();
    let edits = journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit);
    edits.flat_map(|edit| edit.files.iter().map(move |file| (edit, file))).filter_map(move |(edit, file)| {
        let gone = taken.get(&(edit.id.as_str(), file.path.as_str()));
        let stands = |index: &usize| gone.is_none_or(|gone| !gone.contains(index));
        let hunks: BTreeSet<usize> = (0..count(file)).filter(stands).collect();
        (!hunks.is_empty()).then_some(Pick { edit, file, hunks })
    })
}

/// The steps of a task that changed anything, those taken back among them.
fn changed_steps(journal: &Journal) -> Vec<usize> {
    let edits = journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit);
    let mut steps: Vec<usize> = edits.map(|row| row.step).collect();
    steps.dedup();
    steps
}

/// The steps of a target changed nothing.
fn never(journal: &Journal, target: &Target, changed: &[usize]) -> Failure {
    let steps: Vec<String> = changed.iter().map(ToString::to_string).collect();
    let hint = format!("the steps of “{}” that changed something: {}", journal.request, steps.join(", "));
    Failure::user(format!("{} changed nothing", target.words()), hint)
}

/// Finds the hunks of a target in a task.
///
/// # Errors
///
/// The task has no such change; the error names the targets that it has.
pub(crate) fn choose<'a>(journal: &'a Journal, target: &Target) -> Result<Chosen<'a>, Failure> {
    let again = |target: &Target| {
        let were = if matches!(target, Target::From(_)) { "were" } else { "was" };
        Failure::user(format!("{} {were} taken back already", target.words()), HintCode::Redo)
    };
    let all: Vec<Pick<'a>> = standing(journal).collect();
    let plain = |target: Target, picks: Vec<Pick<'a>>| Chosen { target, picks, step: 0, across: Vec::new() };
    match target {
        Target::Task if all.is_empty() => Err(again(target)),
        Target::Task => Ok(plain(Target::Task, all)),
        Target::Step(number) => {
            let Some(step) = number.or_else(|| all.last().map(|pick| pick.edit.step)) else {
                return Err(again(target));
            };
            let own: Vec<Pick<'a>> = all.into_iter().filter(|pick| pick.edit.step == step).collect();
            let target = Target::Step(Some(step));
            if !own.is_empty() {
                return Ok(Chosen { step, ..plain(target, own) });
            }
            let changed = changed_steps(journal);
            if changed.contains(&step) { Err(again(&target)) } else { Err(never(journal, &target, &changed)) }
        }
        Target::From(first) => {
            let own: Vec<Pick<'a>> = all.into_iter().filter(|pick| pick.edit.step >= *first).collect();
            if !own.is_empty() {
                return Ok(Chosen { step: *first, ..plain(target.clone(), own) });
            }
            let changed = changed_steps(journal);
            let ran = changed.iter().any(|step| step >= first);
            Err(if ran { again(target) } else { never(journal, target, &changed) })
        }
        Target::Lines(lines) => {
            let picks = picks_of_lines(all, lines).filter(|picks| !picks.is_empty()).ok_or_else(|| again(target))?;
            Ok(plain(target.clone(), picks))
        }
        Target::Symbol(given) => {
            let symbol = symbol(&journal.checkpoints.iter().collect::<Vec<_>>(), given)?;
            let mut chosen = plain(Target::Symbol(symbol.to_string()), Vec::new());
            for pick in all.into_iter().filter(|pick| pick.file.path == symbol.file) {
                let (inside, across) = within(pick.file, &symbol.names);
                if across {
                    chosen.across.push(format!("{symbol} (an edit there reaches beyond it)"));
                }
                let hunks: BTreeSet<usize> = pick.hunks.intersection(&inside).copied().collect();
                if !hunks.is_empty() {
                    chosen.picks.push(Pick { hunks, ..pick });
                }
            }
            if chosen.picks.is_empty() && chosen.across.is_empty() { Err(again(&chosen.target)) } else { Ok(chosen) }
        }
    }
}

/// The hunks of changed lines, with those of other edits that changed the same lines: the lines as they were before the
/// task, and not between two of its edits. `None` if the edit does not stand.
fn picks_of_lines<'a>(all: Vec<Pick<'a>>, lines: &ChangedLines) -> Option<Vec<Pick<'a>>> {
    let own = |pick: &Pick<'_>| {
        pick.edit.id == lines.edit && pick.edit.files.get(lines.file).is_some_and(|file| file == pick.file)
    };
    let pick = all.iter().position(own)?;
    let named = all[pick].hunks.range(lines.first..=lines.last.max(lines.first));
    let named: BTreeSet<PickedHunk> = named.map(|hunk| PickedHunk { pick, hunk: *hunk }).collect();
    let groups = joined(&all, &all[pick].file.path).into_iter();
    let mut wanted: BTreeSet<PickedHunk> =
        groups.filter(|group| group.iter().any(|one| named.contains(one))).flatten().collect();
    wanted.extend(named);
    let hunks = |at: usize| wanted.iter().filter(|one| one.pick == at).map(|one| one.hunk).collect();
    let picks = all.into_iter().enumerate().map(|(at, pick)| Pick { hunks: hunks(at), ..pick });
    Some(picks.filter(|pick| !pick.hunks.is_empty()).collect())
}

/// The one touched symbol that the user meant: by its whole path or by the end of it.
fn symbol(rows: &[&Checkpoint], given: &str) -> Result<SymbolPath, Failure> {
    let edits = rows.iter().filter(|row| row.kind == CheckpointKind::Edit);
    let mut touched: Vec<&String> = edits.flat_map(|row| &row.symbols).collect();
    touched.sort();
    touched.dedup();
    let meant: Vec<&String> = touched
        .iter()
        .copied()
        .filter(|symbol| **symbol == given || symbol.ends_with(&format!("::{given}")))
        .filter(|symbol| !SymbolPath::parse(symbol).names.is_empty())
        .collect();
    let list = |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    match meant.as_slice() {
        [one] => Ok(SymbolPath::parse(one)),
        [] => Err(Failure::user(
            format!("the last task changed nothing in {given}"),
            format!("it changed {}", list(&touched)),
        )),
        several => Err(Failure::user(format!("{given} is not one symbol"), format!("name one of {}", list(several)))),
    }
}

#[cfg(test)]
mod tests;
