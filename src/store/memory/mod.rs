//! Memory in one file: chats and learnings, recalled under a token budget, searched, and really forgotten.
//!
//! [`store::Memory`] is the handle; each file of this room adds the calls of its subject to it.

pub mod checkpoints;
mod connection_guard;
mod damage;
pub mod decision_record;
pub mod entries;
pub mod entry;
pub mod examine_file;
pub mod forget;
mod kept_words;
pub mod learnings;
pub mod memory_error;
pub mod metrics;
mod migrate;
pub mod preferences;
pub mod recall;
pub mod recall_limits;
mod schema_check;
pub mod search;
pub mod store;
pub mod summary;
pub mod tasks;
pub mod trace_store;
pub mod used_files;
pub mod variables;
mod writer;
