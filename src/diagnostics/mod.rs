//! Diagnostics: the model, what a report may claim, and which diagnostics a change introduced.

pub mod batch;
pub mod delta;
pub mod model;
pub mod server;
