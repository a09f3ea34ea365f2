//! Lists the plans and tasks that wait, chooses one of them, and discards one.

use crate::durable;
use crate::durable::resumable::{self, WaitingTask};
use crate::edit::recover;
use crate::editor::event::{Event, PageEntry};
use crate::plan::work_mode::Phase;
use crate::plan::{Plan, StepState, plan_event};
use crate::state::edit_service::EditService;
use crate::state::plan_service::PlanService;
use crate::state::task::{Task, TaskProgress};
use crate::state::task_scope::Scope;
use crate::state::withdraw_question::withdraw_question;
use sextant_base::clock::now_ms;
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_base::plural::counted;

/// The outcome of the open steps of a discarded plan.
const DISCARDED: &str = "discarded";

/// The word that discards each task that waits.
const ALL: &str = "all";

/// One line of the list.
struct WaitingRow {
    task: String,
    title: String,
    state: &'static str,
    done: usize,
    of: usize,
    /// When it was stored last, in milliseconds since 1970; `None` where it is only in this process.
    updated: Option<i64>,
    /// True if it waits in another process that still runs.
    is_open_elsewhere: bool,
}

/// The request of a plan or task that waits.
struct RowRequest<'r> {
    task: &'r str,
    text: &'r str,
    /// The file that it is about, or the workspace; none without an open file.
    place: Option<&'r str>,
}

/// The words for the place of a request, by the file that was open at it and the scope that it asked for.
fn place<'r>(file: Option<&'r str>, scope: &Scope, progress: &TaskProgress) -> Option<&'r str> {
    let asked = progress.asked_scope.as_ref().unwrap_or(scope);
    file.map(|file| if *asked == Scope::Workspace { "the workspace" } else { file })
}

impl WaitingRow {
    fn of(request: &RowRequest<'_>, plan: Option<&Plan>, state: &'static str, updated: Option<i64>) -> Self {
        let title = plan.map(|plan| headline(&plan.title)).filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| headline(request.text));
        let steps = plan.map(|plan| plan.steps.as_slice()).unwrap_or_default();
        // The same request in two files often has plans of the same title.
        let place = request.place.filter(|place| !title.contains(*place));
        Self {
            task: request.task.to_owned(),
            title: place.map_or_else(|| title.clone(), |place| format!("{title} in {place}")),
            state,
            done: steps.iter().filter(|step| step.state == StepState::Done).count(),
            of: steps.len(),
            updated,
            is_open_elsewhere: false,
        }
    }

    fn line(&self, number: usize) -> String {
        let steps =
            if self.of > 0 { format!(", {} of {} done", self.done, counted(self.of, "step")) } else { String::new() };
        let age =
            self.updated.map(|updated| format!(", {}", age(now_ms().saturating_sub(updated)))).unwrap_or_default();
        let place = if self.is_open_elsewhere { " in another session, which is open" } else { "" };
        format!("{number}. “{}”: {}{place}{steps}{age}", self.title, self.state)
    }
}

fn age(ms: i64) -> String {
    match ms / 60_000 {
        ..=0 => "just now".to_owned(),
        minutes @ 1..60 => format!("{minutes} min ago"),
        minutes @ 60..2880 => format!("{} h ago", minutes / 60),
        minutes => format!("{} days ago", minutes / 1440),
    }
}

fn state(phase: Phase, asks: bool) -> &'static str {
    match phase {
        _ if asks => "asks a question",
        Phase::Planning | Phase::Paused => phase.words(),
        Phase::Executing => "interrupted",
        Phase::Completed | Phase::Error => "stopped",
    }
}

async fn rows(edits: &EditService, plans: &PlanService) -> Vec<WaitingRow> {
    let stored = resumable::listed(&edits.store).await;
    let own = |(plan, task): &(Plan, Task)| {
        let is_open = plan.steps.iter().any(|step| step.state == StepState::Open);
        let words = state(task.keep.phase, task.progress.question.is_some());
        let work = &task.work;
        let place = place(work.intent.current_file.as_deref(), &work.scope, &task.progress);
        let request = RowRequest { task: &work.journal.task, text: &work.request, place };
        let row = WaitingRow::of(&request, Some(plan), words, None);
        (is_open && task.keep.revision.is_none()).then_some(row)
    };
    let mut rows: Vec<WaitingRow> = plans.waiting.lock().await.as_ref().and_then(own).into_iter().collect();
    rows.extend(plans.aside.lock().await.iter().filter_map(own));
    rows.extend(stored.iter().map(|WaitingTask { run, phase, updated, is_open_elsewhere, .. }| {
        let words = state(*phase, run.progress.question.is_some());
        let place = place(run.origin.current_file.as_deref(), &run.scope, &run.progress);
        let request = RowRequest { task: &run.id, text: &run.request, place };
        let row = WaitingRow::of(&request, run.plan.as_ref(), words, Some(*updated));
        WaitingRow { is_open_elsewhere: *is_open_elsewhere, ..row }
    }));
    rows
}

/// The titles of the list.
pub(crate) async fn titles(edits: &EditService, plans: &PlanService) -> Vec<String> {
    rows(edits, plans).await.into_iter().map(|row| row.title).collect()
}

