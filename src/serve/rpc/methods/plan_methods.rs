//! `plan/*`: the plan that waits, shown, changed, and taken up for whoever asks.

use std::sync::Arc;

use jsonrpsee::core::async_trait;

use crate::rpc::api::plan_api::{PlanApiServer, PlanShown};
use crate::rpc::methods::Served;
use crate::rpc::rpc_failure::CallError;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;
use sextant_engine::commands::agent::Agent;
use sextant_engine::commands::turn::TurnWork;
use sextant_engine::editor::event::Event;
use sextant_engine::plan::{Plan, Steps};
use sextant_engine::planner::waiting_plan;
use sextant_engine::state::outcome::{Ending, Outcome};
use sextant_engine::state::request::Request;

#[async_trait]
impl PlanApiServer for Served {
    async fn plan_now(&self) -> Result<PlanShown, CallError> {
        let agent = self.agent()?;
        let mut shown = PlanShown { markdown: String::new(), phase: String::new(), plan: None, question: None };
        // A task that runs has the plan itself: what it has shown last stands then.
        let state = agent.events().state();
        let events =
            if agent.turn().is_free() { waiting_plan::show(&agent).await? } else { Vec::from_iter(state.plan) };
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
        if !self.agent()?.has_plan() {
            return Err(Failure::user("no plan waits here that could be changed", HintCode::Plan).into());
        }
        const WHAT: &str = "a change of the plan";
        match (change, markdown) {
            (Some(change), None) => {
                let request = Request { text: format!("change: {change}"), ..Request::default() };
                let changed = move |agent: Arc<Agent>, cancel| -> TurnWork<Plan> {
                    Box::pin(async move { agent.plan(&request, &cancel).await })
                };
                self.in_turn(WHAT, by, changed).await
            }
            (None, Some(markdown)) => {
                let written = |agent: Arc<Agent>, _| -> TurnWork<Plan> {
                    Box::pin(async move {
                        match agent.edit_plan(&markdown).await {
                            Ok((plan, events)) => Ending { result: Ok(plan), events },
                            Err(refused) => Ending { result: Err(refused.into()), events: Vec::new() },
                        }
                    })
                };
                self.in_turn(WHAT, by, written).await
            }
            _ => Err(Failure::user("plan/set takes either change or markdown", "leave one of them out").into()),
        }
    }

    async fn approve(
        &self,
        steps: Option<Steps>,
        unseen: Option<bool>,
        by: Option<String>,
    ) -> Result<Outcome, CallError> {
        let (steps, unseen) = (steps.unwrap_or_default(), unseen.unwrap_or_default());
        let approved = move |agent: Arc<Agent>, cancel| -> TurnWork<Outcome> {
            Box::pin(async move {
                match unseen {
                    true => agent.approve_unseen(steps, &cancel).await,
                    false => agent.approve(steps, &cancel).await,
                }
            })
        };
        self.in_turn("the plan", by, approved).await
    }

    async fn step(&self, by: Option<String>) -> Result<Outcome, CallError> {
        self.approve(Some(Steps::One), None, by).await
    }
}
