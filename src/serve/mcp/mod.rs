//! The tools of a workspace for other agents, over the Model Context Protocol.

mod answers;
pub mod http;
mod lines;
mod server;
pub mod stdio;
pub mod workspace;
mod workspaces;
