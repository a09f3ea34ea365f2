//! Limits of what memory adds to a prompt: tokens by mode, entries, and how far back they reach.

use crate::memory::entry::Mode;

/// The reach of a recall into the past: 24 hours, in milliseconds.
pub const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;

/// The most entries that one recall brings.
pub const ENTRIES: usize = 10;

/// An entry is only cut when at least so many tokens of it stay; a shorter rest has no use.
pub(super) const CUT: usize = 12;

/// The limit of a mode, in tokens.
pub fn limit(mode: Mode) -> usize {
    match mode {
        Mode::Simple => 100,
        Mode::Planner => 200,
        Mode::Supervised => 300,
    }
}
