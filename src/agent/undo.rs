//! Undo and redo: taking back what a task did or a part of it, and bringing back what was undone last.
//!
//! Undo goes backwards through the tasks that changed something and never brings anything back; redo goes the same
//! way forwards ([`stack`]). Both work on the hunks of edits ([`reverse`]), so that a partial undo, another one
//! behind it, and whatever the user types in between do not get in each other's way.

pub mod list;
pub(crate) mod redo;
pub mod reverse;
pub(crate) mod stack;
pub(crate) mod target;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::agent::change::Wanted;
use crate::agent::durable;
use crate::agent::durable::recover::{self, edit_to};
use crate::agent::journal::{Checkpoint, FileChange, Journal, Kind, Taken};
use crate::agent::making::{self, Change};
use crate::agent::outcome::Ending;
use crate::agent::plan::Plan;
use crate::agent::plan::make::plan_event;
use crate::agent::remember::feedback::{self, About};
use crate::agent::resume;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::undo::reverse::{Turn, turn};
use crate::agent::undo::stack::{Place, Stack, stack};
use crate::agent::undo::target::{Chosen, Pick, choose, standing};
use crate::base::failure::Failure;
use crate::editor::event::Event;
use crate::editor::{FileEdit, Marks};

pub use crate::agent::undo::redo::bring_back;
pub use crate::agent::undo::target::Target;

/// What the user wants taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoRequest {
    pub target: Target,
    /// Take back what does not touch the user's own later changes; the rest is left for good.
    pub partial: bool,
    /// Kept, and told to the model: see `src/agent/remember/feedback.rs`.
    pub reason: String,
}

/// What an undo or a redo did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    pub ok: bool,
    pub summary: String,
    /// The task, and what it had been asked for.
    pub task: String,
    pub request: String,
    /// The part of it: empty for all, a step's number, or a symbol.
    pub target: String,
    /// What was asked for last, where that is another request; a door says so.
    pub last_request: Option<String>,
    pub files: Vec<String>,
    /// Places that stay as they are, since they were changed there later.
    pub left: Vec<String>,
}

/// What becomes of the files: worked out, and not done yet.
struct Way {
    edits: Vec<FileEdit>,
    files: Vec<FileChange>,
    takes: Vec<Taken>,
    /// Places that somebody else has changed since.
    left: Vec<String>,
}

/// Takes back what stands of the last task that changed something, or a part of it. A task that is taken back
/// already is passed over, so that undoing again goes to the one before. Refused whole where the user's own later
/// changes touch the same places, unless `partial`.
pub async fn take_back(session: &Session, wish: &UndoRequest) -> Ending<Undone> {
    let mut events = Vec::new();
    let result = take(session, wish, &mut events).await;
    Ending::new(result, events, |undone| (true, undone.summary.clone()))
}

/// [`take_back`] of a whole task.
pub async fn undo(session: &Session) -> Ending<String> {
    undo_part(session, &Target::Task, false).await
}

pub async fn undo_part(session: &Session, target: &Target, partial: bool) -> Ending<String> {
    undo_because(session, target, partial, "").await
}

/// [`take_back`], of which only the words are wanted.
pub async fn undo_because(session: &Session, target: &Target, partial: bool, reason: &str) -> Ending<String> {
    let wish = UndoRequest { target: target.clone(), partial, reason: reason.to_owned() };
    let Ending { result, events } = take_back(session, &wish).await;
    Ending { result: result.map(|undone| undone.summary), events }
}

/// [`bring_back`], of which only the words are wanted.
pub async fn redo(session: &Session) -> Ending<String> {
    let Ending { result, events } = bring_back(session).await;
    Ending { result: result.map(|undone| undone.summary), events }
}

