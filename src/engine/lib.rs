//! The agent: one loop from a request to a judged change, the same behind every door.

#![deny(unreachable_pub)]

pub mod commands;
pub mod diagnostics;
pub mod durable;
pub mod edit;
pub mod editor;
pub mod events;
pub mod memory;
pub mod plan;
pub mod planner;
pub mod run;
pub mod state;
pub(crate) mod step_executors;
pub(crate) mod target;
pub mod task_budget;
pub mod tools;
