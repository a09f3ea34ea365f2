//! Lists the direct requests that a text can make.

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
    /// The last task, or a part of it, with the reason where the user gave one.
    Undo {
        target: Target,
        reason: String,
    },
    /// The last undo.
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

impl Direct {
    /// The name that it looks up in the project.
    pub(crate) fn searched_name(&self) -> Option<&str> {
        match self {
            Self::Read(name) | Self::Where(name) | Self::Uses(name) | Self::Outline(name) => Some(name),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeWish {
    Plan(PlanMode),
    Simple,
}
