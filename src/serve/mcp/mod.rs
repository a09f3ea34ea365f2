//! Offers the tools of a workspace to other agents, over the Model Context Protocol.

mod calls_in_flight;
pub mod http;
mod json_lines;
mod mcp_server;
pub mod mcp_workspace;
pub mod stdio;
mod tool_results;
mod unread_request;
mod workspaces;
