//! What is kept: the files of the workspace, and the record of what was done in it.

#![deny(unreachable_pub)]

pub mod memory;
pub mod workspace;
