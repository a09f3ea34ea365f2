//! Talks with the agent beside a running task: earlier conversations, and words for the task.

use crate::api::engine::Engine;
use crate::commands::ask_again::{self, AskedBefore};
use crate::commands::conversations;
use crate::commands::undo::list::{ChangingTask, UndoState};
use crate::editor::event::{Event, Exchange, LoggedConversation};
use crate::state::request::Request;
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;

impl Engine {
    /// The conversations of this workspace that hold all of these words, newest first.
    ///
    /// # Errors
    /// The memory cannot be read.
    pub async fn conversations(&self, words: &str) -> Result<Vec<LoggedConversation>, Failure> {
        conversations::list(&self.session().store, words).await
    }

    /// Makes a conversation the one that the next request may go on with.
    ///
    /// # Errors
    /// It is not kept any more.
    pub async fn reopen_conversation(&self, id: &str) -> Result<Vec<Exchange>, Failure> {
        conversations::reopen(&self.session().store, id).await
    }

    /// The request of an earlier task, with its scope and mode.
    ///
    /// # Errors
    /// It is not kept any more, or another program made it.
    pub async fn asked_before(&self, task: &str) -> Result<AskedBefore, Failure> {
        ask_again::asked_before(&self.session().store, task).await
    }

    /// The requests of the last tasks whose changes an undo can take back, newest first, each once.
    pub async fn standing_requests(&self) -> Vec<String> {
        let Ok(known) = self.history().await else { return Vec::new() };
        let stands = |task: &ChangingTask| matches!(task.state, UndoState::Stands | UndoState::Partly);
        let mut requests: Vec<String> = Vec::new();
        for task in known.tasks.iter().filter(|task| stands(task)) {
            let words = headline(&task.request);
            if !requests.contains(&words) {
                requests.push(words);
            }
        }
        requests
    }

    /// Passes the user's words to the running task, whose model reads them before its next answer.
    pub fn steer(&self, request: Request) {
        self.session().events.show(Event::Progress { text: format!("for the running task: {}", request.text) });
        self.session().store.talk.steering.add(request);
    }

    /// The words that the task has ended without reading, as requests of their own.
    pub fn take_unread(&self) -> Vec<Request> {
        self.session().store.talk.steering.take()
    }
}
