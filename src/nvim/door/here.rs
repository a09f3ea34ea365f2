//! What names no place or concerns every workspace: which of them a command is about, and their end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::door::{Ask, Door, Open, Running};
use crate::lua_messages::CommandPlace;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_engine::commands::agent::Agent;
use sextant_engine::commands::intents;
use sextant_engine::commands::undo::redo::bring_back;
use sextant_engine::commands::undo::{UndoRequest, take_back};
use sextant_engine::durable::stored_traces;
use sextant_engine::editor::event::Event;
use sextant_engine::planner::{replan, waiting_plan};
use sextant_engine::state::agent_config::PlanMode;
use sextant_engine::state::request::Request;
use sextant_engine::state::undo_target::Target;

impl Door {
    /// Whether a request asks to stop what is running; then it is stopped.
    pub(super) fn is_stop(&self, json: &str) -> bool {
        serde_json::from_str::<Ask>(json).is_ok_and(|ask| intents::is_stop(&ask.text)) && self.stop()
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

    /// A request that is about the plan that waits, wherever the cursor is.
    pub(super) fn change(&self, json: &str) -> Option<Request> {
        let Ask { text, .. } = serde_json::from_str(json).ok()?;
        let waits = self.meant(json)?.session.has_plan();
        (waits && replan::change(&text).is_some()).then(|| Request { text, ..Request::default() })
    }

    /// The folder that Neovim was started in.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.ready.get().map(|ready| ready.cwd.clone()).unwrap_or_default()
    }

    /// Runs a task in the workspace that is meant; where there is none, says `otherwise`.
    pub(super) fn start_current(
        self: &Arc<Self>,
        json: &str,
        otherwise: &str,
        what: &str,
        run: impl FnOnce(Arc<Agent>, CancellationToken) -> Running + Send + 'static,
    ) {
        match self.meant(json) {
            Some(open) => self.spawn(&open, what, run),
            None => self.refuse(Failure::user(otherwise, ":AgentAsk or :AgentPlan starts something")),
        }
    }

    /// Runs a task where the user stands; where that is in no file, in the workspace of the last command.
    pub(super) fn start_here(
        self: &Arc<Self>,
        json: &str,
        what: &str,
        run: impl FnOnce(Arc<Agent>, CancellationToken) -> Running + Send + 'static,
    ) {
        let known = if stands_in_file(json) { None } else { lock(&self.current).clone() };
        let open = known.map_or_else(|| self.open_here(json), Ok);
        match open {
            Ok(open) => self.spawn(&open, what, run),
            Err(failure) => self.refuse(failure),
        }
    }

    /// Takes back what stands of the last task, or a part of it.
    pub(super) fn undo(self: &Arc<Self>, json: &str) {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        let (target, reason) = Target::parse_because(given["target"].as_str().unwrap_or_default());
        let partial = given["partial"].as_bool().unwrap_or(false);
        let request = UndoRequest { target, partial, reason };
        self.start_here(json, "an undo", move |session, _cancel| {
            Box::pin(async move { take_back(&session, &request).await.events })
        });
    }

    /// Brings back what was undone last.
    pub(super) fn redo(self: &Arc<Self>, json: &str) {
        self.start_here(json, "a redo", |session, _cancel| Box::pin(async move { bring_back(&session).await.events }));
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

    /// Shows the plan that waits where the user stands, without taking it up.
    pub(super) fn show_plan(self: &Arc<Self>, json: &str) {
        self.start_here(json, "a look at the plan", |session, _cancel| {
            Box::pin(async move {
                waiting_plan::show(&session).await.unwrap_or_else(|failure| vec![Event::Refused { failure }])
            })
        });
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
            open.session.emit(match stored_traces::find(&open.session, &which).await {
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

/// Whether a command comes from a file, of this project or of another one.
fn stands_in_file(json: &str) -> bool {
    let given = serde_json::from_str::<Value>(json).unwrap_or_default();
    let place: CommandPlace = serde_json::from_value(given["place"].clone()).unwrap_or_default();
    !place.path.is_empty() && place.buftype.is_empty()
}
