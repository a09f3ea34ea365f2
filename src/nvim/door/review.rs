//! What Neovim asks beside a running task: the review with its decisions, the code that a name means, conversations.

use std::sync::Arc;

use serde::Deserialize;

use crate::door::{GivenRequest, NvimDoor, UsedWorkspace};
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::{Command, Event, LocatedName, ReviewAction, ReviewRequest};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReviewParams {
    /// True if the user asks for the review, which opens then.
    open: bool,
    /// Hands the user's remarks to the agent.
    hand_over: bool,
    wish: ReviewRequest,
}

impl NvimDoor {
    /// Shows the review of the workspace that is meant, or carries out a decision.
    pub(super) fn review(self: &Arc<Self>, given: &GivenRequest) {
        let wanted: ReviewParams = match given.own() {
            Ok(wanted) => wanted,
            Err(failure) => return self.refuse(failure),
        };
        let known = given.root.as_ref().and_then(|_| self.meant(given));
        let open = match known.map_or_else(|| self.open_here(given), Ok) {
            Ok(open) => open,
            Err(failure) => return self.refuse(failure),
        };
        let door = Arc::clone(self);
        tokio::spawn(async move {
            if wanted.hand_over {
                return door.hand_over(&open).await;
            }
            if wanted.wish.action == ReviewAction::Show && wanted.open {
                open.session.recover().await;
            }
            let shown = open.session.review(&wanted.wish).await;
            let state = shown.and_then(|state| {
                serde_json::to_value(state)
                    .map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))
            });
            open.session.emit(match state {
                Ok(state) => Event::Review { state, open: wanted.open },
                Err(failure) => Event::refused(failure),
            });
        });
    }

    /// Finds the code that a name in a window of Sextant's means.
    pub(super) fn locate(self: &Arc<Self>, given: &GivenRequest) {
        let name = given.word("name").to_owned();
        self.look(given, move |open| async move {
            let LocatedName { path, line, column } = open.session.locate(&name).await?;
            Ok(Event::Place { path, line, column, pointed: true })
        });
    }

    /// Lists the conversations of the workspace that is meant.
    pub(super) fn log(self: &Arc<Self>, given: &GivenRequest) {
        let words = given.word("words").to_owned();
        self.look(given, move |open| async move {
            let conversations = open.session.conversations(&words).await?;
            Ok(Event::Log { words, conversations })
        });
    }

    /// Opens a conversation again.
    pub(super) fn reopen(self: &Arc<Self>, given: &GivenRequest) {
        let id = given.word("id").to_owned();
        self.look(given, move |open| async move {
            Ok(Event::Conversation { exchanges: open.session.reopen_conversation(&id).await? })
        });
    }

    /// Looks something up beside a running task, in the workspace that is meant, and shows what was found.
    fn look<F>(self: &Arc<Self>, given: &GivenRequest, find: impl FnOnce(Arc<UsedWorkspace>) -> F + Send + 'static)
    where
        F: Future<Output = Result<Event, Failure>> + Send + 'static,
    {
        let open = match self.meant(given).map_or_else(|| self.open_here(given), Ok) {
            Ok(open) => open,
            Err(failure) => return self.refuse(failure),
        };
        tokio::spawn(async move {
            let found = find(Arc::clone(&open)).await;
            open.session.emit(found.unwrap_or_else(Event::refused));
        });
    }

    async fn hand_over(self: &Arc<Self>, open: &Arc<UsedWorkspace>) {
        match open.session.hand_over_review().await {
            Ok(request) => self.submit(open, Command::Ask(request)),
            Err(failure) => open.session.emit(Event::refused(failure)),
        }
    }
}
