//! JSON-RPC over a socket: the methods as traits, the server of a session, and the client of one.

pub mod api;
pub mod client;
pub mod failure;
pub mod limits;
mod methods;
pub mod neighbours;
pub mod server;
mod tcp;
