//! The agent: one loop from a request to a judged change, the same behind every door.

pub mod change;
pub mod config;
pub mod evaluate;
mod facts;
mod further;
pub mod journal;
pub mod ledger;
mod look;
pub mod mode;
mod modules;
mod offers;
pub mod outcome;
pub mod plan;
pub mod remember;
pub mod request;
pub mod risk;
pub mod scope;
pub mod session;
mod simple;
pub mod task;
pub mod tools;
pub mod trace;
mod undo;
pub mod verdict;
mod weigh;
