//! The reads that a task was answered already.

use std::collections::BTreeMap;

use sextant_model::tools::Access;

/// The reads of a task, by tool and parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) known: BTreeMap<String, (u64, u32, String)>,
    /// Whether a command was started, of which nobody knows what it has changed.
    pub(crate) ran_command: bool,
}

impl Answered {
    /// A call of this access goes ahead: what was read before may be old when it does more than look.
    pub(crate) fn before(&mut self, access: Access) {
        self.ran_command |= access == Access::Run;
        if access != Access::Read {
            self.known.clear();
        }
    }
}
