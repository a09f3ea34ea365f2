//! Finds the replaced code of an edit: the code between two statements that stand, before it and after it.

use std::ops::Range;

use crate::delta::index_pairs::Matching;
use crate::delta::side::{NONE, Side};

/// The unchanged statements around each statement, by their numbers after the edit. Two statements with the same pair
/// belong to the same replacement.
pub(super) struct Replacements {
    pub(super) before: Vec<(u32, u32)>,
    pub(super) after: Vec<(u32, u32)>,
}

/// Finds the replacements. A statement stands if its text is unchanged.
pub(super) fn find(old: &Side<'_>, new: &Side<'_>, units: &Matching) -> Replacements {
    let stands = |before: u32, after: u32| old.units[before as usize].key == new.units[after as usize].key;
    let of_before = |unit: u32| Some(units.after(unit)).filter(|after| *after != NONE && stands(unit, *after));
    let of_after = |unit: u32| {
        let before = units.before(unit);
        Some(unit).filter(|_| before != NONE && stands(before, unit))
    };
    let around = |files: Vec<Range<usize>>, count: usize, stands: &dyn Fn(u32) -> Option<u32>| {
        let mut out = vec![(NONE, NONE); count];
        for units in files {
            let mut last = NONE;
            for unit in units.clone() {
                out[unit].0 = last;
                last = stands(unit as u32).unwrap_or(last);
            }
            let mut next = NONE;
            for unit in units.rev() {
                out[unit].1 = next;
                next = stands(unit as u32).unwrap_or(next);
            }
        }
        out
    };
    let files = |side: &Side<'_>| side.files.iter().map(|file| file.units.clone()).collect();
    Replacements {
        before: around(files(old), old.units.len(), &of_before),
        after: around(files(new), new.units.len(), &of_after),
    }
}
