//! The one path of a change: permitted, journaled, applied, judged, and undone.

pub(crate) mod amended_task;
pub(crate) mod apply_edits;
pub(crate) mod change;
pub(crate) mod edit_guard;
pub(crate) mod edit_transaction;
pub(crate) mod file_ownership;
pub(crate) mod idempotent_edit;
mod large_files;
pub(crate) mod look_ahead;
pub(crate) mod lost_edits;
pub(crate) mod permissions;
pub(crate) mod preview;
pub(crate) mod questions;
pub(crate) mod recover;
pub(crate) mod review_before;
pub(crate) mod review_texts;
pub(crate) mod rollback;
mod runnable_texts;
pub(crate) mod shown_change;
pub(crate) mod stale_edit;
pub(crate) mod undo_effect;
pub(crate) mod undo_refusal;
pub(crate) mod workspace_lock;
