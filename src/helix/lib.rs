//! Serves editors that speak LSP alone (Helix): a proxy before each of their language servers, and behind all proxies
//! of a workspace one engine that holds the session.

#![deny(unreachable_pub)]

pub mod engine;
pub mod link;
pub mod proxy;
