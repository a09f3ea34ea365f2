//! The agent: one loop from a request to a judged change, the same behind every door.

mod agreement;
pub mod change;
pub mod config;
pub mod consent;
pub mod evaluate;
mod facts;
pub mod journal;
pub mod ledger;
mod look;
pub mod mode;
mod offers;
pub mod outcome;
pub mod plan;
mod prefer;
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
