//! `agent/*`: each method runs a task of the agent in the session's turn; events come as a subscription.

use jsonrpsee::core::{SubscriptionResult, async_trait};
use jsonrpsee::{PendingSubscriptionSink, SubscriptionMessage};

use crate::rpc::api::agent_api::{AgentApiServer, AnswerTaken, StopTaken, UndoPart};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{Command, Outcome, Plan, Request, Target, UndoRequest, Undone};

#[async_trait]
impl AgentApiServer for RpcSession {
    async fn ask(&self, request: Request, by: Option<String>) -> Result<Outcome, CallError> {
        Ok(self.submit(Command::Ask(request), by).await?.worked()?)
    }

    async fn plan(&self, request: Request, by: Option<String>) -> Result<Plan, CallError> {
        Ok(self.submit(Command::Plan(request), by).await?.planned()?)
    }

    async fn answer(&self, choice: usize, by: Option<String>) -> Result<AnswerTaken, CallError> {
        let answered = self.submit(Command::Answer(choice.into()), by).await?;
        // The task that waited for the answer goes on. Its outcome goes to the caller that asked for it.
        Ok(AnswerTaken { outcome: answered.worked().ok() })
    }

    async fn cancel(&self) -> Result<StopTaken, CallError> {
        Ok(StopTaken { stopped: self.agent()?.turn().stop() })
    }

    async fn resume(&self, approved: Option<bool>, by: Option<String>) -> Result<Outcome, CallError> {
        let approved = approved.unwrap_or_default();
        Ok(self.submit(Command::Resume { which: String::new(), approved }, by).await?.worked()?)
    }

    async fn undo(&self, part: Option<UndoPart>, by: Option<String>) -> Result<Undone, CallError> {
        let UndoPart { target, partial, because } = part.unwrap_or_default();
        let wish = UndoRequest { target: Target::parse(&target), partial, reason: because, ..UndoRequest::default() };
        Ok(self.submit(Command::Undo(wish), by).await?.taken_back()?)
    }

    async fn redo(&self, by: Option<String>) -> Result<Undone, CallError> {
        Ok(self.submit(Command::Redo, by).await?.taken_back()?)
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
        // Without an earlier number the stream starts at the beginning; events no longer held come as the current
        // state.
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
