//! Takes back what a task did, or a part of it.
//!
//! Undo goes backwards through the tasks that changed something and never brings anything back. Redo goes the same way
//! forwards ([`stack`]). Both work on the hunks of edits ([`crate::state::undo_hunks`]). So a partial undo, another one
//! behind it, and the user's typing in between do not collide.

pub(crate) mod feedback;
mod last_request;
pub mod list;
mod nothing_left;
mod record_gaps;
pub(crate) mod redo;
pub(crate) mod undo_lines;
pub(crate) mod whose_task;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::commands::undo::feedback::UndoSubject;
use crate::commands::undo::last_request::LastRequest;
use crate::commands::undo::list::UndoState;
use crate::durable::resumable;
use crate::durable::stack::{self, Maker, Stack, stack};
use crate::edit::rollback::{self, CheckedRollback, RollbackPlan};
use crate::edit::{edit_transaction, recover, undo_effect, undo_refusal};
use crate::editor::event::Event;
use crate::plan::plan_event::plan_event;
use crate::plan::{Plan, StepState};
use crate::run::quickfix_lists;
use crate::state::agent_config::Checks;
use crate::state::comparison::Verdict;
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, CheckpointKind, FileChange, Journal, RolledBack};
use crate::state::outcome::Ending;
use crate::state::plan_service::PlanService;
use crate::state::undo_target::{Chosen, Pick, Target, choose, standing};
use sextant_base::failure::Failure;
use sextant_base::hint::{Hint, HintCode};
use sextant_base::one_line::{capital, headline};
use sextant_base::plural::counted;

/// The part of the work that the user wants taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoRequest {
    pub target: Target,
    /// Take back only the places that the user has not changed later; the rest is left for good.
    pub partial: bool,
    /// True if the user chose the task from the list of all: none is named first.
    pub is_chosen: bool,
    /// The only task that is meant: the one that the user sees.
    pub of: Option<String>,
    /// Kept, and shown to the model: see `src/engine/commands/undo/feedback.rs`.
    pub reason: String,
}

/// Outcome of an undo or a redo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    pub ok: bool,
    pub summary: String,
    /// The task, and its request.
    pub task: String,
    pub request: String,
    /// The part of it: empty for all, a step's number, or a symbol.
    pub target: String,
    /// The last request, where it is a different one; a door shows it.
    pub last_request: Option<String>,
    pub files: Vec<String>,
    /// Places that stay as they are, because they were changed later.
    pub left: Vec<String>,
    /// The diagnostics that came with it, in a line each.
    #[serde(default)]
    pub new_diagnostics: Vec<String>,
    /// How far they are known, in the words of an edit's answer; empty where they were not looked at.
    #[serde(default)]
    pub diagnostics_status: String,
}

impl Undone {
    /// Adds its effect on the diagnostics.
    fn with_effect(mut self, verdict: Option<Verdict>, checks: &Checks) -> Self {
        let Some(verdict) = verdict else { return self };
        let (new, words) = undo_effect::words(&verdict, checks);
        if !words.is_empty() {
            self.summary.push_str(&format!(". {}", capital(&words)));
        }
        (self.new_diagnostics, self.diagnostics_status) = (new, verdict.status.name().to_owned());
        self
    }
}

/// Takes back the standing changes of the last task that changed something, or a part of them. A task that is already
/// taken back is passed over, so that another undo reaches the task before. The undo is refused as a whole where the
/// user's own later changes touch the same places, unless `partial`.
pub(crate) async fn take_back(edits: &EditService, plans: &PlanService, wish: &UndoRequest) -> Ending<Undone> {
    let mut events = Vec::new();
    let result = take(edits, plans, wish, &mut events).await;
    Ending::new(result, events, |undone| (true, undone.summary.clone()))
}

/// Takes back one task after the other, down to this one.
pub(crate) async fn take_back_to(
    edits: &EditService,
    plans: &PlanService,
    task: &str,
    cancel: &CancellationToken,
) -> Ending<Vec<Undone>> {
    let mut events = Vec::new();
    let result = down_to(edits, plans, task, cancel, &mut events).await;
    Ending { result, events }
}

async fn down_to(
    edits: &EditService,
    plans: &PlanService,
    task: &str,
    cancel: &CancellationToken,
    events: &mut Vec<Event>,
) -> Result<Vec<Undone>, Failure> {
    let known = list::history(edits, plans).await?;
    let there = |state| matches!(state, UndoState::Stands | UndoState::Partly);
    if !known.tasks.iter().any(|known| known.task == task && there(known.state)) {
        let message = format!("there is no task {task:?} that could be taken back");
        return Err(Failure::user(message, "checkpoint/list has those that can"));
    }
    let mut undone: Vec<Undone> = Vec::new();
    while undone.last().is_none_or(|last| last.task != task) {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let ending = take_back(edits, plans, &UndoRequest { is_chosen: true, ..UndoRequest::default() }).await;
        events.extend(ending.events);
        undone.push(ending.result?);
    }
    Ok(undone)
}

