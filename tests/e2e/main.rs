//! End-to-end tests: the real programs, and fakes where a program cannot be made to misbehave.

// A test reports by panicking, in its support code too, and tells its figures to whoever asks with --nocapture.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod allowed;
mod chat;
mod cli;
mod closed;
mod commands;
mod compact;
mod conformance;
mod consent;
mod demo;
mod diff;
mod doctor;
mod durable;
mod endless;
mod engine;
mod extremes;
mod headless;
mod helix;
mod honest;
mod known;
mod languages;
mod learning;
mod lengthy;
mod loading;
mod log;
mod lsp_proxy;
mod mcp;
mod meeting;
mod memory;
mod model;
mod names;
mod narrowed;
mod nvim;
mod outages;
mod plans;
mod reach;
mod record;
mod requests;
mod rpc;
mod rpc_wire;
mod saves;
mod secrets;
mod servers;
mod slow;
mod staged;
mod stopped;
mod support;
mod tasks;
mod terminal;
mod unread;
mod verdict;