/// Takes back every change of a task after a mark: the rollback of one step. They are gone from its journal
/// then. With `partial` what touches later changes of the user stays and is named.
pub(crate) async fn roll_back_to(
    session: &Session,
    task: &mut Task,
    mark: usize,
    partial: bool,
) -> Result<Vec<String>, Failure> {
    let mark = mark.min(task.journal.checkpoints.len());
    let taken: Vec<Checkpoint> = task.journal.checkpoints[mark..].to_vec();
    if taken.is_empty() {
        // A record of nothing would count as a change where the next process counts them.
        return Ok(Vec::new());
    }
    let own = |pick: &Pick<'_>| taken.iter().any(|row| row.id == pick.edit.id);
    let picks: Vec<Pick<'_>> = standing(&task.journal).into_iter().filter(own).collect();
    let way = way_back(session, &task.journal, &picks).await?;
    refuse_touched(&way.left, partial)?;
    let back = Checkpoint { files: way.files, ..Checkpoint::default() };
    let back = go(session, &task.journal, back, way.edits, taken).await?;
    task.journal.checkpoints.truncate(mark);
    for file in &back.files {
        match &file.after {
            Some(text) => task.seen.insert(file.path.clone(), text.clone()),
            None => task.seen.remove(&file.path),
        };
    }
    task.pending = None;
    Ok(way.left)
}

/// What a change will have made of its files, as far as the edit itself says.
pub(crate) fn intended(want: &Wanted) -> Option<String> {
    match want {
        Wanted::Change { document, hunks } => crate::edits::apply::apply(&document.text, hunks).ok(),
        Wanted::Create { text, .. } => Some(text.clone()),
    }
}

async fn take(session: &Session, wish: &UndoRequest, events: &mut Vec<Event>) -> Result<Undone, Failure> {
    recover::recover_quietly(session).await;
    making::catch_up(session).await?;
    let stack = stack(session).await;
    // A number or a name is said of what was done last; a stack is walked by whole tasks and last steps.
    let walks = matches!(wish.target, Target::Task | Target::Step(None));
    for (index, known) in stack.tasks.iter().enumerate() {
        let journal = stack::journal(session, known).await?;
        if standing(&journal).is_empty() {
            if index == 0 && !walks && touched(&journal, &wish.target) {
                choose(&journal, &wish.target)?;
            }
            continue;
        }
        let chosen = choose(&journal, &wish.target)?;
        let mut way = way_back(session, &journal, &chosen.picks).await?;
        way.left.extend(chosen.across.iter().cloned());
        refuse_touched(&way.left, wish.partial)?;
        if way.edits.is_empty() && way.left.is_empty() && walks {
            // The user has taken it back by hand.
            continue;
        }
        if way.edits.is_empty() && (way.left.is_empty() || !chosen.across.is_empty()) {
            let why = if way.left.is_empty() { "is not there any more".to_owned() } else { way.left.join(", ") };
            let message = format!("nothing of {} can be taken back: {why}", chosen.target.words());
            return Err(Failure::user(message, "`u` undoes your own changes"));
        }
        return carry_out(session, (&stack, wish), &journal, &chosen, way, events).await;
    }
    let hint = match stack.redoable().next() {
        Some(_) => "all of it is taken back; :AgentRedo (`sextant redo`) brings back what was undone last",
        None => "only what Sextant itself changed is undone here; `u` undoes the rest",
    };
    Err(Failure::user("there is nothing to undo", hint))
}

/// Whether a target is anything of this task, whatever became of it.
fn touched(journal: &Journal, target: &Target) -> bool {
    let edits: Vec<Checkpoint> = journal.checkpoints.iter().filter(|row| row.kind == Kind::Edit).cloned().collect();
    choose(&Journal { checkpoints: edits, ..journal.clone() }, target).is_ok()
}