async fn take(
    edits: &EditService,
    plans: &PlanService,
    wish: &UndoRequest,
    events: &mut Vec<Event>,
) -> Result<Undone, Failure> {
    recover::recover_quietly(edits).await;
    edit_transaction::catch_up(edits, plans).await?;
    let stack = stack(edits).await;
    let named = whose_task::named(edits, &stack, wish).await?;
    let wish =
        &UndoRequest { target: if named.is_empty() { wish.target.clone() } else { Target::Task }, ..wish.clone() };
    let is_one = wish.is_chosen || wish.of.is_some() || !named.is_empty() || matches!(wish.target, Target::Lines(_));
    // A number or a name means the last task; a stack is walked by whole tasks and last steps.
    let walks = matches!(wish.target, Target::Task | Target::Step(None));
    // An offered undo belongs to one task, even when later tasks exist.
    let other = |task: &str| match (&wish.target, &wish.of) {
        (Target::Lines(lines), _) => lines.task != task,
        (_, Some(of)) => of != task,
        _ => !named.is_empty() && !named.contains(task),
    };
    let mut unseen = Vec::new();
    for (index, known) in stack.tasks.iter().enumerate().filter(|(_, known)| !other(&known.task)) {
        let journal = stack::journal(&edits.store, known).await?;
        if standing(&journal).next().is_none() {
            if (index == 0 || matches!(wish.target, Target::Lines(_))) && !walks && touched(&journal, &wish.target) {
                choose(&journal, &wish.target)?;
            }
            continue;
        }
        if !is_one {
            whose_task::confirm(edits, &stack, index).await?;
        }
        let chosen = choose(&journal, &wish.target)?;
        let mut way = rollback::way_back(&edits.workspace, &journal, &chosen.picks, wish.partial).await?;
        way.left.extend(chosen.across.iter().cloned());
        undo_refusal::refuse_touched(&way.left, !way.edits.is_empty(), wish.partial)?;
        if way.edits.is_empty() && way.left.is_empty() && walks {
            // The user has taken it back by hand, or it is in an editor's buffer.
            unseen.extend((known.by == Maker::Session).then(|| known.request.clone()));
            continue;
        }
        if way.edits.is_empty() && (way.left.is_empty() || !chosen.across.is_empty()) {
            let why = if way.left.is_empty() { "is not there any more".to_owned() } else { way.left.join(", ") };
            let message = format!("nothing of {} can be taken back: {why}", chosen.target.words());
            return Err(Failure::user(
                message,
                Hint::from("your own changes are not undone here").and(HintCode::UndoOwn),
            ));
        }
        return carry_out(edits, plans, &stack, wish, &journal, ReadyUndo { chosen, way }, events).await;
    }
    Err(nothing_left::failure(&edits.store, &stack, &unseen).await)
}

/// True if a target is part of this task, in any later state of it.
fn touched(journal: &Journal, target: &Target) -> bool {
    let edits: Vec<Checkpoint> =
        journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit).cloned().collect();
    choose(&Journal { checkpoints: edits, ..journal.clone() }, target).is_ok()
}

/// An undo that was computed and not made yet.
struct ReadyUndo<'a> {
    chosen: Chosen<'a>,
    way: RollbackPlan,
}

async fn carry_out(
    edits: &EditService,
    plans: &PlanService,
    stack: &Stack,
    wish: &UndoRequest,
    journal: &Journal,
    ready: ReadyUndo<'_>,
    events: &mut Vec<Event>,
) -> Result<Undone, Failure> {
    let ReadyUndo { chosen, mut way } = ready;
    if wish.partial {
        leave(&mut way.takes, &chosen.picks);
    }
    let plan = resumable::plan_of(&edits.store, plans, &journal.task).await;
    let checkpoint = Checkpoint {
        kind: CheckpointKind::Rollback,
        step: chosen.step,
        files: way.files,
        symbols: vec![chosen.target.to_string()],
        plan: plan.clone(),
        takes: way.takes,
        ..Checkpoint::default()
    };
    let CheckedRollback { checkpoint, verdict } = if way.edits.is_empty() {
        CheckedRollback { checkpoint: rollback::enter(&edits.store, journal, checkpoint).await, verdict: None }
    } else {
        rollback::go_checked(edits, journal, checkpoint, way.edits, Vec::new()).await?
    };
    let about = UndoSubject { reason: wish.reason.clone(), ..about(journal, &chosen, &checkpoint) };
    let mut journal = journal.clone();
    let files = checkpoint.files.clone();
    journal.checkpoints.push(checkpoint);
    let plan = plan.map(|mut plan| {
        chosen.target.reopen(&mut plan);
        plan
    });
    follow(edits, plans, &journal, plan, &files, events).await;
    feedback::feedback(&edits.store, UndoSubject { over: standing(&journal).next().is_none(), ..about }, true).await;
    let what = match (&chosen.target, files.is_empty()) {
        (_, true) => format!("left as it is: “{}”", journal.request),
        (Target::Task, _) => format!("undone “{}”", journal.request),
        (part, _) => format!("undone {} of “{}”", part.words(), journal.request),
    };
    let last = last_request::other_than(edits, stack, &journal).await;
    let mut done = undone(last, &journal, chosen.target.to_string(), what, &files, way.left);
    if let (Target::Task, Some(gaps)) = (&chosen.target, record_gaps::words(&record_gaps::of_task(stack, &journal))) {
        done.summary.push_str(&format!(". {}", capital(&gaps)));
    }
    Ok(done.with_effect(verdict, &edits.workspace.config.diagnostics))
}

