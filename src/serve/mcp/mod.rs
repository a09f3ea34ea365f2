//! The tools of a workspace for other agents, over the Model Context Protocol.

mod answers;
pub mod http;
mod lines;
pub mod print_config;
mod server;
pub mod stdio;
pub mod workspace;
mod workspaces;
