//! The reads that a task has already been answered.

use std::collections::BTreeMap;

use sextant_model::tools::Access;

/// The reads of a task, by tool and parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) known: BTreeMap<String, (u64, u32, String)>,
    /// True if a command was started, whose changes nobody knows.
    pub(crate) ran_command: bool,
}

impl Answered {
    /// Prepares for a call of this access: earlier reads may be old when the call does more than look.
    pub(crate) fn before(&mut self, access: Access) {
        self.ran_command |= access == Access::Run;
        if access != Access::Read {
            self.known.clear();
        }
    }
}
