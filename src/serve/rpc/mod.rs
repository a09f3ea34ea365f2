//! JSON-RPC over a socket: the methods as traits, the server of a session, and the client of one.

pub mod api;
pub mod limits;
mod methods;
pub mod neighbour_calls;
pub mod rpc_client;
pub mod rpc_failure;
pub mod rpc_server;
mod tcp;
