//! The workspace: its root, which paths may be touched, its files, and searching them.

pub mod files;
pub mod root;
pub mod search;
