//! The plan of a session: the one that waits, and the way in which the next one is carried out.

use std::sync::atomic::AtomicBool;
use std::sync::{PoisonError, RwLock};

use tokio::sync::Mutex;

use crate::plan::Plan;
use crate::plan::work_mode::Mode;
use crate::state::agent_config::PlanMode;
use crate::state::task::Task;

pub(crate) struct PlanService {
    /// The plan that waits, with its task.
    pub(crate) waiting: Mutex<Option<(Plan, Task)>>,
    /// Whether the last request led to no plan: an approval now does not mean an older plan.
    pub(crate) no_plan: AtomicBool,
    mode: RwLock<PlanMode>,
}

impl PlanService {
    pub(crate) fn new(mode: PlanMode) -> Self {
        Self { waiting: Mutex::default(), no_plan: AtomicBool::new(false), mode: RwLock::new(mode) }
    }

    /// Sets the way in which the next plan is carried out. Only the user changes it.
    pub(crate) fn set_mode(&self, mode: PlanMode) {
        *self.mode.write().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    pub(crate) fn mode(&self) -> Mode {
        (*self.mode.read().unwrap_or_else(PoisonError::into_inner)).into()
    }
}
