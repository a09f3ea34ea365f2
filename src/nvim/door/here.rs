//! Commands that name no place or concern every workspace: which workspace each is about, and the end of all.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::door::{GivenRequest, NvimDoor, UsedWorkspace};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_engine::api::{Command, Event, PlanMode, Target, UndoRequest, UserAnswer, is_stop, plan_change};

#[derive(Debug, Deserialize)]
struct ModeArguments {
    mode: PlanMode,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnswerArguments {
    words: Option<String>,
    /// The number of an option.
    choice: usize,
}

impl NvimDoor {
    /// True if a request asks to stop the running task; if so, the task is stopped.
    pub(super) fn is_stop(&self, given: &GivenRequest) -> bool {
        is_stop(&given.text) && self.stop()
    }

    /// True if a request is for the running task; if so, its model reads it.
    pub(super) fn is_steered(&self, given: &GivenRequest) -> bool {
        given.is_set("steer") && self.request(given, true).is_ok_and(|(open, request)| self.steer(&open, request))
    }

    /// The workspace whose `root` a command names, as the plan window does; else that of the last command.
    pub(crate) fn meant(&self, given: &GivenRequest) -> Option<Arc<UsedWorkspace>> {
        let Some(root) = &given.root else { return lock(&self.current).clone() };
        let known = lock(&self.open).iter().find(|open| open.root == *root).cloned();
        // The window with the root may be of a process before this one.
        let again = || self.open(&root.join(".sextant")).ok().filter(|open| open.root == *root);
        known.or_else(|| if root.is_dir() { again() } else { None })
    }

    /// The change that a request wants in the waiting plan, wherever the cursor is.
    pub(super) fn change(&self, given: &GivenRequest) -> Option<String> {
        let waits = self.meant(given)?.session.has_plan();
        plan_change(&given.text).filter(|_| waits).map(str::to_owned)
    }

    /// Carries a command out in the workspace that is meant; without one, refuses with `otherwise`.
    pub(super) fn start_current(self: &Arc<Self>, given: &GivenRequest, otherwise: &str, command: Command) {
        match self.meant(given) {
            Some(open) => self.submit(&open, command),
            None => self.refuse(Failure::user(otherwise, ":AgentAsk or :AgentPlan starts something")),
        }
    }

    /// Carries a command out in the workspace of the current file, or without a file in that of the last command.
    pub(super) fn start_here(self: &Arc<Self>, given: &GivenRequest, command: Command) {
        match self.here_or_last(given) {
            Ok(open) => self.submit(&open, command),
            Err(failure) => self.refuse(failure),
        }
    }

    /// The same for a command that names its workspace by `root`, as the keys of a page do.
    pub(super) fn start_in(self: &Arc<Self>, given: &GivenRequest, command: Command) {
        match given.root.is_some() {
            true => self.start_current(given, "its workspace is not in use any more", command),
            false => self.start_here(given, command),
        }
    }

    /// The workspace of the current file, or without a file that of the last command.
    pub(super) fn here_or_last(&self, given: &GivenRequest) -> Result<Arc<UsedWorkspace>, Failure> {
        let known = if given.stands_in_file() { None } else { lock(&self.current).clone() };
        known.map_or_else(|| self.open_here(given), Ok)
    }

    /// The workspace of the current file, or without a file that of Neovim's folder.
    pub(crate) fn open_here(&self, given: &GivenRequest) -> Result<Arc<UsedWorkspace>, Failure> {
        let folder = self.greeted()?.cwd.join(".");
        self.open(if given.stands_in_file() { Path::new(&given.place.path) } else { &folder })
    }

    /// Sets the mode in which plans are carried out from now on, in every workspace.
    pub(super) fn set_mode(&self, given: &GivenRequest) {
        match given.own::<ModeArguments>() {
            Ok(ModeArguments { mode }) => {
                *lock(&self.mode) = Some(mode);
                for open in lock(&self.open).iter() {
                    open.session.set_mode(mode);
                }
            }
            Err(failure) => tracing::warn!(%failure, "an unknown mode was dropped"),
        }
    }

    /// Shows the causes and effects in a task. Without a name, this is the running task, or the last one. It runs
    /// beside any task.
    pub(super) fn trace(self: &Arc<Self>, given: &GivenRequest) {
        let which = given.word("task").to_owned();
        let open = self.meant(given).map_or_else(|| self.open_here(given), Ok);
        let door = Arc::clone(self);
        tokio::spawn(async move {
            let open = match open {
                Ok(open) => open,
                Err(failure) => return door.refuse(failure),
            };
            open.session.recover().await;
            open.session.emit(match open.session.traced(&which).await {
                Ok(found) => Event::Trace { markdown: found.markdown() },
                Err(failure) => Event::refused(failure),
            });
        });
    }

    /// Ends the sessions with Neovim.
    pub(super) async fn close(&self) {
        let open: Vec<Arc<UsedWorkspace>> = lock(&self.open).clone();
        for open in open {
            open.session.close().await;
        }
    }
}

/// The scope of the undo, from the arguments of `:AgentUndo`.
pub(super) fn undo_request(given: &GivenRequest) -> UndoRequest {
    let (target, reason) = Target::parse_because(given.word("target"));
    let of = Some(given.word("task")).filter(|task| !task.is_empty()).map(str::to_owned);
    UndoRequest { target, partial: given.is_set("partial"), reason, of, ..UndoRequest::default() }
}

/// The answer of `:AgentAnswer` or of a key: the number of an option, or words.
pub(super) fn answer(given: &GivenRequest) -> UserAnswer {
    let AnswerArguments { words, choice } = given.own().unwrap_or_default();
    words.map_or(UserAnswer::Option(choice), UserAnswer::Words)
}
