//! Memory in one file: what was said and learned, recalled under a token budget, searched, and really forgotten.

mod damage;
pub mod entries;
pub mod entry;
pub mod error;
mod migrate;
pub mod recall;
pub mod search;
pub mod store;
pub mod variables;
mod writer;