async fn carry_out(
    session: &Session,
    (stack, wish): (&Stack, &UndoRequest),
    journal: &Journal,
    chosen: &Chosen<'_>,
    mut way: Way,
    events: &mut Vec<Event>,
) -> Result<Undone, Failure> {
    if wish.partial {
        leave(&mut way.takes, &chosen.picks);
    }
    let plan = resume::plan_of(session, &journal.task).await;
    let checkpoint = Checkpoint {
        kind: Kind::Rollback,
        step: chosen.step,
        files: way.files,
        symbols: vec![chosen.target.to_string()],
        plan: plan.clone(),
        takes: way.takes,
        ..Checkpoint::default()
    };
    let checkpoint = if way.edits.is_empty() {
        enter(session, journal, checkpoint).await
    } else {
        go(session, journal, checkpoint, way.edits, Vec::new()).await?
    };
    let about = About { reason: wish.reason.clone(), ..about(journal, chosen, &checkpoint) };
    let mut journal = journal.clone();
    let files = checkpoint.files.clone();
    journal.checkpoints.push(checkpoint);
    let plan = plan.map(|mut plan| {
        chosen.target.reopen(&mut plan);
        plan
    });
    follow(session, &journal, plan, events).await;
    feedback::feedback(session, About { over: standing(&journal).is_empty(), ..about }, true).await;
    let what = match (&chosen.target, files.is_empty()) {
        (_, true) => format!("left as it is: “{}”", journal.request),
        (Target::Task, _) => format!("undone “{}”", journal.request),
        (part, _) => format!("undone {} of “{}”", part.words(), journal.request),
    };
    Ok(told(stack, &journal, chosen.target.to_string(), what, &files, way.left))
}

