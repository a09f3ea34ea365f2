//! What a door may ask of the agent: one method a wish, nothing of how it is done.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::commands::client_call::{self, OutsideAnswer};
use crate::commands::edit_plan::PlanRefused;
use crate::commands::turn::TaskTurn;
use crate::commands::undo::{self, redo};
use crate::commands::{ask, forget, remember, resume};
use crate::edit::once::{self, EditMade};
use crate::edit::questions::UserQuestion;
use crate::edit::{edit_transaction, questions, recover};
use crate::editor::Editor;
use crate::editor::event::{Event, QuestionKind, QuickfixEntry};
use crate::memory::{self, statistics};
use crate::plan::{Plan, Steps};
use crate::planner::replan;
use crate::run::{finish, listed};
use crate::state::agent_config::Config;
use crate::state::neighbour_sessions::Neighbours;
use crate::state::outcome::{Ending, Outcome};
use crate::state::outside_clients::OutsideClient;
use crate::state::request::Request;
use crate::state::session::Session;
use crate::state::span;
use crate::state::undo_target::Target;
use sextant_base::failure::Failure;
use sextant_model::step::Model;
use sextant_store::workspace::root::Root;

/// One workspace with its editor and its model. Every door holds one: Neovim, the shell, a test.
pub struct Agent {
    session: Session,
    turn: Arc<TaskTurn>,
}

impl Deref for Agent {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Agent {
    pub fn new(editor: Arc<dyn Editor>, model: Arc<dyn Model>, root: Root, config: Config) -> Self {
        Self { session: Session::new(editor, model, root, config), turn: Arc::default() }
    }

    /// The same with a turn that other workspaces share.
    #[must_use]
    pub fn in_turn(self, turn: &Arc<TaskTurn>) -> Self {
        Self { turn: Arc::clone(turn), ..self }
    }

    /// Has this one ask the other sessions of its workspace before it changes files. The first ones that are given stay.
    pub fn know_neighbours(&self, neighbours: Arc<dyn Neighbours>) {
        let _ = self.session.making.neighbours.set(neighbours);
    }

    /// Where it works.
    pub fn editor(&self) -> &Arc<dyn Editor> {
        &self.session.editor
    }

    /// Whose turn it is.
    pub fn turn(&self) -> &Arc<TaskTurn> {
        &self.turn
    }

    /// Answers a request in simple mode. What is finished when it fails or is stopped is kept.
    pub async fn ask(&self, request: &Request, cancel: &CancellationToken) -> Ending<Outcome> {
        ask::ask(self, request, cancel).instrument(span::task()).await
    }

    /// Makes a plan for a request, or changes the one that is there.
    pub async fn plan(&self, request: &Request, cancel: &CancellationToken) -> Ending<Plan> {
        crate::commands::plan::plan(self, request, cancel).instrument(span::task()).await
    }

    /// Carries out the plan.
    pub async fn approve(&self, steps: Steps, cancel: &CancellationToken) -> Ending<Outcome> {
        self.approvals.plan_is_read(true);
        crate::commands::approve::approve(self, steps, cancel).instrument(span::task()).await
    }

    /// The same of a plan that nobody has read: what it names is not the user's word for files that run.
    pub async fn approve_unseen(&self, steps: Steps, cancel: &CancellationToken) -> Ending<Outcome> {
        self.approvals.plan_is_read(false);
        crate::commands::approve::approve(self, steps, cancel).instrument(span::task()).await
    }

    /// Takes a document that the user has written for the plan that waits.
    ///
    /// # Errors
    /// It has faults, each with its line, or none waits.
    pub async fn edit_plan(&self, text: &str) -> Result<(Plan, Vec<Event>), PlanRefused> {
        crate::commands::edit_plan::edit_plan(self, text).await
    }

    pub fn has_plan(&self) -> bool {
        replan::has_plan(self)
    }

    /// The plan of this session that waits; none while a task has it.
    pub fn plan_now(&self) -> Option<Plan> {
        self.plan.try_lock().ok().and_then(|plan| plan.as_ref().map(|(plan, _)| plan.clone()))
    }

    /// Shows the plan as it stands, and what came of it so far.
    pub async fn pause(&self) -> Ending<Outcome> {
        crate::planner::ending::pause(self).await
    }

    /// Answers the question that a plan waits with; `choice` counts from 0.
    pub async fn answer_question(&self, choice: usize, cancel: &CancellationToken) -> Ending<Outcome> {
        crate::commands::answer_question::answer_question(self, choice, cancel).instrument(span::task()).await
    }

