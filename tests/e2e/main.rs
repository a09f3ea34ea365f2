//! End-to-end tests: the real programs, and fakes where a program cannot be made to misbehave.

// A test reports by panicking, in its support code too, and tells its figures to whoever asks with --nocapture.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod cli;
mod commands;
mod demo;
mod diff;
mod headless;
mod model;
mod nvim;
mod servers;
mod support;
