//! What names no place or concerns every workspace: which of them a command is about, and their end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::door::{Ask, Door, Open};
use crate::lua_messages::CommandPlace;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_engine::api::{Command, Event, PlanMode, Target, UndoRequest, is_stop, plan_change};

impl Door {
    /// Whether a request asks to stop what is running; then it is stopped.
    pub(super) fn is_stop(&self, json: &str) -> bool {
        serde_json::from_str::<Ask>(json).is_ok_and(|ask| is_stop(&ask.text)) && self.stop()
    }

    /// The workspace whose `root` a command names, as the plan window does; else that of the last command.
    pub(super) fn meant(&self, json: &str) -> Option<Arc<Open>> {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        let Some(root) = given["root"].as_str().map(Path::new) else {
            return lock(&self.current).clone();
        };
        let open = lock(&self.open);
        open.iter().find(|open| open.root == root).cloned()
    }

    /// What a request wants changed in the plan that waits, wherever the cursor is.
    pub(super) fn change(&self, json: &str) -> Option<String> {
        let Ask { text, .. } = serde_json::from_str(json).ok()?;
        let waits = self.meant(json)?.session.has_plan();
        plan_change(&text).filter(|_| waits).map(str::to_owned)
    }

    /// The folder that Neovim was started in.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.ready.get().map(|ready| ready.cwd.clone()).unwrap_or_default()
    }

    /// Has a command carried out in the workspace that is meant; where there is none, says `otherwise`.
    pub(super) fn start_current(self: &Arc<Self>, json: &str, otherwise: &str, command: Command) {
        match self.meant(json) {
            Some(open) => self.submit(&open, command),
            None => self.refuse(Failure::user(otherwise, ":AgentAsk or :AgentPlan starts something")),
        }
    }

    /// Has a command carried out where the user stands; where that is in no file, in the workspace of the last command.
    pub(super) fn start_here(self: &Arc<Self>, json: &str, command: Command) {
        let known = if stands_in_file(json) { None } else { lock(&self.current).clone() };
        match known.map_or_else(|| self.open_here(json), Ok) {
            Ok(open) => self.submit(&open, command),
            Err(failure) => self.refuse(failure),
        }
    }

    fn open_here(&self, json: &str) -> Result<Arc<Open>, Failure> {
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

    /// How plans are carried out from now on, in every workspace.
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

    /// Shows what led to what in a task; without a name in the last one, or in the one that runs. Beside whatever
    /// runs.
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
                Err(failure) => Event::Refused { failure },
            });
        });
    }

    /// The sessions end with Neovim.
    pub(super) async fn close(&self) {
        let open: Vec<Arc<Open>> = lock(&self.open).clone();
        for open in open {
            open.session.close().await;
        }
    }
}

/// What is to be taken back, as `:AgentUndo` was given it.
pub(super) fn undo_request(json: &str) -> UndoRequest {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    let (target, reason) = Target::parse_because(given["target"].as_str().unwrap_or_default());
    UndoRequest { target, partial: given["partial"].as_bool().unwrap_or(false), reason }
}

/// Whether a command comes from a file, of this project or of another one.
fn stands_in_file(json: &str) -> bool {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    let place: CommandPlace = serde_json::from_value(given["place"].clone()).unwrap_or_default();
    !place.path.is_empty() && place.buftype.is_empty()
}
