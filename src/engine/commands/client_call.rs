//! Runs one call of a tool for a client outside, as a task of that client. The call passes the gate and the one way of
//! an edit.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::diagnostics::{collect_diagnostics, look_before, reached};
use crate::durable::{self, open_store, stack, stored_review, stored_traces};
use crate::edit::idempotent_edit::{self, EditMade};
use crate::edit::{edit_transaction, recover};
use crate::editor::event::Event;
use crate::events::envelope::TaskEvent;
use crate::plan::work_mode::Mode;
use crate::run::{finish, quickfix_lists};
use crate::state::answer_status::Status;
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::OWN_CANCEL;
use crate::state::edit_answer::EditAnswer;
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::outside_clients::{ClientWork, OutsideClient};
use crate::state::plan_service::PlanService;
use crate::state::review::review_store::ReviewStore;
use crate::state::session::Session;
use crate::state::task::{Task, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::undo_target::standing;
use crate::state::{span, stop};
use crate::tools::tool::ToolCall;
use crate::tools::tool_answer::ToolAnswer;
use crate::tools::validate_call;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_base::one_line::clean;
use sextant_base::secrets::mask;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::tools::Access;

/// Number of edits of a client after which the surplus of the past is removed.
const CLEANED: usize = 16;

/// Outcome of a call: the same facts as text and, for an edit, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutsideAnswer {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Carries out a call in a task of its own. An edit is thereby whole and entered even when the caller goes away.
/// Dropping this future ends the waits of the call.
pub(crate) async fn call(
    session: Arc<Session>,
    client: OutsideClient,
    tool: String,
    given: Value,
    once: Option<String>,
    cancel: &CancellationToken,
) -> Result<OutsideAnswer, Failure> {
    once.as_deref().map_or(Ok(()), idempotent_edit::check)?;
    let own = cancel.child_token();
    let ends = own.clone().drop_guard();
    let (sender, receiver) = oneshot::channel();
    let span = span::tool(&tool);
    let work = async move {
        let read = validate_call::call_outside(&tool, &given);
        // The texts are part of the parsed call.
        drop(given);
        let own = session.hub.cancelled();
        match read {
            Ok(read) if read.access() == Access::Edit => {
                edit(&session, &client, &tool, read, once, &own, sender).await;
            }
            read => {
                let file = read.as_ref().ok().and_then(ToolCall::only_file);
                let looked = look(&session, &client, &tool, read, &own).await;
                let ahead = looked.is_ok();
                let _ = sender.send(with_review(&session.store.review, &session.outside.of(&client.id), looked).await);
                if let Some(file) = file.filter(|_| ahead) {
                    look_ahead(&session, &file).await;
                }
            }
        }
    };
    tokio::spawn(OWN_CANCEL.scope(own, work).instrument(span));
    let broke_down =
        |_| Failure::new(FailureKind::Internal, "the call broke down", "try again; the log has the details");
    let answer = receiver.await.map_err(broke_down)?;
    // The caller must not end the work that is still to do for the next call.
    ends.disarm();
    answer
}

/// Adds what the user has said in the review about the client's changes. It is said once.
async fn with_review(
    review: &ReviewStore,
    work: &ClientWork,
    answer: Result<OutsideAnswer, Failure>,
) -> Result<OutsideAnswer, Failure> {
    let notes = if answer.is_ok() { review.take_notes_on(|file| work.has_changed(file)) } else { Vec::new() };
    if !notes.is_empty() {
        stored_review::save(review).await;
    }
    let said = notes.iter().map(|note| format!("review: {}", mask(&note.line())));
    answer.map(|answer| said.fold(answer, |answer, line| answer.with_note(Some(line))))
}

fn words(answer: ToolAnswer) -> OutsideAnswer {
    let data = answer.edit.as_ref().map(EditAnswer::data);
    OutsideAnswer { text: mask(&answer.text).into_owned(), data }
}

fn masked(failure: Failure) -> Failure {
    Failure {
        message: mask(&failure.message).into_owned(),
        hint: mask(failure.hint.text()).into_owned().into(),
        ..failure
    }
}

/// Carries out a call that changes nothing. It gets no task and waits for no other call.
async fn look(
    session: &Session,
    client: &OutsideClient,
    tool: &str,
    call: Result<ToolCall, Failure>,
    cancel: &CancellationToken,
) -> Result<OutsideAnswer, Failure> {
    let mut own = new_task(client);
    let work = session.outside.of(&client.id);
    let before = lock(&work.seen).clone();
    own.work.seen.clone_from(&before);
    let ran = stop::unless_stopped(&session.edits.making, cancel, async {
        validate_call::gate(&session.workspace, &session.approvals, &own.work, tool, call)
            .await?
            .run(&session.edits, session.model.as_ref(), &mut own.work)
            .await
    });
    let answer = ran.await.and_then(|ran| ran);
    lock(&work.seen).take(own.work.seen, &before);
    answer.map(words).map_err(masked)
}

/// Learns the reports of a file that a client has read: its edits have little time to wait for them.
async fn look_ahead(session: &Session, file: &str) {
    if !session.workspace.config.diagnostics.on_edit {
        return;
    }
    let Ok(path) = session.workspace.root.resolve(file) else { return };
    let looked = async {
        let _turn = session.outside.ahead.lock().await;
        let Ok(document) = session.workspace.editor.read(&path).await else { return };
        let deadline = Deadline::after_ms(session.workspace.config.diagnostics.start_timeout_ms);
        look_before::ensure_baseline(&session.hub, &[document], &[], deadline).await;
    };
    // No caller has asked for this look: a stop of the call does not stop it.
    OWN_CANCEL.scope(CancellationToken::new(), looked).await;
}

fn new_task(client: &OutsideClient) -> Task {
    let mut task = Task::new(&format!("edits of {}", client.name), Mode::Simple, None, Scope::Workspace);
    task.work.intent.client = Some(client.name.clone());
    task.work.intent.read_only = false;
    task
}

async fn edit(
    session: &Session,
    client: &OutsideClient,
    tool: &str,
    call: ToolCall,
    once: Option<String>,
    cancel: &CancellationToken,
    sender: oneshot::Sender<Result<OutsideAnswer, Failure>>,
) {
    let work = session.outside.of(&client.id);
    let Some(mut slot) = cancel.run_until_cancelled(work.task.lock()).await else {
        let _ = sender.send(Err(Failure::cancelled().without_change()));
        return;
    };
    recover::recover_quietly(&session.edits).await;
    let is_new = match current(&session.edits, &session.plans, &work, client, &mut slot).await {
        Ok(is_new) => is_new,
        Err(failure) => {
            let _ = sender.send(Err(failure));
            return;
        }
    };
    let Some(task) = slot.as_mut() else { return };
    if let Some(again) = again(&session.edits, once.as_deref(), call.only_file()).await {
        let _ = sender.send(again);
        return;
    }
    task.work.intent.once = once;
    let mark = task.work.journal.checkpoints.len();
    task.work.step = u32::try_from(mark).unwrap_or(u32::MAX).saturating_add(1);
    let seen = lock(&work.seen).clone();
    task.work.seen.clone_from(&seen);
    let about = format!("{tool} {}", call.subject().shown());
    let ran = stop::unless_stopped(&session.edits.making, cancel, async {
        let call = validate_call::gate(&session.workspace, &session.approvals, &task.work, tool, Ok(call)).await?;
        if is_new {
            durable::keep_outside(&session.store, task, false).await;
        }
        collect_diagnostics::let_go(&session.hub).await;
        call.run(&session.edits, session.model.as_ref(), &mut task.work).await
    })
    .await
    .and_then(|ran| ran);
    enter(&session.edits, &task.work.journal, mark).await;
    reached::bound(&session.hub).await;
    let now_seen = std::mem::take(&mut task.work.seen);
    lock(&work.seen).take(now_seen, &seen);
    let is_changed = task.work.journal.checkpoints.len() > mark;
    let ran = answered(&session.store, ran, is_changed);
    let came_of_it = trace(task, client, &about, &ran);
    let ran = with_review(&session.store.review, &work, ran).await;
    work.note_changed(task.work.journal.files());
    let _ = sender.send(ran);
    if is_changed {
        durable::keep_outside(&session.store, task, mark % CLEANED == CLEANED - 1).await;
        show(&session.edits, &mut task.work, format!("{}: {came_of_it}", client.name)).await;
    }
    stored_traces::keep(&session.store).await;
}

/// The answer of an edit; the first one after the record was set aside names that.
fn answered(store: &TaskStore, ran: Result<ToolAnswer, Failure>, is_changed: bool) -> Result<OutsideAnswer, Failure> {
    let failed = |failure| if is_changed { masked(failure) } else { masked(failure).without_change() };
    let aside = || store.memory.get()?.as_ref()?.take_aside();
    Ok(words(ran.map_err(failed)?).with_note(aside()))
}

/// The answer of a call whose edit was made before, so that it is not made a second time. `None` where it was not made.
async fn again(
    edits: &EditService,
    once: Option<&str>,
    file: Option<String>,
) -> Option<Result<OutsideAnswer, Failure>> {
    match idempotent_edit::made(edits, once?).await {
        Ok(known) if known.made && file.as_ref().is_some_and(|file| !known.files.contains(file)) => {
            let (made, wanted) = (known.files.join(", "), file.unwrap_or_default());
            let message = format!("this value of `once` names an edit of {made}, and this one is of {wanted}");
            Some(Err(Failure::user(message, "give each edit a random name of its own, a UUID for one")))
        }
        Ok(known) if known.made => Some(Ok(OutsideAnswer::of_made(&known))),
        Ok(_) => None,
        // Nothing is kept here: this process would know of the edit.
        Err(_) if open_store::durable(&edits.store).await.is_none() => None,
        Err(failure) => Some(Err(failure)),
    }
}

impl OutsideAnswer {
    fn with_note(mut self, note: Option<String>) -> Self {
        let Some(note) = note else { return self };
        self.text = format!("{}\n{note}", self.text);
        if let Some(Value::Object(data)) = &mut self.data
            && let Some(notes) = data.entry("notes").or_insert_with(|| json!([])).as_array_mut()
        {
            notes.push(json!(note));
        }
        self
    }

    /// The answer for an edit that was made, but whose own answer did not arrive.
    pub fn of_made(known: &EditMade) -> Self {
        let EditMade { checkpoint, files, lost, .. } = known;
        let stands = if lost.is_empty() {
            String::new()
        } else {
            format!(" It is not in {} any more: its buffer was not saved, or it was taken back.", lost.join(", "))
        };
        let text = format!(
            "made already, as {checkpoint}: {}; it was not made again.{stands} What it introduced is not known here.",
            files.join(", ")
        );
        let data = json!({
            "ok": lost.is_empty(), "path": files.first(), "symbols": [], "checkpoint": checkpoint, "saved": lost.is_empty(),
            "new_diagnostics": [], "diagnostics_status": Status::Unavailable, "fixed": 0, "unchanged": 0,
            "made_before": true, "lost": lost,
        });
        Self { text, data: Some(data) }
    }
}

/// Finds the task that the next edit of a client belongs to; also returns whether it has just begun.
async fn current(
    edits: &EditService,
    plans: &PlanService,
    work: &ClientWork,
    client: &OutsideClient,
    slot: &mut Option<Task>,
) -> Result<bool, Failure> {
    if let Some(task) = slot.as_mut() {
        if edits.making.left().iter().any(|begun| begun.task == task.work.journal.task) {
            edit_transaction::catch_up(edits, plans).await?;
        }
        // An undo, or an edit that outlived a stop, may have changed it meanwhile.
        let history = edits.history.lock().await;
        let known = history.iter().find(|known| known.task == task.work.journal.task);
        if let Some(known) = known.filter(|known| !known.has_rows_of(&task.work.journal)) {
            task.work.journal = known.clone();
        }
        drop(history);
        let taken_back = !task.work.journal.is_empty() && standing(&task.work.journal).next().is_none();
        if work.goes_on(&task.work.journal) && !taken_back {
            return Ok(task.work.journal.is_empty());
        }
    }
    let mut task = new_task(client);
    task.work.events.begin_outside(&edits.hub.events, &client.name, &task.work.request);
    work.goes_on(&task.work.journal);
    *slot = Some(task);
    Ok(true)
}

/// Enters the changes of a call where an undo finds them, beside entries that an undo has made meanwhile.
async fn enter(edits: &EditService, journal: &Journal, mark: usize) {
    let Some(new) = journal.checkpoints.get(mark..).filter(|new| !new.is_empty()) else { return };
    let mut history = edits.history.lock().await;
    match history.iter_mut().find(|known| known.task == journal.task) {
        Some(known) => {
            let unknown = new.iter().filter(|row| known.checkpoints.iter().all(|known| known.id != row.id));
            let unknown: Vec<_> = unknown.cloned().collect();
            known.checkpoints.extend(unknown);
        }
        None => history.push(journal.clone()),
    }
    stack::bound(&mut history);
}

fn trace(task: &Task, client: &OutsideClient, about: &str, ran: &Result<OutsideAnswer, Failure>) -> String {
    let (failed, text) = match ran {
        Ok(answer) => ("", answer.text.clone()),
        Err(failure) => ("failed: ", failure.one_line()),
    };
    let came_of_it = clean(&text.lines().take(2).collect::<Vec<_>>().join("; "));
    let reason = format!("{failed}{came_of_it}");
    task.work.events.trace(task.work.step, Trace::new(Effect::Acted, about, &client.name, reason));
    came_of_it
}

/// Shows what was done to everyone who watches, and lists separately what the client's task has introduced.
async fn show(edits: &EditService, work: &mut TaskWork, text: String) {
    let id = work.journal.task.clone();
    let shown = |event| edits.hub.events.emit(Some(&id), TaskEvent::Shown { event });
    shown(Event::Progress { text });
    if !edits.workspace.config.diagnostics.on_edit {
        return;
    }
    let verdict = finish::known_verdict(edits, work).await;
    let new: Vec<_> = verdict.new_from(edits.workspace.config.diagnostics.severity_floor).cloned().collect();
    // A later call of the client may answer what is not known yet.
    let verdict = Verdict { pending: Vec::new(), ..verdict };
    quickfix_lists::show(&edits.hub, work, &new, &verdict).await;
}
