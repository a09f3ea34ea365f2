//! The agent: one loop from a request to a judged change, the same behind every door.

#![deny(unreachable_pub)]

pub mod api;
pub(crate) mod commands;
pub(crate) mod diagnostics;
pub(crate) mod durable;
pub(crate) mod edit;
pub(crate) mod editor;
pub(crate) mod events;
pub(crate) mod memory;
pub(crate) mod plan;
pub(crate) mod planner;
pub(crate) mod run;
pub(crate) mod state;
pub(crate) mod step_executors;
pub(crate) mod symbol_search;
pub(crate) mod target;
pub(crate) mod task_budget;
pub(crate) mod tools;
