//! `agent/*`: each a task of the agent in the session's turn, and the events as a subscription.

use jsonrpsee::core::{SubscriptionResult, async_trait};
use jsonrpsee::{PendingSubscriptionSink, SubscriptionMessage};

use crate::rpc::api::agent_api::{AgentApiServer, AnswerTaken, StopTaken, UndoPart};
use crate::rpc::methods::Served;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::commands::undo::redo::bring_back;
use sextant_engine::commands::undo::{UndoRequest, Undone, take_back};
use sextant_engine::plan::Plan;
use sextant_engine::state::outcome::Outcome;
use sextant_engine::state::request::Request;
use sextant_engine::state::undo_target::Target;

#[async_trait]
impl AgentApiServer for Served {
    async fn ask(&self, request: Request, by: Option<String>) -> Result<Outcome, CallError> {
        let what = request.text.clone();
        self.in_turn(&what, by, |agent, cancel| Box::pin(async move { agent.ask(&request, &cancel).await })).await
    }

    async fn plan(&self, request: Request, by: Option<String>) -> Result<Plan, CallError> {
        let what = request.text.clone();
        self.in_turn(&what, by, |agent, cancel| Box::pin(async move { agent.plan(&request, &cancel).await })).await
    }

    async fn answer(&self, choice: usize, by: Option<String>) -> Result<AnswerTaken, CallError> {
        // A question in the middle of a run goes before the one that a paused plan has left.
        if let Some(taken) = self.agent()?.answer_waiting(choice) {
            return Ok(taken.map(|()| AnswerTaken { outcome: None })?);
        }
        let answered = self.in_turn("the answer to a question", by, move |agent, cancel| {
            Box::pin(async move { agent.answer_question(choice, &cancel).await })
        });
        answered.await.map(|outcome| AnswerTaken { outcome: Some(outcome) })
    }

    async fn cancel(&self) -> Result<StopTaken, CallError> {
        Ok(StopTaken { stopped: self.agent()?.turn().stop() })
    }

    async fn resume(&self, approved: Option<bool>, by: Option<String>) -> Result<Outcome, CallError> {
        let approved = approved.unwrap_or_default();
        let resumed = self.in_turn("the task that waits", by, move |agent, cancel| {
            Box::pin(async move { agent.resume(approved, &cancel).await })
        });
        resumed.await
    }

    async fn undo(&self, part: Option<UndoPart>, by: Option<String>) -> Result<Undone, CallError> {
        let UndoPart { target, partial, because } = part.unwrap_or_default();
        let wish = UndoRequest { target: Target::parse(&target), partial, reason: because };
        self.in_turn("an undo", by, |agent, _| Box::pin(async move { take_back(&agent, &wish).await })).await
    }

    async fn redo(&self, by: Option<String>) -> Result<Undone, CallError> {
        self.in_turn("a redo", by, |agent, _| Box::pin(async move { bring_back(&agent).await })).await
    }

    async fn events(&self, pending: PendingSubscriptionSink, after: Option<u64>) -> SubscriptionResult {
        let agent = match self.agent() {
            Ok(agent) => agent,
            Err(failure) => {
                pending.reject(CallError::from(failure)).await;
                return Ok(());
            }
        };
        let sink = pending.accept().await?;
        // From the beginning where nothing was seen yet: what is not held any more comes as how things stand.
        let (_, mut subscription) = agent.events().subscribe(after);
        drop(agent);
        loop {
            let delivery = tokio::select! {
                delivery = subscription.next() => delivery,
                () = sink.closed() => return Ok(()),
            };
            let Some(delivery) = delivery else { return Ok(()) };
            let message = SubscriptionMessage::from(serde_json::value::to_raw_value(&delivery)?);
            if sink.send(message).await.is_err() {
                return Ok(());
            }
        }
    }
}
