//! `checkpoint/*`: the list of what was done, and one undo after the other down to a task of it.

use jsonrpsee::core::async_trait;

use crate::rpc::api::checkpoint_api::{CheckpointApiServer, RestoredTasks};
use crate::rpc::methods::Served;
use crate::rpc::rpc_failure::CallError;
use sextant_base::failure::Failure;
use sextant_engine::commands::undo::list::{History, UndoState, history};
use sextant_engine::commands::undo::{UndoRequest, take_back};
use sextant_engine::state::outcome::Ending;

#[async_trait]
impl CheckpointApiServer for Served {
    async fn checkpoints(&self) -> Result<History, CallError> {
        let agent = self.agent()?;
        Ok(history(&agent).await?)
    }

    async fn restore(&self, task: String, by: Option<String>) -> Result<RestoredTasks, CallError> {
        let restored = self.in_turn("an undo", by, |agent, cancel| {
            Box::pin(async move {
                let (mut undone, mut events) = (Vec::new(), Vec::new());
                let result = async {
                    let known = history(&agent).await?;
                    let there = |state| matches!(state, UndoState::Stands | UndoState::Partly);
                    if !known.tasks.iter().any(|known| known.task == task && there(known.state)) {
                        let message = format!("there is no task {task:?} that could be taken back");
                        return Err(Failure::user(message, "checkpoint/list has those that can"));
                    }
                    while undone.last().is_none_or(|last: &sextant_engine::commands::undo::Undone| last.task != task) {
                        if cancel.is_cancelled() {
                            return Err(Failure::cancelled());
                        }
                        let ending = take_back(&agent, &UndoRequest::default()).await;
                        events.extend(ending.events);
                        undone.push(ending.result?);
                    }
                    Ok(())
                };
                let result = result.await;
                Ending { result: result.map(|()| RestoredTasks { undone }), events }
            })
        });
        restored.await
    }
}