/// What could not be taken back is over by the user's word: the next undo goes on behind it.
fn leave(takes: &mut Vec<Taken>, picks: &[Pick<'_>]) {
    for pick in picks {
        let (edit, path) = (&pick.edit.id, &pick.file.path);
        if takes.iter().all(|taken| taken.edit != *edit || taken.path != *path) {
            takes.push(Taken { edit: edit.clone(), path: path.clone(), ..Taken::default() });
        }
        for taken in takes.iter_mut().filter(|taken| taken.edit == *edit && taken.path == *path) {
            let known = |index: &&usize| !taken.hunks.contains(index) && !taken.over.contains(index);
            let rest: Vec<usize> = pick.hunks.iter().filter(known).copied().collect();
            taken.over.extend(rest);
        }
    }
}

/// Works out what takes these hunks back, from the files as they are now.
async fn way_back(session: &Session, journal: &Journal, picks: &[Pick<'_>]) -> Result<Way, Failure> {
    let taken = journal.taken();
    let mut by_path: BTreeMap<&str, Vec<&Pick<'_>>> = BTreeMap::new();
    for pick in picks.iter().rev() {
        by_path.entry(&pick.file.path).or_default().push(pick);
    }
    let mut way = Way { edits: Vec::new(), files: Vec::new(), takes: Vec::new(), left: Vec::new() };
    for (path, picks) in by_path {
        let gone = |pick: &Pick<'_>| taken.get(&(pick.edit.id.as_str(), path)).cloned().unwrap_or_default();
        let turns: Vec<Turn<'_>> = picks
            .iter()
            .map(|pick| Turn { change: pick.file, taken: gone(pick), wanted: pick.hunks.clone() })
            .collect();
        let (newest, oldest) = (picks[0].file.marks_after.clone(), picks[picks.len() - 1].file.marks_before.clone());
        let turned = way.add(session, path, &turns, (newest, oldest)).await?;
        for (pick, (done, over)) in picks.iter().zip(turned) {
            let (edit, path) = (pick.edit.id.clone(), path.to_owned());
            way.takes.push(Taken { edit, path, hunks: done.into_iter().collect(), over: over.into_iter().collect() });
        }
    }
    Ok(way)
}

impl Way {
    /// Turns hunks of one file, and answers with those that this turns and those that were turned by hand.
    async fn add(
        &mut self,
        session: &Session,
        path: &str,
        turns: &[Turn<'_>],
        (marks_before, marks_after): (Marks, Marks),
    ) -> Result<Vec<(BTreeSet<usize>, BTreeSet<usize>)>, Failure> {
        let now = recover::look_at(session, path).await?;
        let turned = turn(turns, now.as_ref().map(|document| document.text.as_str()));
        self.left.extend(turned.left);
        if let Some(edit) = edit_to(path, now.as_ref(), turned.text.as_deref()) {
            self.edits.push(edit);
            let before = now.map(|document| document.text);
            self.files.push(FileChange {
                path: path.to_owned(),
                before,
                after: turned.text,
                marks_before,
                marks_after,
            });
        }
        Ok(turned.done.into_iter().zip(turned.by_hand).collect())
    }
}

/// Goes a way, as one change with a checkpoint of its own. All or none.
async fn go(
    session: &Session,
    journal: &Journal,
    mut checkpoint: Checkpoint,
    edits: Vec<FileEdit>,
    takes_back: Vec<Checkpoint>,
) -> Result<Checkpoint, Failure> {
    checkpoint.id = session.next_checkpoint();
    let (task, request) = (journal.task.clone(), journal.request.clone());
    let change = Change { task, request, checkpoint, edits, takes_back, restores_marks: true };
    let made = making::make(session, change).await?.checkpoint;
    Ok(made)
}

/// Keeps an undo that changes no file.
async fn enter(session: &Session, journal: &Journal, mut checkpoint: Checkpoint) -> Checkpoint {
    checkpoint.id = session.next_checkpoint();
    if let Some(durable) = durable::durable(session).await {
        let editor = session.editor.as_ref();
        checkpoint.record = durable.open_change(editor, &journal.task, &checkpoint, &[]).await;
        durable.close_change(editor, &checkpoint, &[]).await;
    }
    checkpoint
}

/// Journal and plan follow their files: the steps that were taken back are open again, those that were brought back
/// are what they were.
async fn follow(session: &Session, journal: &Journal, plan: Option<Plan>, events: &mut Vec<Event>) {
    let mut history = session.history.lock().await;
    stack::note(&mut history, journal);
    drop(history);
    if let Some((phase, plan)) = resume::replace_plan(session, journal, plan).await {
        events.push(plan_event(&plan, phase.words()));
    }
}

/// What memory is told of an undo.
fn about(journal: &Journal, chosen: &Chosen<'_>, made: &Checkpoint) -> About {
    let target = &chosen.target;
    About {
        task: journal.task.clone(),
        request: journal.request.clone(),
        undo: made.id.clone(),
        part: if *target == Target::Task { String::new() } else { format!("{} of ", target.words()) },
        checkpoints: (*target != Target::Task).then(|| chosen.edits()),
        step: match target {
            Target::Step(step) => *step,
            Target::Task | Target::Symbol(_) => None,
        },
        ..About::default()
    }
}

/// Where the user's own changes are in the way.
fn refuse_touched(left: &[String], partial: bool) -> Result<(), Failure> {
    if left.is_empty() || partial {
        return Ok(());
    }
    let message = format!("{} was changed since, in the same place; nothing was undone", left.join(", "));
    Err(Failure::user(message, ":AgentUndo! (`sextant undo --partial`) takes back all the rest"))
}

/// The outcome. A request that is not the last one is said to be an earlier one.
fn told(
    stack: &Stack,
    journal: &Journal,
    target: String,
    what: String,
    files: &[FileChange],
    left: Vec<String>,
) -> Undone {
    let files: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let mut summary = if files.is_empty() { what } else { format!("{what}: {}", files.join(", ")) };
    let other = stack.asked.as_ref().filter(|(task, _)| *task != journal.task);
    let last_request = other.map(|(_, request)| request.clone());
    if let Some((task, request)) = other {
        let changed = stack.find(task).is_some_and(|known| known.place != Place::Removed);
        let why = if changed { "is not what this is about" } else { "changed nothing" };
        summary.push_str(&format!(" (the last request, “{request}”, {why})"));
    }
    if !left.is_empty() {
        summary.push_str(&format!(". Left, since it was changed in the same place: {}", left.join(", ")));
    }
    let (task, request) = (journal.task.clone(), journal.request.clone());
    Undone { ok: true, summary, task, request, target, last_request, files, left }
}
