//! A one-to-one pairing of two index ranges, readable from both ends.

use crate::delta::side::NONE;

#[derive(Debug)]
pub(super) struct Matching {
    to: Vec<u32>,
    from: Vec<u32>,
}

impl Matching {
    pub(super) fn new(before: usize, after: usize) -> Self {
        Self { to: vec![NONE; before], from: vec![NONE; after] }
    }

    /// Pairs two indices that are both free; returns whether they were.
    pub(super) fn pair(&mut self, before: u32, after: u32) -> bool {
        let free = self.free(before, after);
        if free {
            self.to[before as usize] = after;
            self.from[after as usize] = before;
        }
        free
    }

    pub(super) fn free(&self, before: u32, after: u32) -> bool {
        self.to[before as usize] == NONE && self.from[after as usize] == NONE
    }

    /// The partner of a before-index, [`NONE`] without one (or for [`NONE`]).
    pub(super) fn after(&self, before: u32) -> u32 {
        self.to.get(before as usize).copied().unwrap_or(NONE)
    }

    /// The partner of an after-index, [`NONE`] without one (or for [`NONE`]).
    pub(super) fn before(&self, after: u32) -> u32 {
        self.from.get(after as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.to.iter().enumerate().filter(|(_, a)| **a != NONE).map(|(b, a)| (b as u32, *a))
    }
}
