//! `plan/*`: shows, changes and runs the waiting plan for any caller.

use jsonrpsee::core::async_trait;

use crate::rpc::api::plan_api::{PlanApiServer, PlanShown};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_engine::api::{Command, Event, Outcome, Plan, Steps};

#[async_trait]
impl PlanApiServer for RpcSession {
    async fn plan_now(&self) -> Result<PlanShown, CallError> {
        let agent = self.agent()?;
        let mut shown = PlanShown { markdown: String::new(), phase: String::new(), plan: None, question: None };
        // A running task holds the plan itself: the plan that it has shown last stands then.
        let state = agent.events().state();
        let events = if agent.turn().is_free() { agent.waiting_plan().await? } else { Vec::from_iter(state.plan) };
        for event in events {
            match event {
                Event::Plan { markdown, phase, .. } => (shown.markdown, shown.phase) = (markdown, phase),
                Event::Question { text, options, .. } => shown.question = Some((text, options)),
                _ => {}
            }
        }
        if shown.markdown.is_empty() {
            return Err(Failure::user("no plan waits here", HintCode::Plan).into());
        }
        shown.plan = agent.plan_now();
        Ok(shown)
    }

    async fn change(
        &self,
        change: Option<String>,
        markdown: Option<String>,
        by: Option<String>,
    ) -> Result<Plan, CallError> {
        let command = match (change, markdown) {
            (Some(words), None) => Command::ChangePlan(words),
            (None, Some(markdown)) => Command::WritePlan(markdown),
            _ => return Err(Failure::user("plan/set takes either change or markdown", "leave one of them out").into()),
        };
        Ok(self.submit(command, by).await?.planned()?)
    }

    async fn approve(
        &self,
        steps: Option<Steps>,
        unseen: Option<bool>,
        by: Option<String>,
    ) -> Result<Outcome, CallError> {
        let approve = Command::Approve { steps: steps.unwrap_or_default(), is_read: !unseen.unwrap_or_default() };
        Ok(self.submit(approve, by).await?.worked()?)
    }

    async fn step(&self, by: Option<String>) -> Result<Outcome, CallError> {
        self.approve(Some(Steps::One), None, by).await
    }
}
