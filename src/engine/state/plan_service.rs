//! The plan of a session: the one that waits, and the way in which the next one is carried out.

use std::sync::atomic::AtomicBool;
use std::sync::{PoisonError, RwLock};

use tokio::sync::Mutex;

use crate::plan::work_mode::Mode;
use crate::plan::{Plan, StepState};
use crate::state::agent_config::PlanMode;
use crate::state::task::Task;

/// Most plans that are laid aside.
const ASIDE: usize = 8;

pub(crate) struct PlanService {
    /// The plan that waits, with its task.
    pub(crate) waiting: Mutex<Option<(Plan, Task)>>,
    /// Earlier plans that are stored nowhere, since there is no memory; the last one first. One that is over stays for an
    /// undo, which opens its steps again.
    pub(crate) aside: Mutex<Vec<(Plan, Task)>>,
    /// True if the last request led to no plan: an approval now does not mean an older plan.
    pub(crate) no_plan: AtomicBool,
    mode: RwLock<PlanMode>,
}

impl PlanService {
    pub(crate) fn new(mode: PlanMode) -> Self {
        Self {
            waiting: Mutex::default(),
            aside: Mutex::default(),
            no_plan: AtomicBool::new(false),
            mode: RwLock::new(mode),
        }
    }

    /// Makes this the plan that waits. Another one stays in the memory, or is laid aside.
    pub(crate) async fn put(&self, plan: Plan, task: Task) {
        self.lay_aside().await;
        *self.waiting.lock().await = Some((plan, task));
    }

    /// Lets no plan wait for an approval. The one that did can be chosen again.
    pub(crate) async fn lay_aside(&self) {
        let Some((plan, task)) = self.waiting.lock().await.take() else { return };
        if task.keep.revision.is_none() && (is_open(&plan) || !task.work.journal.is_empty()) {
            let mut aside = self.aside.lock().await;
            aside.insert(0, (plan, task));
            while aside.len() > ASIDE {
                let over = aside.iter().rposition(|(plan, _)| !is_open(plan));
                let oldest = over.unwrap_or(aside.len() - 1);
                aside.remove(oldest);
            }
        }
    }

    /// Makes a plan that was laid aside the one that waits; false where there is no such plan.
    pub(crate) async fn bring_forward(&self, task: &str) -> bool {
        let is_it = |known: &(Plan, Task)| known.1.work.journal.task == task;
        if self.waiting.lock().await.as_ref().is_some_and(is_it) {
            return true;
        }
        let mut aside = self.aside.lock().await;
        let Some(place) = aside.iter().position(is_it) else { return false };
        let (plan, task) = aside.remove(place);
        drop(aside);
        self.put(plan, task).await;
        true
    }

    /// Sets the way in which the next plan is carried out. Only the user changes it.
    pub(crate) fn set_mode(&self, mode: PlanMode) {
        *self.mode.write().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    pub(crate) fn mode(&self) -> Mode {
        (*self.mode.read().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

fn is_open(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| step.state == StepState::Open)
}
