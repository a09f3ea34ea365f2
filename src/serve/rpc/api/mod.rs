//! What may be asked of a session, as traits: the server and the client are made from them.

pub mod agent;
pub mod checkpoint;
pub mod diagnostics;
pub mod edit;
pub mod memory;
pub mod plan;
pub mod session;
pub mod stats;
