//! `review/*`: the agent's changes that wait for the user, and the user's decisions on them.

use jsonrpsee::proc_macros::rpc;

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{ReviewAction, ReviewScope, ReviewState};

#[rpc(server, client, namespace = "review", namespace_separator = "/")]
pub trait ReviewApi {
    /// The changes that wait, by file and hunk, with the diagnostics that they introduced. Changes of every client are
    /// in it.
    /// Example: `{}`
    #[method(name = "get", param_kind = map)]
    async fn reviewed(&self) -> Result<ReviewState, CallError>;

    /// Decides on changes: `accept`, `reject` (with a `reason` that the agent hears), `bring_back` to take the
    /// last decision back, or `note`. `scope` is `"all"`, or one file, symbol or hunk. Only on the user's own word.
    /// Example: `{"action": "reject", "scope": {"file": "src/shop/cart.py"}, "reason": "keep the old rounding"}`
    #[method(name = "decide", param_kind = map)]
    async fn decide(
        &self,
        action: ReviewAction,
        scope: Option<ReviewScope>,
        reason: Option<String>,
    ) -> Result<ReviewState, CallError>;
}
