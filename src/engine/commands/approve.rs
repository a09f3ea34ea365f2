//! The approval of a plan, of this process or of one before it.

use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::commands::resume;
use crate::durable::stored_traces;
use crate::plan::Steps;
use crate::planner::{run_plan, waiting_plan};
use crate::state::outcome::{Ending, Outcome};
use crate::state::session::Session;
use crate::state::span;
use sextant_base::failure::Failure;
use sextant_base::hint::{Hint, HintCode};

/// Runs the plan that waits for approval. The finished work of a failed or stopped run is kept.
pub(crate) async fn approve(session: &Session, steps: Steps, cancel: &CancellationToken) -> Ending<Outcome> {
    let mut events = Vec::new();
    // The same key approves a plan that an earlier process has left.
    let result = if session.plans.no_plan.load(Ordering::Relaxed) {
        let hint = Hint::from(HintCode::Plan).and(HintCode::ResumeEarlier);
        Err(Failure::user("no plan came of what was asked for last, so there is none to approve", hint))
    } else if session.plans.waiting.lock().await.is_none() && waiting_plan::is_kept(&session.store).await {
        Box::pin(resume::go_on(session, "", true, steps, cancel, &mut events)).await
    } else {
        span::belongs_to_plan(&session.plans).await;
        Box::pin(run_plan::carry_out(session, steps, cancel, &mut events)).await
    };
    stored_traces::keep(&session.store).await;
    Ending::of_task(result, events)
}
