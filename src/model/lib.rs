//! Models: what they are asked, what they answer, and the ways to reach them.

#![deny(unreachable_pub)]

// What the tests of other crates include too names this one as they do.
#[cfg(test)]
extern crate self as sextant_model;

pub mod abilities;
pub mod answer;
pub mod ask;
mod asking;
pub mod call;
pub mod chat;
pub mod compact;
pub mod contract;
pub mod dialect;
pub mod endpoint;
pub mod framing;
pub mod hearing;
pub mod input;
pub mod manner;
pub mod offline;
pub mod price;
pub mod prompt;
pub mod remote;
pub mod reply;
pub mod retry;
pub mod said;
pub mod schema;
mod server_facts;
pub mod sse;
pub mod step;
pub mod texts;
pub mod tokens;
pub mod tools;
pub mod words;
