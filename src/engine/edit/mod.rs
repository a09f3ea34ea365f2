//! The one way of a change: permitted, journaled, applied, judged, and taken back.

pub(crate) mod apply;
pub mod change;
pub(crate) mod elsewhere;
pub(crate) mod foresee;
pub(crate) mod guard;
pub(crate) mod lock;
pub(crate) mod lost;
pub(crate) mod making;
pub mod once;
pub mod permissions;
pub mod questions;
pub(crate) mod rebase;
pub mod recover;
pub(crate) mod rollback;
mod shown_change;
