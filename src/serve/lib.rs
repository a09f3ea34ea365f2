//! How others reach a session: where it is found, what may be asked of it over JSON-RPC, and the tools for other agents.

#![deny(unreachable_pub)]

pub mod discovery;
pub mod mcp;
pub mod rpc;
mod waiting_peers;