    /// Goes on with what was left open, in this process or in one that ended.
    pub async fn resume(&self, approved: bool, cancel: &CancellationToken) -> Ending<Outcome> {
        // Whether anybody has read what goes on is not known.
        self.approvals.plan_is_read(false);
        resume::resume(self, approved, cancel).instrument(span::task()).await
    }

    /// Puts right what a process that was killed left half done, and tells of it.
    pub async fn recover(&self) {
        recover::recover(self).await;
    }

    /// Takes the last task back.
    pub async fn undo(&self) -> Ending<String> {
        undo::undo(self).await
    }

    pub async fn undo_part(&self, target: &Target, partial: bool) -> Ending<String> {
        undo::undo_part(self, target, partial).await
    }

    /// The same, with the reason that is kept for later work.
    pub async fn undo_because(&self, target: &Target, partial: bool, reason: &str) -> Ending<String> {
        undo::undo_because(self, target, partial, reason).await
    }

    /// Brings back what was taken back last.
    pub async fn redo(&self) -> Ending<String> {
        redo::redo(self).await
    }

    /// Carries out one call of a tool for a client outside, beside whatever runs. Its edits are a task of that client;
    /// each is whole, whenever the call is stopped.
    pub async fn call(
        self: &Arc<Self>,
        client: &OutsideClient,
        tool: &str,
        given: Value,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure> {
        client_call::call(Arc::clone(self), client.clone(), (tool.to_owned(), given), None, cancel).await
    }

    /// The same; `once` is the name of this call, under which its edit is made at most once, in whichever process.
    pub async fn call_once(
        self: &Arc<Self>,
        client: &OutsideClient,
        (tool, given): (&str, Value),
        once: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure> {
        let (agent, once) = (Arc::clone(self), once.map(str::to_owned));
        client_call::call(agent, client.clone(), (tool.to_owned(), given), once, cancel).await
    }

    /// What became of the edit of the call with this name.
    pub async fn made(&self, once: &str) -> Result<EditMade, Failure> {
        once::made(self, once).await
    }

    /// A client will not call again.
    pub fn client_left(&self, client: &OutsideClient) {
        self.outside.forget(&client.id);
    }

    /// Waits, for a moment, until no change of files is under way any more.
    pub async fn finish_edits(&self) {
        if let Err(failure) = edit_transaction::catch_up(self).await {
            tracing::warn!("{}", failure.one_line());
        }
    }

    /// Somebody is there to answer questions.
    pub fn answers_come(&self) {
        questions::answers_come(self);
    }

    /// Lets a file be changed without a question for as long as this session lasts, though something runs it.
    ///
    /// # Errors
    /// It is no file of the workspace that may be touched.
    pub fn allow_file(&self, path: &str) -> Result<(), Failure> {
        let path = self.root.resolve(path)?;
        self.approvals.allow_file(&path);
        Ok(())
    }

    /// Whoever answered is gone.
    pub fn nobody_answers(&self) {
        questions::nobody_answers(self);
    }

    pub fn is_asking(&self) -> bool {
        questions::is_asking(self)
    }

    /// Answers the question that a running task waits for; `None` where none does.
    pub fn answer_waiting(&self, choice: usize) -> Option<Result<(), Failure>> {
        questions::answer_waiting(self, choice)
    }

    pub fn open_question(&self, events: &mut Vec<Event>) -> Option<(String, Vec<String>)> {
        questions::open_question(self, events)
    }

    /// Asks what a plan waits with.
    pub async fn ask_user(&self, text: &str, options: &[String]) -> Result<usize, Failure> {
        questions::ask_user(self, UserQuestion::of(QuestionKind::Plan, text, options)).await
    }

    /// Amends the list of the last task with what was answered after its end.
    pub async fn amend(&self) {
        listed::amend(self).await;
    }

    /// What the task that runs has introduced so far, as far as it is known; `None` where it has changed nothing.
    pub async fn introduced_so_far(&self, task: &str) -> Option<Vec<QuickfixEntry>> {
        finish::introduced_so_far(self, task).await
    }

    pub async fn statistics(&self) -> Result<String, Failure> {
        statistics::statistics(self).await
    }

    /// What was learned from corrections, and what is preferred.
    pub async fn learned(&self) -> Result<String, Failure> {
        remember::learned(self).await
    }

    pub async fn prefer(&self, text: &str) -> Result<String, Failure> {
        remember::prefer(self, text).await
    }

    pub async fn recall_about(&self, text: &str) -> Result<String, Failure> {
        remember::recall_about(self, text).await
    }

    pub async fn forget(&self, text: &str, cancel: &CancellationToken) -> Result<String, Failure> {
        forget::forget(self, text, cancel).await
    }

    /// Ends the short term of memory.
    pub async fn close(&self) {
        memory::close(self).await;
    }
}
