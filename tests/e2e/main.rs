//! End-to-end tests: the real parts, against scripted neighbours.

mod model;
mod support;
