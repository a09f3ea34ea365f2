//! Taking back what the last task did, or a part of it, and bringing it back again.

pub mod reverse;
mod target;

use std::collections::BTreeMap;

use crate::agent::change::Wanted;
use crate::agent::durable::recover::edit_to;
use crate::agent::journal::{Checkpoint, FileChange, Journal, Kind};
use crate::agent::making::Change;
use crate::agent::outcome::Ending;
use crate::agent::plan::make::plan_event;
use crate::agent::remember::feedback::About;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::undo::reverse::{Part, reverse};
use crate::agent::undo::target::Chosen;
pub use crate::agent::undo::target::Target;
use crate::base::failure::Failure;
use crate::editor::event::Event;
use crate::editor::{FileEdit, Marks};

/// A way back that was worked out and not gone yet.
struct Way {
    edits: Vec<FileEdit>,
    files: Vec<FileChange>,
    /// Places that somebody else has changed since.
    left: Vec<String>,
}

impl Session {
    /// Undoes the last task, all files; once more brings it back. Refused whole when the user's own later
    /// changes touch the same places.
    pub async fn undo(&self) -> Ending<String> {
        self.undo_part(&Target::Task, false).await
    }

    /// Undoes a part of the last task. With `partial` everything that does not touch the user's own later
    /// changes is taken back, and the summary names what was left.
    pub async fn undo_part(&self, target: &Target, partial: bool) -> Ending<String> {
        self.undo_because(target, partial, "").await
    }

    /// The same with the user's reason, which is kept: see `src/agent/remember/feedback.rs`.
    pub async fn undo_because(&self, target: &Target, partial: bool, reason: &str) -> Ending<String> {
        let mut events = Vec::new();
        let result = self.undo_last(target, partial, reason, &mut events).await;
        Ending::new(result, events, |summary| (true, summary.clone()))
    }

    async fn undo_last(
        &self,
        target: &Target,
        partial: bool,
        reason: &str,
        events: &mut Vec<Event>,
    ) -> Result<String, Failure> {
        self.recover_quietly().await;
        self.catch_up().await?;
        let mut last = self.last.lock().await;
        if last.as_ref().is_none_or(Journal::is_empty) {
            *last = self.last_kept().await?;
        }
        let Some(journal) = last.as_mut().filter(|journal| !journal.is_empty()) else {
            return Err(Failure::user(
                "there is nothing to undo",
                "only what Sextant itself changed is undone here; `u` undoes the rest",
            ));
        };
        let request = journal.request.clone();
        if let (Target::Task, Some(rolled)) = (target, journal.rolled_back()) {
            let rolled = rolled.clone();
            let way = self.way_back(&[&rolled], Part::All, None).await?;
            refuse_touched(&way, partial)?;
            let back = Checkpoint { files: way.files, step: rolled.step, ..Checkpoint::default() };
            let back = self.go_back(journal, back, way.edits, vec![rolled.clone()]).await?;
            journal.checkpoints.pop();
            let what = rolled.symbols.first().map(String::as_str).unwrap_or_default();
            let about = About { reason: reason.to_owned(), ..about(journal, &Target::parse(what), None) };
            let words = match Target::parse(what) {
                Target::Task => format!("brought back “{request}”"),
                part => format!("brought back {} of “{request}”", part.words()),
            };
            let summary = told(words, &back.files, &way.left);
            self.after_rollback(journal, rolled.plan, None, events).await;
            self.feedback(about, false).await;
            return Ok(summary);
        }
        let chosen = target::choose(journal, target)?;
        let part = chosen.symbol.as_ref().map_or(Part::All, |symbol| Part::Symbol(&symbol.names));
        let only = chosen.symbol.as_ref().map(|symbol| symbol.file.as_str());
        let way = self.way_back(&chosen.checkpoints, part, only).await?;
        refuse_touched(&way, partial)?;
        if way.edits.is_empty() {
            let why = if way.left.is_empty() { "is not there any more".to_owned() } else { list(&way.left) };
            return Err(Failure::user(
                format!("nothing of {} can be taken back: {why}", chosen.target.words()),
                "`u` undoes your own changes",
            ));
        }
        let about = About { reason: reason.to_owned(), ..about(journal, &chosen.target, Some(&chosen)) };
        let plan = self.plan_of(&journal.task).await;
        let checkpoint = Checkpoint {
            kind: Kind::Rollback,
            step: chosen.step,
            files: way.files,
            symbols: vec![chosen.target.to_string()],
            plan,
            ..Checkpoint::default()
        };
        let target = chosen.target.clone();
        let checkpoint = self.go_back(journal, checkpoint, way.edits, Vec::new()).await?;
        let words = match &target {
            Target::Task => format!("undone “{request}”"),
            part => format!("undone {} of “{request}”", part.words()),
        };
        let summary = told(words, &checkpoint.files, &way.left);
        let plan = checkpoint.plan.clone();
        journal.checkpoints.push(checkpoint);
        self.after_rollback(journal, plan, Some(&target), events).await;
        self.feedback(about, true).await;
        Ok(summary)
    }

