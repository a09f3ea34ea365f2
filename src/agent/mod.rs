//! The agent: one loop from a request to a judged change, the same behind every door.

pub mod change;
pub mod config;
pub mod durable;
pub mod evaluate;
mod facts;
pub mod journal;
pub mod ledger;
mod look;
pub mod mode;
mod offers;
pub mod outcome;
pub mod plan;
pub mod remember;
pub mod request;
mod resume;
pub mod risk;
pub mod scope;
pub mod session;
mod simple;
pub mod task;
pub mod tools;
pub mod trace;
pub mod undo;
pub mod verdict;
mod weigh;
