//! Forgets in the user's words: shows the cost, asks for consent, and lists exactly what went and what stays.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::durable::change_record::EDIT;
use crate::durable::{open_store, phase_name, stored_review};
use crate::edit::questions::{self, UserQuestion};
use crate::editor::event::QuestionKind;
use crate::memory::chosen_preferences::{self, bare, failure, own_name};
use crate::plan::work_mode::Phase;
use crate::state::approvals::Approvals;
use crate::state::edit_service::EditService;
use crate::state::memory_handle::Remember;
use crate::state::notes::short;
use crate::state::plan_service::PlanService;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_store::memory::forget::{Cost, Forget, Forgotten};

/// Words that name nothing.
const VAGUE: &str = "that this them those it eso esto esta ello lo";
/// Words that name all of it.
const ALL: &[&str] = &["all", "everything", "it all", "all of it", "todo", "todo ello"];
/// Most tasks that a question names.
const NAMED: usize = 3;

/// The user's choice for the tasks whose undo a forgetting costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Lose,
    Keep,
    Nothing,
}

/// Forgets the entries that hold a text, and lists what went and what stays. Asks first where a task could no longer be
/// undone or resumed. A stop ends the question; a forgetting that has begun goes to its end.
///
/// # Errors
/// The words are ambiguous, or a question has no answer: nothing is forgotten then.
pub(crate) async fn forget(
    edits: &EditService,
    plans: &PlanService,
    text: &str,
    cancel: &CancellationToken,
) -> Result<String, Failure> {
    let what = bare(text);
    if ALL.contains(&what.to_lowercase().as_str()) {
        return forget_all(edits, plans, cancel).await;
    }
    // A short word is part of many others, and a pronoun refers to something outside this text.
    if what.chars().count() < 3 || VAGUE.split_whitespace().any(|vague| vague == what.to_lowercase()) {
        return Err(Failure::user("it is not clear what to forget", "name a word or a phrase of it"));
    }
    let remember = chosen_preferences::needs_memory(&edits.store).await?;
    let asked = ForgetRequest { what: &what, cancel };
    let gone = carry_out(edits, plans, &remember, Forget::text(what.as_str()), asked).await?;
    let gone = match gone {
        // A preference may be called by its name, or by words that are not side by side in it.
        Some(gone) if gone.is_empty() && gone.record.kept.is_empty() && own_name(&what) != what => {
            carry_out(edits, plans, &remember, Forget::text(own_name(&what)), asked).await?
        }
        gone => gone,
    };
    let Some(gone) = gone else { return Ok(nothing()) };
    let mut answer = summary(&format!("“{what}”"), &gone);
    let lower = what.to_lowercase();
    for (key, value) in chosen_preferences::configured_preferences(&edits.workspace.config) {
        if format!("{key} {value}").to_lowercase().contains(&lower) {
            answer.push_str(&configured(&key, &value));
        }
    }
    Ok(answer)
}

/// Forgets all that is remembered of this workspace, as [`forget`] does.
pub(crate) async fn forget_all(
    edits: &EditService,
    plans: &PlanService,
    cancel: &CancellationToken,
) -> Result<String, Failure> {
    let remember = chosen_preferences::needs_memory(&edits.store).await?;
    let what = "everything".to_owned();
    let asked = ForgetRequest { what: &what, cancel };
    let Some(gone) = carry_out(edits, plans, &remember, Forget::everything(), asked).await? else {
        return Ok(nothing());
    };
    let mut answer = summary(&what, &gone);
    for (key, value) in chosen_preferences::configured_preferences(&edits.workspace.config) {
        answer.push_str(&configured(&key, &value));
    }
    Ok(answer)
}

fn nothing() -> String {
    "nothing was forgotten".to_owned()
}

fn configured(key: &str, value: &str) -> String {
    format!("\nYour configuration still has preferences.{key} = “{value}”; change it there.")
}

/// The text to forget, in the user's words, and the way to stop it.
#[derive(Clone, Copy)]
struct ForgetRequest<'a> {
    what: &'a str,
    cancel: &'a CancellationToken,
}

