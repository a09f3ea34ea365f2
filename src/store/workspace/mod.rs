//! The workspace: its root and its record, which paths may be touched, its files, and searching them.

pub mod beneath;
pub mod files;
pub mod importers;
mod names;
pub mod private;
pub mod record;
pub mod root;
pub mod running;
pub mod search;
pub mod secrets;
