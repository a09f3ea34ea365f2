//! The waiting plan, taken out of its session while work on it runs.

use crate::plan::Plan;
use crate::state::plan_service::PlanService;
use crate::state::task::Task;

/// A plan with its task. It returns to its session when this is dropped: work that is given up while it waits for a
/// model leaves the plan as it was.
pub(crate) struct TakenPlan<'s> {
    plans: &'s PlanService,
    held: Option<(Plan, Task)>,
}

impl<'s> TakenPlan<'s> {
    /// Takes the plan; `None` where no plan waits.
    pub(crate) async fn take(plans: &'s PlanService) -> Option<Self> {
        let held = plans.waiting.lock().await.take()?;
        Some(Self { plans, held: Some(held) })
    }

    /// The plan and its task; never `None` before this is dropped.
    pub(crate) fn parts(&mut self) -> Option<(&mut Plan, &mut Task)> {
        self.held.as_mut().map(|(plan, task)| (plan, task))
    }
}

impl Drop for TakenPlan<'_> {
    fn drop(&mut self) {
        // Nobody waits with the lock held.
        match self.plans.waiting.try_lock() {
            Ok(mut waiting) => *waiting = self.held.take(),
            Err(_) => tracing::error!("a plan could not be put back: another one is there"),
        }
    }
}
