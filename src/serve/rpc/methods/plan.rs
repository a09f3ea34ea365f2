//! `plan/*`: the plan that waits, shown, changed, and taken up for whoever asks.

use jsonrpsee::core::{RpcResult, async_trait};

use crate::agent::plan::{Plan, Steps};
use crate::agent::planner::waiting;
use crate::agent::state::outcome::Outcome;
use crate::agent::state::request::Request;
use crate::base::failure::Failure;
use crate::base::hint::HintCode;
use crate::editor::event::Event;
use crate::serve::rpc::api::plan::{PlanApiServer, PlanShown};
use crate::serve::rpc::methods::Served;

#[async_trait]
impl PlanApiServer for Served {
    async fn plan_now(&self) -> RpcResult<PlanShown> {
        let agent = self.agent()?;
        let mut shown = PlanShown { markdown: String::new(), phase: String::new(), plan: None, question: None };
        // A task that runs has the plan itself: what it has shown last stands then.
        let state = agent.events().state();
        let events = if agent.turn().is_free() { waiting::show(&agent).await? } else { Vec::from_iter(state.plan) };
        for event in events {
            match event {
                Event::Plan { markdown, phase, .. } => (shown.markdown, shown.phase) = (markdown, phase),
                Event::Question { text, options } => shown.question = Some((text, options)),
                _ => {}
            }
        }
        if shown.markdown.is_empty() {
            return Err(Failure::user("no plan waits here", HintCode::Plan).into());
        }
        shown.plan = agent.plan_now();
        Ok(shown)
    }

    async fn change(&self, change: String, by: Option<String>) -> RpcResult<Plan> {
        let request = Request { text: format!("change: {change}"), ..Request::default() };
        if !self.agent()?.has_plan() {
            return Err(Failure::user("no plan waits here that could be changed", HintCode::Plan).into());
        }
        let changed = self.in_turn("a change of the plan", by, |agent, cancel| {
            Box::pin(async move { agent.plan(&request, &cancel).await })
        });
        changed.await
    }

    async fn approve(&self, steps: Option<Steps>, by: Option<String>) -> RpcResult<Outcome> {
        let steps = steps.unwrap_or_default();
        let approved = self
            .in_turn("the plan", by, move |agent, cancel| Box::pin(async move { agent.approve(steps, &cancel).await }));
        approved.await
    }

    async fn step(&self, by: Option<String>) -> RpcResult<Outcome> {
        self.approve(Some(Steps::One), by).await
    }
}
