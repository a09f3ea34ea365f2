//! `edit/*`: calls of tools, each beside whatever runs, and the way to stop one.

use jsonrpsee::core::{RpcResult, async_trait};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::commands::outside::OutsideAnswer;
use crate::agent::state::outside::OutsideClient;
use crate::agent::tools;
use crate::agent::tools::tool::ToolDefinition;
use crate::base::failure::Failure;
use crate::base::lock::lock;
use crate::serve::rpc::api::edit::{CallKnown, EditApiServer, ToolList};
use crate::serve::rpc::methods::Served;

/// A call that can be stopped, until this is dropped.
struct Named<'a> {
    served: &'a Served,
    call: Option<String>,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            lock(&self.served.calls).remove(call);
        }
    }
}

#[async_trait]
impl EditApiServer for Served {
    async fn tools(&self) -> RpcResult<ToolList> {
        let tools = tools::for_clients().filter_map(ToolDefinition::outside_spec);
        Ok(ToolList { tools: tools.collect() })
    }

    async fn call(
        &self,
        tool: String,
        arguments: Value,
        client: Option<OutsideClient>,
        call: Option<String>,
    ) -> RpcResult<OutsideAnswer> {
        let agent = self.agent()?;
        let client = client.map_or_else(
            || OutsideClient::new("rpc", "another program"),
            |client| OutsideClient::new(client.id, &client.name),
        );
        let cancel = CancellationToken::new();
        if let Some(call) = &call
            && lock(&self.calls).insert(call.clone(), cancel.clone()).is_some()
        {
            return Err(Failure::user("a call of this name is under way", "give each call a name of its own").into());
        }
        let _named = Named { served: self, call };
        self.advertised()?.used();
        Ok(agent.call(&client, &tool, arguments, &cancel).await?)
    }

    async fn cancel_call(&self, call: String) -> RpcResult<CallKnown> {
        let known = lock(&self.calls).get(&call).map(CancellationToken::cancel).is_some();
        Ok(CallKnown { known })
    }

    async fn leave(&self, client: OutsideClient) -> RpcResult<CallKnown> {
        self.agent()?.client_left(&OutsideClient::new(client.id, &client.name));
        Ok(CallKnown { known: true })
    }
}
