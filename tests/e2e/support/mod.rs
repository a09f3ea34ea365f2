//! What several end-to-end tests lean on.

pub mod model_server;
