//! Declares the methods of a session as traits: the server and the client are made from them.

pub mod agent_api;
pub mod checkpoint_api;
pub mod diagnostics_api;
pub mod edit_api;
pub mod memory_api;
pub mod plan_api;
pub mod review_api;
pub mod session_api;
pub mod stats_api;
