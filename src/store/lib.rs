//! The stored data: the files of the workspace, and the record of the work in it.

#![deny(unreachable_pub)]

pub mod memory;
pub mod workspace;
