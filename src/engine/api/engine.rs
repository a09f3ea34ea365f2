//! Holds a session as its doors see it: the requests that it takes, without the way they are carried out.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::api::late_outcomes;
use crate::api::turn::{Origin, TaskTurn, TurnHeld};
use crate::commands::client_call::{self, OutsideAnswer};
use crate::commands::edit_plan::{self, EditedPlan, PlanRefused};
use crate::commands::locate_name::{self, LocatedName};
use crate::commands::review_changes::{self, ReviewRequest, ReviewState};
use crate::commands::undo::list::History;
use crate::commands::undo::undo_lines::{self, StandingChange};
use crate::commands::undo::{self, UndoRequest, Undone, redo};
use crate::commands::{ask, changed_text, forget, remember};
use crate::durable::stored_traces::{self, Traced};
use crate::edit::idempotent_edit::{self, EditMade};
use crate::edit::questions::UserQuestion;
use crate::edit::{edit_transaction, questions, recover};
use crate::editor::Editor;
use crate::editor::event::{Event, QuestionKind, QuickfixEntry};
use crate::events::envelope::TraceEntry;
use crate::events::stream::EventStream;
use crate::memory::{self, statistics};
use crate::plan::{Plan, StepState, Steps};
use crate::planner::{replan, waiting_plan};
use crate::run::{finish, quickfix_lists};
use crate::state::agent_config::{Config, PlanMode};
use crate::state::approvals::UserAnswer;
use crate::state::neighbour_sessions::Neighbours;
use crate::state::outcome::{Ending, Outcome};
use crate::state::outside_clients::OutsideClient;
use crate::state::request::Request;
use crate::state::session::Session;
use crate::state::span;
use crate::state::undo_target::Target;
use sextant_base::failure::Failure;
use sextant_model::step::Model;
use sextant_store::memory::trace_store::TracedTask;
use sextant_store::workspace::record_folder::Record;
use sextant_store::workspace::root::Root;

/// One workspace with its editor and its model. Every door holds one: Neovim, the shell, a test. It is made inside of a
/// Tokio runtime.
pub struct Engine {
    session: Arc<Session>,
    turn: Arc<TaskTurn>,
}

impl Engine {
    pub fn new(editor: Arc<dyn Editor>, model: Arc<dyn Model>, root: Root, config: Config) -> Self {
        Self::in_turn(editor, model, root, config, Arc::default())
    }

    /// The same with a turn that other workspaces share.
    pub fn in_turn(
        editor: Arc<dyn Editor>,
        model: Arc<dyn Model>,
        root: Root,
        config: Config,
        turn: Arc<TaskTurn>,
    ) -> Self {
        let session = Arc::new(Session::new(editor, model, root, config));
        tokio::spawn(late_outcomes::follow(&session, Arc::clone(&turn)));
        Self { session, turn }
    }

    /// Makes this engine ask the other sessions of its workspace before it changes files. The first neighbours that are
    /// given stay.
    pub fn know_neighbours(&self, neighbours: Arc<dyn Neighbours>) {
        let _ = self.session.edits.making.neighbours.set(neighbours);
    }

    /// The editor that it works in.
    pub fn editor(&self) -> &Arc<dyn Editor> {
        &self.session.workspace.editor
    }

    pub fn root(&self) -> &Root {
        &self.session.workspace.root
    }

    pub fn config(&self) -> &Config {
        &self.session.workspace.config
    }

    /// The record of this workspace; `None` where there is no state folder.
    pub fn record(&self) -> Option<Record> {
        self.session.store.record.clone()
    }

    /// Shows an event to every subscriber of the session.
    pub fn emit(&self, event: Event) {
        self.session.events.show(event);
    }

    /// The events of this session, from any point on.
    pub fn events(&self) -> &EventStream {
        &self.session.events
    }

    /// How the next plan is carried out. Only the user changes it.
    pub fn set_mode(&self, mode: PlanMode) {
        self.session.plans.set_mode(mode);
    }

    pub fn model_name(&self) -> &str {
        self.session.model.name()
    }

