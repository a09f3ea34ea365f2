//! What may be asked of a session, as traits: the server and the client are made from them.

pub mod agent;
pub mod plan;
pub mod session;