/// The list for a reader, with the task of each line.
pub(crate) async fn page(edits: &EditService, plans: &PlanService) -> (String, Vec<PageEntry>) {
    recover::recover_quietly(edits).await;
    let rows = rows(edits, plans).await;
    let mut lines = vec!["# What waits".to_owned(), String::new()];
    let mut entries = Vec::new();
    for (number, row) in (1..).zip(&rows) {
        lines.push(row.line(number));
        entries.push(PageEntry { line: lines.len(), task: row.task.clone(), step: None });
    }
    if rows.is_empty() {
        lines.push("No plan and no task waits here.".to_owned());
    }
    (lines.join("\n"), entries)
}

/// Tells that earlier plans still wait beside a new one.
pub(crate) async fn say_others(edits: &EditService, plans: &PlanService) {
    let rows = rows(edits, plans).await;
    if let Some(before) = rows.get(1) {
        let more = if rows.len() > 2 { format!(" and {} more wait", rows.len() - 2) } else { " waits".to_owned() };
        let text = format!("“{}”{more} beside this plan", before.title);
        edits.hub.events.show(Event::Progress { text });
    }
}

/// The task that a number in the list, its name, or words of its title mean; the last one for no words. `None` where
/// only this process has it: it is the plan that waits then.
///
/// # Errors
/// Nothing that waits is meant, or several are.
pub(crate) async fn choose(
    edits: &EditService,
    plans: &PlanService,
    which: &str,
) -> Result<Option<WaitingTask>, Failure> {
    if which.is_empty() {
        return resumable::waiting(&edits.store).await;
    }
    let task = meant(&rows(edits, plans).await, which)?;
    if let Some(found) = resumable::listed(&edits.store).await.into_iter().find(|known| known.run.id == task) {
        return Ok(Some(found));
    }
    plans.bring_forward(&task).await;
    Ok(None)
}

fn meant(rows: &[WaitingRow], which: &str) -> Result<String, Failure> {
    let number = which.parse::<usize>().ok().and_then(|number| rows.get(number.checked_sub(1)?));
    if let Some(row) = number.or_else(|| rows.iter().find(|row| row.task == which)) {
        return Ok(row.task.clone());
    }
    if let (true, [_, _, ..]) = (which.is_empty(), rows) {
        return Err(Failure::user(format!("{} wait", counted(rows.len(), "task")), "give the number of one"));
    }
    let words = which.to_lowercase();
    let mut named = rows.iter().filter(|row| row.title.to_lowercase().contains(&words));
    match (named.next(), named.next()) {
        (Some(row), None) => Ok(row.task.clone()),
        (Some(_), Some(_)) => Err(Failure::user(format!("several that wait are named “{which}”"), "give its number")),
        (None, _) => {
            let there = if rows.is_empty() { "nothing waits".to_owned() } else { format!("1 to {}", rows.len()) };
            Err(Failure::user(format!("nothing that waits is named “{which}”"), there))
        }
    }
}

/// True if no step of the plan that waits was run yet.
pub(crate) async fn is_unapproved(plans: &PlanService) -> bool {
    let waiting = plans.waiting.lock().await;
    waiting.as_ref().is_some_and(|(plan, _)| plan.steps.iter().all(|step| step.state == StepState::Open))
}

/// Discards one task that waits, or each of them: open steps are never run, and changes stay. The events show the rest of
/// the list.
///
/// # Errors
/// Nothing that waits is meant.
pub(crate) async fn discard(edits: &EditService, plans: &PlanService, which: &str) -> Result<Vec<Event>, Failure> {
    recover::recover_quietly(edits).await;
    let rows = rows(edits, plans).await;
    let mut events = Vec::new();
    let summary = if which == ALL && !rows.is_empty() {
        for row in &rows {
            events.extend(discard_one(edits, plans, &row.task).await);
        }
        format!("discarded {}; their changes stay", counted(rows.len(), "waiting task"))
    } else {
        let task = meant(&rows, which)?;
        events.extend(discard_one(edits, plans, &task).await);
        let title = rows.iter().find(|row| row.task == task).map(|row| row.title.as_str()).unwrap_or_default();
        format!("discarded “{title}”; what it changed stays")
    };
    let (markdown, entries) = page(edits, plans).await;
    events.push(Event::Page { name: "waiting".to_owned(), markdown, entries });
    events.push(Event::Finished { ok: true, summary, answer: String::new() });
    Ok(events)
}

/// Discards a task. Returns its plan as it then stands, if it is the plan that waits.
async fn discard_one(edits: &EditService, plans: &PlanService, task: &str) -> Option<Event> {
    let mut shown = None;
    let mut waiting = plans.waiting.lock().await;
    if let Some((plan, own)) = waiting.as_mut().filter(|(_, own)| own.work.journal.task == task) {
        skip_open(plan);
        withdraw_question(&edits.hub.events, &own.work, &mut own.progress, "the plan was discarded");
        durable::keep_task(&edits.store, own, Some(plan), Phase::Completed).await;
        shown = Some(plan_event::plan_event(plan, Phase::Completed.words()));
    }
    drop(waiting);
    plans.aside.lock().await.retain(|(_, own)| own.work.journal.task != task);
    let stored = resumable::listed(&edits.store).await.into_iter().find(|known| known.run.id == task);
    if let Some(WaitingTask { mut run, .. }) = stored {
        (run.running, run.progress.question, run.replanning) = (None, None, None);
        run.plan.iter_mut().for_each(skip_open);
        durable::keep_state(&edits.store, &run, Phase::Completed).await;
    }
    shown
}

fn skip_open(plan: &mut Plan) {
    for step in &mut plan.steps {
        if matches!(step.state, StepState::Open | StepState::Running) {
            step.state = StepState::Skipped;
            DISCARDED.clone_into(&mut step.result.outcome);
        }
    }
}
