//! Memory in one file: what was said and learned, recalled under a token budget, searched, and really forgotten.
//!
//! [`store::Memory`] is the handle; each file of this room adds the calls of its subject to it.

pub mod checkpoints;
mod damage;
pub mod entries;
pub mod entry;
pub mod error;
pub mod examine;
pub mod forget;
mod guard;
pub mod learnings;
pub mod metrics;
mod migrate;
pub mod preferences;
pub mod project;
pub mod recall;
mod schema;
pub mod search;
pub mod store;
pub mod summary;
pub mod tasks;
pub mod trace;
pub mod traces;
pub mod variables;
mod writer;