/// Closes the changes that could not be taken back, by the user's word: the next undo goes on behind them.
fn leave(takes: &mut Vec<RolledBack>, picks: &[Pick<'_>]) {
    for pick in picks {
        let (edit, path) = (&pick.edit.id, &pick.file.path);
        if takes.iter().all(|taken| taken.edit != *edit || taken.path != *path) {
            takes.push(RolledBack { edit: edit.clone(), path: path.clone(), ..RolledBack::default() });
        }
        for taken in takes.iter_mut().filter(|taken| taken.edit == *edit && taken.path == *path) {
            let known = |index: &&usize| !taken.hunks.contains(index) && !taken.over.contains(index);
            let rest: Vec<usize> = pick.hunks.iter().filter(known).copied().collect();
            taken.over.extend(rest);
        }
    }
}

/// Journal and plan follow their files: steps that were taken back are open again. Steps that were brought back regain
/// their state.
async fn follow(
    edits: &EditService,
    plans: &PlanService,
    journal: &Journal,
    plan: Option<Plan>,
    files: &[FileChange],
    events: &mut Vec<Event>,
) {
    let mut history = edits.history.lock().await;
    stack::note(&mut history, journal);
    drop(history);
    if let Some((phase, plan)) = resumable::replace_plan(&edits.store, plans, journal, plan).await {
        // An approval means the plan that waits: no other one is shown in its place.
        let is_shown =
            plans.waiting.lock().await.as_ref().is_none_or(|(_, task)| task.work.journal.task == journal.task);
        events.push(match is_shown {
            true => plan_event(&plan, phase.words()),
            false => Event::Progress { text: beside(&plan) },
        });
    }
    let files: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    quickfix_lists::look_again(edits, &journal.task, &files).await;
}

/// The state of a plan that does not wait for an approval, after an undo or a redo in it.
fn beside(plan: &Plan) -> String {
    let open = plan.steps.iter().filter(|step| step.state == StepState::Open).count();
    format!("“{}” has {} beside the plan that waits", headline(&plan.title), counted(open, "open step"))
}

/// The part of an undo that memory keeps.
fn about(journal: &Journal, chosen: &Chosen<'_>, made: &Checkpoint) -> UndoSubject {
    let target = &chosen.target;
    UndoSubject {
        task: journal.task.clone(),
        request: journal.request.clone(),
        undo: made.id.clone(),
        part: if *target == Target::Task { String::new() } else { format!("{} of ", target.words()) },
        checkpoints: (*target != Target::Task).then(|| chosen.edits()),
        step: match target {
            Target::Step(step) => *step,
            Target::Task | Target::From(_) | Target::Symbol(_) | Target::Lines(_) => None,
        },
        ..UndoSubject::default()
    }
}

/// The outcome. A request that is not the last one is marked as an earlier one.
fn undone(
    last: Option<LastRequest>,
    journal: &Journal,
    target: String,
    what: String,
    files: &[FileChange],
    left: Vec<String>,
) -> Undone {
    let files: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let mut summary = if files.is_empty() { what } else { format!("{what}: {}", files.join(", ")) };
    summary.push_str(last.as_ref().map_or("", |last| &last.words));
    let last_request = last.map(|last| last.request);
    if !left.is_empty() {
        summary.push_str(&format!(". Left, since it was changed in the same place: {}", left.join(", ")));
    }
    let (task, request) = (journal.task.clone(), journal.request.clone());
    Undone {
        ok: true,
        summary,
        task,
        request,
        target,
        last_request,
        files,
        left,
        new_diagnostics: Vec::new(),
        diagnostics_status: String::new(),
    }
}
