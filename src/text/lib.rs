//! Code as text and as symbols, and edits of it as data.

#![deny(unreachable_pub)]

pub mod edits;
pub mod symbols;
