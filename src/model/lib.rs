//! Models: the questions to them, their answers, and the ways to reach them.

#![deny(unreachable_pub)]

// Code that the tests of other crates include too names this one as they do.
#[cfg(test)]
extern crate self as sextant_model;

pub mod abilities;
pub mod answer;
pub mod call;
pub mod call_progress;
pub mod chat;
mod chat_request;
pub mod compact_reply;
pub mod dialect;
pub mod endpoint;
pub mod input;
pub mod mentions;
pub mod model_options;
mod model_server_facts;
pub mod offline;
pub mod partial_json;
pub mod plan_contract;
pub mod price;
pub mod prompt;
pub mod prompt_texts;
pub mod question_frame;
pub mod remote;
pub mod reply;
pub mod reply_schema;
pub mod request_kind;
pub mod retry;
pub mod sse;
pub mod step;
pub mod stream_filter;
pub mod tools;
