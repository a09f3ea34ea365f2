//! What a direct request asks for.

use crate::state::agent_config::PlanMode;
use crate::state::undo_target::Target;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Direct {
    /// A symbol or a file.
    Read(String),
    /// Where a symbol or a file is.
    Where(String),
    /// Where a name is used.
    Uses(String),
    /// The symbols of a file.
    Outline(String),
    /// The last task, or a part of it; why, as far as it was said.
    Undo {
        target: Target,
        reason: String,
    },
    /// What was undone last.
    Redo,
    Forget(String),
    ForgetAll,
    Remember(String),
    Recall(String),
    Learned,
    /// As the user called it.
    Mode(ModeWish),
    Why,
    Stop,
    Stats,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeWish {
    Plan(PlanMode),
    Simple,
}
