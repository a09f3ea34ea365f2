//! Lets other programs reach a session: its discovery, its methods over JSON-RPC, and the tools for other agents.

#![deny(unreachable_pub)]

pub mod discovery;
mod json_values;
pub mod mcp;
pub mod rpc;
mod waiting_peers;
