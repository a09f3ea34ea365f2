//! What the end-to-end tests share.

pub mod engine;
pub mod helix_client;
pub mod link_client;
pub mod mcp;
pub mod model_server;
pub mod nvim;
pub mod project;
pub mod replies;
pub mod screen;
pub mod scripted;
pub mod servers;
pub mod undo;
pub mod wires;
