//! `edit/*`: calls of tools, each beside any running task, and the way to stop one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use jsonrpsee::core::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::rpc::api::edit_api::{CallKnown, EditApiServer, ToolList};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_engine::api::{EditMade, OutsideAnswer, OutsideClient, ToolDefinition, client_tools};

/// A call that can be stopped, until this is dropped.
struct Named<'a> {
    served: &'a RpcSession,
    call: Option<String>,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            lock(&self.served.calls).remove(call);
        }
    }
}

/// Lets a call be stopped by its name; no other call may take the name.
fn named(
    calls: &mut HashMap<String, CancellationToken>,
    call: &str,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    match calls.entry(call.to_owned()) {
        Entry::Occupied(_) => {
            Err(Failure::user("a call of this name is under way", "give each call a name of its own"))
        }
        Entry::Vacant(free) => {
            free.insert(cancel.clone());
            Ok(())
        }
    }
}

#[async_trait]
impl EditApiServer for RpcSession {
    async fn tools(&self) -> Result<ToolList, CallError> {
        let tools = client_tools().filter_map(ToolDefinition::outside_spec);
        Ok(ToolList { tools: tools.collect() })
    }

    async fn call(
        &self,
        tool: String,
        arguments: Value,
        client: Option<OutsideClient>,
        call: Option<String>,
        once: Option<String>,
    ) -> Result<OutsideAnswer, CallError> {
        let agent = self.agent()?;
        let client = client.map_or_else(
            || OutsideClient::new("rpc", "another program"),
            |client| OutsideClient::new(client.id, &client.name),
        );
        let cancel = CancellationToken::new();
        if let Some(call) = &call {
            named(&mut lock(&self.calls), call, &cancel)?;
        }
        let _named = Named { served: self, call };
        self.advertised()?.used();
        Ok(agent.call(&client, &tool, arguments, once.as_deref(), &cancel).await?)
    }

    async fn made(&self, once: String) -> Result<EditMade, CallError> {
        Ok(self.agent()?.made(&once).await?)
    }

    async fn cancel_call(&self, call: String) -> Result<CallKnown, CallError> {
        let known = lock(&self.calls).get(&call).map(CancellationToken::cancel).is_some();
        Ok(CallKnown { known })
    }

    async fn leave(&self, client: OutsideClient) -> Result<CallKnown, CallError> {
        self.agent()?.client_left(&OutsideClient::new(client.id, &client.name));
        Ok(CallKnown { known: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_call_of_a_name_does_not_take_the_first_one_s_way_to_be_stopped() {
        let (mut calls, first, second) = (HashMap::new(), CancellationToken::new(), CancellationToken::new());
        named(&mut calls, "x", &first).unwrap();
        assert!(named(&mut calls, "x", &second).is_err());
        calls["x"].cancel();
        assert!(first.is_cancelled() && !second.is_cancelled());
    }
}