/// `None` where the user wants nothing forgotten.
async fn carry_out(
    edits: &EditService,
    plans: &PlanService,
    remember: &Arc<Remember>,
    mut filter: Forget,
    asked: ForgetRequest<'_>,
) -> Result<Option<Forgotten>, Failure> {
    let known = filter.clone();
    // Entries that are still being written would be there after the forgetting.
    remember.written().await;
    let costs = remember.run(move |memory| memory.forget_costs(&known)).await.map_err(|error| failure(&error))?;
    let durable = open_store::durable(&edits.store).await;
    let busy = |cost: &Cost| {
        let own = |owner: &String| durable.as_ref().is_some_and(|durable| owner == durable.owner().name());
        let alive = |owner: &String| durable.as_ref().is_some_and(|durable| durable.owner().is_alive(owner));
        cost.owner.as_ref().is_some_and(|owner| !own(owner) && alive(owner))
    };
    filter.keep = costs.iter().filter(|cost| busy(cost)).map(|cost| cost.task.clone()).collect();
    let dear: Vec<&Cost> = costs.iter().filter(|cost| !busy(cost) && is_dear(cost)).collect();
    if !dear.is_empty() {
        match ask(&edits.approvals, asked, &dear).await? {
            Choice::Nothing => return Ok(None),
            Choice::Keep => filter.keep.extend(dear.iter().map(|cost| cost.task.clone())),
            Choice::Lose => {}
        }
    }
    if asked.cancel.is_cancelled() {
        return Err(Failure::cancelled().without_change());
    }
    let wanted = filter.clone();
    let gone = remember.run(move |memory| memory.forget(&wanted)).await.map_err(|error| failure(&error))?;
    forget_here(edits, plans, &filter, &gone).await;
    Ok(Some(gone))
}

/// True if the task can be undone or resumed.
fn is_dear(cost: &Cost) -> bool {
    let over = [phase_name(Phase::Completed), phase_name(Phase::Error), ""];
    cost.checkpoints.contains_key(EDIT) || !over.contains(&cost.phase.as_str())
}

async fn ask(approvals: &Approvals, asked: ForgetRequest<'_>, dear: &[&Cost]) -> Result<Choice, Failure> {
    let ForgetRequest { what, cancel } = asked;
    let named: Vec<String> = dear.iter().take(NAMED).map(|cost| format!("“{}”", short(&cost.request, 60))).collect();
    let more = if dear.len() > NAMED { ", …" } else { "" };
    let (count, named) = (dear.len(), format!("{}{more}", named.join(", ")));
    let text = format!("Forgetting {what} also takes what undo and resume need of {count} task(s): {named}. What now?");
    let options = [
        "forget it there too: these cannot be undone any more".to_owned(),
        "keep these tasks and forget the rest".to_owned(),
        "forget nothing".to_owned(),
    ];
    let answer = tokio::select! {
        answer = questions::ask_user(approvals, UserQuestion::of(QuestionKind::Forget, &text, &options)) => answer?,
        () = cancel.cancelled() => return Err(Failure::cancelled().without_change()),
    };
    Ok(match answer.choice() {
        1 => Choice::Lose,
        2 => Choice::Keep,
        _ => Choice::Nothing,
    })
}

/// Drops the same entries from this process, which would write them down again.
async fn forget_here(edits: &EditService, plans: &PlanService, filter: &Forget, gone: &Forgotten) {
    let is_gone = |task: &String| gone.record.task_names.contains(task);
    edits.history.lock().await.retain(|journal| !is_gone(&journal.task));
    let mut plan = plans.waiting.lock().await;
    if plan.as_ref().is_some_and(|(_, task)| is_gone(&task.work.journal.task)) {
        *plan = None;
    }
    drop(plan);
    if filter.everything || filter.text.is_some() {
        edits.hub.events.forget_past();
    }
    stored_review::forget(&edits.store, filter).await;
    let trace = edits.store.trace.page().to_lowercase();
    if filter.everything || filter.text.as_ref().is_some_and(|text| trace.contains(&text.to_lowercase())) {
        edits.store.trace.forget();
    }
}

/// The text that lists what went by kind, and what stays and why.
fn summary(what: &str, gone: &Forgotten) -> String {
    let mut lines = vec![format!("{what}: {gone}.")];
    let preference = "preference".to_owned();
    lines.extend(gone.preferences.iter().map(|key| format!("- {preference} {key}")));
    lines.extend(gone.shown.iter().map(|text| format!("- {text}")));
    let more = gone.entry_count().saturating_sub(gone.shown.len());
    if more > 0 {
        lines.push(format!("- {}", counted(more, "more entry")));
    }
    let undone = gone.record.task_names.len();
    if undone > 0 {
        lines.push(format!("Tasks that cannot be undone or resumed any more: {undone}."));
    }
    if !gone.record.kept.is_empty() {
        let count = gone.record.kept.len();
        lines.push(format!(
            "Kept, for their undo or since another process works on them: {count} task(s); these may hold it."
        ));
    }
    lines.join("\n")
}
