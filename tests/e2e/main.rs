//! End-to-end tests: the real parts, against scripted neighbours.

// A test reports by panicking, in its support code too.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod model;
mod support;
