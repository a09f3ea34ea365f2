//! The reads that a task was answered already.

use std::collections::BTreeMap;

/// The reads of a task, by tool and parameters.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    pub(crate) known: BTreeMap<String, (u64, u32, String)>,
    /// Whether a command was started, of which nobody knows what it has changed.
    pub(crate) ran_command: bool,
}
