//! What names no place or concerns every workspace: which of them a command is about, and their end.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::config::PlanMode;
use crate::agent::session::Session;
use crate::base::failure::{Failure, Kind};
use crate::editor::event::Event;
use crate::editors::nvim::door::{Door, Open, Running};
use crate::editors::nvim::wire::Place;

impl Door {
    /// Runs a task in the workspace of the last command; where there was none, says `otherwise`.
    pub(super) fn start_current(
        self: &Arc<Self>,
        otherwise: &str,
        run: impl FnOnce(Arc<Session>, CancellationToken) -> Running + Send + 'static,
    ) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match current {
            Some(open) => self.spawn(move |cancel| run(Arc::clone(&open.session), cancel)),
            None => self
                .show(Event::Failed { failure: Failure::user(otherwise, ":AgentAsk or :AgentPlan starts something") }),
        }
    }

    /// Runs a task in the workspace of the last command, or else where the user stands.
    pub(super) fn start_here(
        self: &Arc<Self>,
        json: &str,
        run: impl FnOnce(Arc<Session>, CancellationToken) -> Running + Send + 'static,
    ) {
        let known = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let open = known.map_or_else(|| self.open_here(json), Ok);
        match open {
            Ok(open) => {
                let session = Arc::clone(&open.session);
                *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(open);
                self.spawn(move |cancel| run(session, cancel));
            }
            Err(failure) => self.show(Event::Failed { failure }),
        }
    }

    fn open_here(&self, json: &str) -> Result<Arc<Open>, Failure> {
        let given = serde_json::from_str::<Value>(json).unwrap_or_default();
        let place: Place = serde_json::from_value(given["place"].clone()).unwrap_or_default();
        let ready =
            self.ready.get().ok_or_else(|| Failure::new(Kind::Internal, "no greeting came", "start Neovim again"))?;
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
                *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = Some(mode);
                for open in self.open.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                    open.session.set_mode(mode);
                }
            }
            Err(error) => tracing::warn!(%error, "a mode that is none was dropped"),
        }
    }

    /// Shows what led to what in the last task, or in the one that runs.
    pub(super) fn trace(&self) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.show(match current {
            Some(open) => Event::Trace { markdown: open.session.trace_markdown() },
            None => {
                let failure = Failure::user("nothing was done here yet", ":AgentAsk or :AgentPlan starts something");
                Event::Failed { failure }
            }
        });
    }

    /// The sessions end with Neovim.
    pub(super) async fn close(&self) {
        let open: Vec<Arc<Open>> = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for open in open {
            open.session.close().await;
        }
    }
}
