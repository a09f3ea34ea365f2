//! How others reach a session of this process: where it is found, and what may be asked of it over JSON-RPC.

pub mod discovery;
pub mod rpc;