    /// The causes and effects in the last task, in order.
    pub fn trace(&self) -> Vec<TraceEntry> {
        self.session.store.trace.entries()
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Takes the turn for a door's own work.
    ///
    /// # Errors
    /// The turn is taken; the error names the task, its origin and how long it has run.
    pub fn begin(&self, what: &str, origin: Origin) -> Result<TurnHeld, Failure> {
        self.turn.begin(self.root().path(), what, origin)
    }

    /// The turn, with the task that has it.
    pub fn turn(&self) -> &Arc<TaskTurn> {
        &self.turn
    }

    /// Answers a request in simple mode. Finished work is kept when the request fails or is stopped.
    pub async fn ask(&self, request: &Request, cancel: &CancellationToken) -> Ending<Outcome> {
        ask::ask(&self.session, request, cancel).instrument(span::task()).await
    }

    /// Makes a plan for a request, or changes the present one.
    pub async fn plan(&self, request: &Request, cancel: &CancellationToken) -> Ending<Plan> {
        crate::commands::plan::plan(&self.session, request, cancel).instrument(span::task()).await
    }

    /// Carries out the plan.
    pub async fn approve(&self, steps: Steps, cancel: &CancellationToken) -> Ending<Outcome> {
        self.session.approvals.plan_is_read(true);
        crate::commands::approve::approve(&self.session, steps, cancel).instrument(span::task()).await
    }

    /// The same for a plan that no user has read: its names are no permission to change files that run.
    pub async fn approve_unseen(&self, steps: Steps, cancel: &CancellationToken) -> Ending<Outcome> {
        self.session.approvals.plan_is_read(false);
        crate::commands::approve::approve(&self.session, steps, cancel).instrument(span::task()).await
    }

    /// Takes a document that the user has written for the plan that waits.
    ///
    /// # Errors
    /// The document has faults, each with its line, or no plan waits.
    pub async fn edit_plan(&self, text: &str, base: Option<&str>) -> Result<EditedPlan, PlanRefused> {
        edit_plan::edit_plan(&self.session.edits, &self.session.plans, text, base).await
    }

    /// Skips an open step of the plan that waits, or opens one that failed or was skipped. Steps are counted from 1.
    ///
    /// # Errors
    /// No such step has this number, another step needs the skipped one, or no plan waits.
    pub async fn mark_step(&self, number: usize, mark: StepState) -> Result<EditedPlan, PlanRefused> {
        edit_plan::mark_step(&self.session.edits, &self.session.plans, number, mark).await
    }

    /// Changes the plan that waits, by the user's words.
    pub async fn change_plan(&self, words: &str, cancel: &CancellationToken) -> Ending<Plan> {
        crate::commands::plan::change(&self.session, words, cancel).instrument(span::task()).await
    }

    pub fn has_plan(&self) -> bool {
        replan::has_plan(&self.session.plans)
    }

    /// The plan of this session that waits; `None` while a task has it.
    pub fn plan_now(&self) -> Option<Plan> {
        self.session.plans.waiting.try_lock().ok().and_then(|plan| plan.as_ref().map(|(plan, _)| plan.clone()))
    }

    /// Shows the plan as it stands, with its results so far.
    pub async fn pause(&self) -> Ending<Outcome> {
        crate::planner::ending::pause(&self.session).await
    }

    /// Answers the question that a plan waits with.
    pub async fn answer_question(&self, answer: impl Into<UserAnswer>, cancel: &CancellationToken) -> Ending<Outcome> {
        let answered = crate::commands::answer_question::answer_question(&self.session, answer.into(), cancel);
        answered.instrument(span::task()).await
    }

    /// Resumes the work that was left open, in this process or in one that ended.
    pub async fn resume(&self, approved: bool, cancel: &CancellationToken) -> Ending<Outcome> {
        self.resume_chosen("", approved, cancel).await
    }

    /// Repairs the half-done work of a process that was killed, and reports it.
    pub async fn recover(&self) {
        recover::recover(&self.session.edits).await;
    }

    /// Takes back the standing changes of the last task, or a part of them.
    pub async fn take_back(&self, wish: &UndoRequest) -> Ending<Undone> {
        undo::take_back(&self.session.edits, &self.session.plans, wish).await
    }

    /// Takes back one task after the other, down to this one.
    pub async fn take_back_to(&self, task: &str, cancel: &CancellationToken) -> Ending<Vec<Undone>> {
        undo::take_back_to(&self.session.edits, &self.session.plans, task, cancel).await
    }

    /// Brings back the last undo.
    pub async fn bring_back(&self) -> Ending<Undone> {
        redo::bring_back(&self.session.edits, &self.session.plans).await
    }

    /// Shows the changes that wait for the user's review, or carries out a decision on them, beside a running task.
    ///
    /// # Errors
    /// The change is not there any more, was edited since, or the editor refuses the edit.
    pub async fn review(&self, wish: &ReviewRequest) -> Result<ReviewState, Failure> {
        let state = review_changes::review(&self.session.edits, self.session.plans.mode(), wish).await?;
        if !state.summary.is_empty() {
            let session = Arc::clone(&self.session);
            let files = wish.scope.files(&state);
            tokio::spawn(async move { quickfix_lists::look_again(&session.edits, "", &files).await });
        }
        Ok(state)
    }

    /// The place of a name that a reader points at: `FILE::SYMBOL`, `FILE:LINE`, a file, or a unique symbol.
    ///
    /// # Errors
    /// No file and no single symbol has this name.
    pub async fn locate(&self, name: &str) -> Result<LocatedName, Failure> {
        locate_name::locate(&self.session.workspace, name).await
    }

    /// The changes of a task (the last one for `None`), or of a part of it, as one diff of all its files.
    ///
    /// # Errors
    /// No task has changed anything, the texts of this one are gone, or the part changed nothing.
    pub async fn changed_text(&self, task: Option<&str>, part: &Target) -> Result<String, Failure> {
        changed_text::changed_text(&self.session.edits, task, part).await
    }

    /// The request that hands the user's remarks of the review to the agent.
    ///
    /// # Errors
    /// No remark waits.
    pub async fn hand_over_review(&self) -> Result<Request, Failure> {
        review_changes::hand_over(&self.session.edits).await
    }

    /// The tasks of this workspace, and the parts of them that were taken back.
    pub async fn history(&self) -> Result<History, Failure> {
        undo::list::history(&self.session.edits, &self.session.plans).await
    }

    /// The single changes of the last task that stand.
    pub async fn standing_changes(&self) -> Result<Vec<StandingChange>, Failure> {
        undo_lines::standing_changes(&self.session.edits).await
    }

    /// The symbols that the same task has changed.
    pub async fn standing_symbols(&self) -> Result<Vec<String>, Failure> {
        undo_lines::standing_symbols(&self.session.edits).await
    }

    /// The tasks whose traces are kept.
    pub async fn traces(&self) -> Result<Vec<TracedTask>, Failure> {
        stored_traces::list(&self.session.store).await
    }

    /// The trace of a task: by its number or name, or of the last one for an empty word.
    pub async fn traced(&self, which: &str) -> Result<Traced, Failure> {
        stored_traces::find(&self.session.store, which).await
    }

    /// The events that show the plan that waits, of this process or of one before it. The plan is not taken up.
    pub async fn waiting_plan(&self) -> Result<Vec<Event>, Failure> {
        waiting_plan::show(&self.session.edits, &self.session.plans).await
    }

    /// Carries out one call of a tool for a client outside, beside the running command. Its edits are a task of that
    /// client; each is whole, whenever the call is stopped. An edit is made at most once under the name `once`, in any
    /// process.
    pub async fn call(
        &self,
        client: &OutsideClient,
        tool: &str,
        given: Value,
        once: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure> {
        let (agent, once) = (Arc::clone(&self.session), once.map(str::to_owned));
        client_call::call(agent, client.clone(), tool.to_owned(), given, once, cancel).await
    }

    /// The state of the edit of the call with this name.
    pub async fn made(&self, once: &str) -> Result<EditMade, Failure> {
        idempotent_edit::made(&self.session.edits, once).await
    }

    /// Notes that a client will not call again.
    pub fn client_left(&self, client: &OutsideClient) {
        self.session.outside.forget(&client.id);
    }

    /// Waits, for a moment, until no change of files is under way.
    pub async fn finish_edits(&self) {
        if let Err(failure) = edit_transaction::catch_up(&self.session.edits, &self.session.plans).await {
            tracing::warn!("{}", failure.one_line());
        }
    }

    /// Notes that a user is there to answer questions.
    pub fn answers_come(&self) {
        questions::answers_come(&self.session.approvals);
    }

    /// Lets a file be changed without a question for as long as this session lasts, even though something runs it.
    ///
    /// # Errors
    /// It is not a file of the workspace that may be touched.
    pub fn allow_file(&self, path: &str) -> Result<(), Failure> {
        let path = self.session.workspace.root.resolve(path)?;
        self.session.approvals.allow_file(&path);
        Ok(())
    }

    /// Notes that the user who answered is gone.
    pub fn nobody_answers(&self) {
        questions::nobody_answers(&self.session.approvals);
    }

    pub fn is_asking(&self) -> bool {
        questions::is_asking(&self.session.approvals)
    }

    /// Answers the question that a running task waits for; `None` where there is no such question.
    pub fn answer_waiting(&self, answer: impl Into<UserAnswer>) -> Option<Result<(), Failure>> {
        questions::answer_waiting(&self.session.approvals, answer.into())
    }

    pub fn open_question(&self, events: &mut Vec<Event>) -> Option<(String, Vec<String>)> {
        questions::open_question(&self.session.approvals, events)
    }

    /// Asks the user the question that a plan waits with.
    pub async fn ask_user(&self, text: &str, options: &[String]) -> Result<UserAnswer, Failure> {
        questions::ask_user(&self.session.approvals, UserQuestion::of(QuestionKind::Plan, text, options)).await
    }

    /// The known diagnostics that the running task has introduced so far; `None` where it has changed nothing.
    pub async fn introduced_so_far(&self, task: &str) -> Option<Vec<QuickfixEntry>> {
        finish::introduced_so_far(&self.session.edits, task).await
    }

    pub async fn statistics(&self) -> Result<String, Failure> {
        statistics::statistics(&self.session.store).await
    }

    /// The learned corrections, and the user's preferences.
    pub async fn learned(&self) -> Result<String, Failure> {
        remember::learned(&self.session.store, &self.session.workspace.root).await
    }

    pub async fn recall_about(&self, text: &str) -> Result<String, Failure> {
        remember::recall_about(&self.session.store, text).await.map(|(text, _)| text)
    }

    pub async fn forget(&self, text: &str, cancel: &CancellationToken) -> Result<String, Failure> {
        forget::forget(&self.session.edits, &self.session.plans, text, cancel).await
    }

    /// Ends the short term of memory.
    pub async fn close(&self) {
        memory::close(&self.session.store).await;
    }
}
