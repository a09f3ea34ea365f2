//! Commands that name no place or concern every workspace: which workspace each is about, and the end of all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::door::{AskParams, NvimDoor, UsedWorkspace};
use crate::lua_messages::CommandPlace;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_engine::api::{Command, Event, PlanMode, Target, UndoRequest, UserAnswer, is_stop, plan_change};

impl NvimDoor {
    /// True if a request asks to stop the running task; if so, the task is stopped.
    pub(super) fn is_stop(&self, json: &str) -> bool {
        serde_json::from_str::<AskParams>(json).is_ok_and(|ask| is_stop(&ask.text)) && self.stop()
    }

    /// True if a request is for the running task; if so, its model reads it.
    pub(super) fn is_steered(&self, json: &str) -> bool {
        let steers = serde_json::from_str::<Value>(json).is_ok_and(|given| given["steer"] == true);
        steers && self.request(json, true).is_ok_and(|(open, request)| self.steer(&open, request))
    }

    /// The workspace whose `root` a command names, as the plan window does; else that of the last command.
    pub(crate) fn meant(&self, json: &str) -> Option<Arc<UsedWorkspace>> {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        let Some(root) = given["root"].as_str().map(Path::new) else {
            return lock(&self.current).clone();
        };
        let open = lock(&self.open);
        open.iter().find(|open| open.root == root).cloned()
    }

    /// The change that a request wants in the waiting plan, wherever the cursor is.
    pub(super) fn change(&self, json: &str) -> Option<String> {
        let AskParams { text, .. } = serde_json::from_str(json).ok()?;
        let waits = self.meant(json)?.session.has_plan();
        plan_change(&text).filter(|_| waits).map(str::to_owned)
    }

    /// The folder that Neovim was started in.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.ready.get().map(|ready| ready.cwd.clone()).unwrap_or_default()
    }

    /// Carries a command out in the workspace that is meant; without one, refuses with `otherwise`.
    pub(super) fn start_current(self: &Arc<Self>, json: &str, otherwise: &str, command: Command) {
        match self.meant(json) {
            Some(open) => self.submit(&open, command),
            None => self.refuse(Failure::user(otherwise, ":AgentAsk or :AgentPlan starts something")),
        }
    }

    /// Carries a command out in the workspace of the current file, or without a file in that of the last command.
    pub(super) fn start_here(self: &Arc<Self>, json: &str, command: Command) {
        match self.here_or_last(json) {
            Ok(open) => self.submit(&open, command),
            Err(failure) => self.refuse(failure),
        }
    }

    /// The same for a command that names its workspace by `root`, as the keys of a page do.
    pub(super) fn start_in(self: &Arc<Self>, json: &str, command: Command) {
        match serde_json::from_str::<Value>(json).is_ok_and(|given| given["root"].is_string()) {
            true => self.start_current(json, "its workspace is not in use any more", command),
            false => self.start_here(json, command),
        }
    }

    /// The workspace of the current file, or without a file that of the last command.
    pub(super) fn here_or_last(&self, json: &str) -> Result<Arc<UsedWorkspace>, Failure> {
        let known = if stands_in_file(json) { None } else { lock(&self.current).clone() };
        known.map_or_else(|| self.open_here(json), Ok)
    }

    pub(super) fn open_here(&self, json: &str) -> Result<Arc<UsedWorkspace>, Failure> {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        let place: CommandPlace = serde_json::from_value(given["place"].clone()).unwrap_or_default();
        let ready = self
            .ready
            .get()
            .ok_or_else(|| Failure::new(FailureKind::Internal, "no greeting came", "start Neovim again"))?;
        if place.path.is_empty() || !place.buftype.is_empty() {
            return self.open(&ready.cwd.join("."));
        }
        self.open(Path::new(&place.path))
    }

    /// Sets the mode in which plans are carried out from now on, in every workspace.
    pub(super) fn set_mode(&self, json: &str) {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        match serde_json::from_value::<PlanMode>(given["mode"].clone()) {
            Ok(mode) => {
                *lock(&self.mode) = Some(mode);
                for open in lock(&self.open).iter() {
                    open.session.set_mode(mode);
                }
            }
            Err(error) => tracing::warn!(%error, "a mode that is none was dropped"),
        }
    }

    /// Shows the causes and effects in a task. Without a name, this is the running task, or the last one. It runs
    /// beside any task.
    pub(super) fn trace(self: &Arc<Self>, json: &str) {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        let which = given["task"].as_str().unwrap_or_default().to_owned();
        let known = self.meant(json);
        let open = known.map_or_else(|| self.open_here(json), Ok);
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

/// The number, name or words of something that waits.
pub(super) fn which(json: &str) -> String {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    given["which"].as_str().unwrap_or_default().to_owned()
}

/// The scope of the undo, from the arguments of `:AgentUndo`.
pub(super) fn undo_request(json: &str) -> UndoRequest {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    let (target, reason) = Target::parse_because(given["target"].as_str().unwrap_or_default());
    UndoRequest { target, partial: given["partial"].as_bool().unwrap_or(false), reason, ..UndoRequest::default() }
}

/// The answer of `:AgentAnswer` or of a key: the number of an option, or words.
pub(super) fn answer(json: &str) -> UserAnswer {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    match given["words"].as_str() {
        Some(words) => UserAnswer::Words(words.to_owned()),
        None => UserAnswer::Option(given["choice"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0)),
    }
}

/// True if a command comes from a file, of this project or of another one.
fn stands_in_file(json: &str) -> bool {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    let place: CommandPlace = serde_json::from_value(given["place"].clone()).unwrap_or_default();
    !place.path.is_empty() && place.buftype.is_empty()
}
