//! Serves editors that speak LSP alone (Helix): a proxy before each of their language servers, and one engine behind.
//!
//! The engine holds the session of a workspace for all its proxies.

#![deny(unreachable_pub)]

pub mod engine;
pub mod link;
mod message_line;
pub mod proxy;
mod proxy_sockets;