    /// Takes back every change of a task after a mark: the rollback of one step. They are gone from its journal
    /// then. With `partial` what touches later changes of the user stays and is named.
    pub(crate) async fn roll_back_to(
        &self,
        task: &mut Task,
        mark: usize,
        partial: bool,
    ) -> Result<Vec<String>, Failure> {
        let mark = mark.min(task.journal.checkpoints.len());
        let rows: Vec<&Checkpoint> = task.journal.checkpoints[mark..].iter().collect();
        let way = self.way_back(&rows, Part::All, None).await?;
        refuse_touched(&way, partial)?;
        let taken: Vec<Checkpoint> = rows.into_iter().cloned().collect();
        let back = Checkpoint { files: way.files, ..Checkpoint::default() };
        let back = self.go_back(&task.journal, back, way.edits, taken).await?;
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

    /// Works out what takes these checkpoints back, from the files as they are now.
    async fn way_back(&self, rows: &[&Checkpoint], part: Part<'_>, only: Option<&str>) -> Result<Way, Failure> {
        let mut by_path: BTreeMap<&str, Vec<&FileChange>> = BTreeMap::new();
        for change in rows.iter().flat_map(|row| &row.files) {
            if only.is_none_or(|only| only == change.path) {
                by_path.entry(&change.path).or_default().push(change);
            }
        }
        let mut way = Way { edits: Vec::new(), files: Vec::new(), left: Vec::new() };
        for (path, changes) in by_path {
            let now = self.look_at(path).await?;
            let text = now.as_ref().map(|document| document.text.as_str());
            let reversed = reverse(&changes, text, part);
            way.left.extend(reversed.left);
            let Some(edit) = edit_to(path, now.as_ref(), reversed.text.as_deref()) else { continue };
            way.edits.push(edit);
            let marks = |change: Option<&&FileChange>, before: bool| {
                change.map_or(Marks::Null, |change| {
                    if before { change.marks_before.clone() } else { change.marks_after.clone() }
                })
            };
            way.files.push(FileChange {
                path: path.to_owned(),
                before: now.map(|document| document.text),
                after: reversed.text,
                marks_before: marks(changes.last(), false),
                marks_after: marks(changes.first(), true),
            });
        }
        Ok(way)
    }

    /// Goes the way back, as one change with a checkpoint of its own. All or none.
    async fn go_back(
        &self,
        journal: &Journal,
        mut checkpoint: Checkpoint,
        edits: Vec<FileEdit>,
        takes_back: Vec<Checkpoint>,
    ) -> Result<Checkpoint, Failure> {
        checkpoint.id = self.next_checkpoint();
        let (task, request) = (journal.task.clone(), journal.request.clone());
        let change = Change { task, request, checkpoint, edits, takes_back, restores_marks: true };
        Ok(self.make(change).await?.checkpoint)
    }

    /// The plan follows its files: the steps that were taken back are open again, those that were brought back
    /// are what they were.
    async fn after_rollback(
        &self,
        journal: &Journal,
        plan: Option<crate::agent::plan::Plan>,
        taken: Option<&Target>,
        events: &mut Vec<Event>,
    ) {
        let plan = plan.map(|mut plan| {
            if let Some(taken) = taken {
                taken.reopen(&mut plan);
            }
            plan
        });
        if let Some((phase, plan)) = self.replace_plan(journal, plan).await {
            events.push(plan_event(&plan, phase.words()));
        }
    }
}

/// What memory is told of an undo.
fn about(journal: &Journal, target: &Target, chosen: Option<&Chosen<'_>>) -> About {
    let (task, request) = (journal.task.clone(), journal.request.clone());
    let whole = *target == Target::Task;
    About {
        task,
        request,
        target: target.to_string(),
        part: if whole { String::new() } else { format!("{} of ", target.words()) },
        checkpoints: chosen.filter(|_| !whole).map(Chosen::own),
        step: match target {
            Target::Step(step) => *step,
            Target::Task | Target::Symbol(_) => None,
        },
        ..About::default()
    }
}

/// Where the user's own changes are in the way.
fn refuse_touched(way: &Way, partial: bool) -> Result<(), Failure> {
    if way.left.is_empty() || partial {
        return Ok(());
    }
    let message = format!("{} was changed since, in the same place; nothing was undone", list(&way.left));
    Err(Failure::user(message, ":AgentUndo! (`sextant undo --partial`) takes back all the rest"))
}

fn list(places: &[String]) -> String {
    places.join(", ")
}

fn told(words: String, files: &[FileChange], left: &[String]) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut summary = format!("{words}: {}", names.join(", "));
    if !left.is_empty() {
        summary.push_str(&format!(". Left, since it was changed in the same place: {}", list(left)));
    }
    summary
}
