//! Undoes or redoes hunks of edits, while keeping the changes of others since. Pure functions.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::state::journal::FileChange;
use sextant_base::positions::LineIndex;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::hunks::hunks;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// One file over one edit, with the hunks to turn.
///
/// Hunks are counted from 0, in the order of the text. A file that was made or removed is one hunk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HunkTurn<'a> {
    pub change: &'a FileChange,
    /// The hunks that are undone at present.
    pub taken: BTreeSet<usize>,
    /// The hunks that change sides: applied ones are undone, undone ones are applied again.
    pub wanted: BTreeSet<usize>,
}

/// The result for one file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turned {
    /// `None` where there is no such file then.
    pub text: Option<String>,
    /// Places that were changed since: `a.py::f (line 12)`.
    pub left: Vec<String>,
    /// For each turn the hunks that this text turns.
    pub done: Vec<BTreeSet<usize>>,
    /// For each turn the hunks that somebody else had turned already.
    pub by_hand: Vec<BTreeSet<usize>>,
}

/// The number of hunks in a change of a file.
pub(crate) fn count(change: &FileChange) -> usize {
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => hunks(after, before).len(),
        (None, None) => 0,
        _ => 1,
    }
}

/// The hunks of a change inside one symbol (its names, without the file), and whether others reach over its edge.
pub(crate) fn within(change: &FileChange, names: &str) -> (BTreeSet<usize>, bool) {
    let (mut inside, mut across) = (BTreeSet::new(), false);
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return (inside, across) };
    let Some(language) = language::of_path(&change.path) else { return (inside, across) };
    let side = |text: &str| extent(&Outline::parse(language, text), names);
    let (new_side, old_side) = (side(after), side(before));
    let mut grown: isize = 0;
    for (index, edit) in hunks(after, before).iter().enumerate() {
        let old = edit.range.start.saturating_add_signed(grown);
        grown += edit.text.len() as isize - edit.range.len() as isize;
        let place = lies(new_side.as_ref(), &edit.range).max(lies(old_side.as_ref(), &(old..old + edit.text.len())));
        match place {
            HunkPlace::Within => {
                inside.insert(index);
            }
            HunkPlace::Across => across = true,
            HunkPlace::Apart => {}
        }
    }
    (inside, across)
}

/// Turns hunks of the changes of one file, in the given order: the newest first for an undo, the oldest first for a
/// redo. `now` is the file as it is.
///
/// A hunk that touches a change of somebody else stays as it is and is named. A hunk that is on the other side already
/// is skipped.
pub(crate) fn turn(turns: &[HunkTurn<'_>], now: Option<&str>) -> Turned {
    let mut out = Turned { text: now.map(str::to_owned), left: Vec::new(), done: Vec::new(), by_hand: Vec::new() };
    for turn in turns {
        let mut step = TurnedHunks::default();
        if !turn.wanted.is_empty() {
            out.text = turn_one(turn, out.text.take(), &mut step);
        }
        out.left.extend(step.left);
        out.done.push(step.done);
        out.by_hand.push(step.by_hand);
    }
    out.left.dedup();
    out
}

#[derive(Default)]
struct TurnedHunks {
    left: Vec<String>,
    done: BTreeSet<usize>,
    by_hand: BTreeSet<usize>,
}

fn turn_one(turn: &HunkTurn<'_>, now: Option<String>, step: &mut TurnedHunks) -> Option<String> {
    let change = turn.change;
    if let (Some(before), Some(after)) = (&change.before, &change.after) {
        return match now {
            Some(now) => Some(turn_text(turn, before, after, now, step)),
            None => {
                step.left.push(format!("{} (it is gone)", change.path));
                None
            }
        };
    }
    let standing = turn.taken.is_empty();
    let (from, to) = if standing { (&change.after, &change.before) } else { (&change.before, &change.after) };
    if now.as_deref() == to.as_deref() {
        step.by_hand.insert(0);
        now
    } else if now.as_deref() == from.as_deref() {
        step.done.insert(0);
        to.as_deref().map(str::to_owned)
    } else {
        let made = if change.before.is_none() { "it was created by the task" } else { "it is there again" };
        let why = if now.is_none() { "it is gone" } else { made };
        step.left.push(format!("{} ({why})", change.path));
        now
    }
}

/// The text after the edit with these hunks undone, and the edits of it that change each hunk's side.
fn sides(before: &str, after: &str, taken: &BTreeSet<usize>) -> (String, Vec<TextEdit>) {
    let all = hunks(after, before);
    let gone: Vec<TextEdit> =
        all.iter().enumerate().filter(|(index, _)| taken.contains(index)).map(|(_, edit)| edit.clone()).collect();
    let from = apply(after, &gone).unwrap_or_else(|_| after.to_owned());
    let mut grown: isize = 0;
    let mut edits = Vec::with_capacity(all.len());
    for (index, edit) in all.iter().enumerate() {
        let start = edit.range.start.saturating_add_signed(grown);
        if taken.contains(&index) {
            grown += edit.text.len() as isize - edit.range.len() as isize;
            edits.push(TextEdit::new(start..start + edit.text.len(), &after[edit.range.clone()]));
        } else {
            edits.push(TextEdit::new(start..start + edit.range.len(), &edit.text));
        }
    }
    (from, edits)
}

fn turn_text(turn: &HunkTurn<'_>, before: &str, after: &str, now: String, step: &mut TurnedHunks) -> String {
    let path = turn.change.path.as_str();
    let (from, edits) = sides(before, after, &turn.taken);
    let wanted: Vec<TextEdit> = turn.wanted.iter().filter_map(|index| edits.get(*index)).cloned().collect();
    if apply(&from, &wanted).is_ok_and(|to| to == now) {
        step.by_hand.extend(&turn.wanted);
        return now;
    }
    let others = hunks(&from, &now);
    let mut outline = None;
    let mut moved = Vec::new();
    for index in &turn.wanted {
        let Some(edit) = edits.get(*index) else { continue };
        if others.contains(edit) {
            step.by_hand.insert(*index);
        } else if let Some(edit) = shift(edit, &others) {
            step.done.insert(*index);
            moved.push(edit);
        } else {
            let outline =
                outline.get_or_insert_with(|| language::of_path(path).map(|language| Outline::parse(language, &now)));
            step.left.push(named(path, edit, &others, &now, outline.as_ref()));
        }
    }
    // Hunks of one text do not overlap, so this does not fail; the text stays as it is if it does.
    apply(&now, &moved).unwrap_or(now)
}

/// The places of a change's applied hunks in the current text, as far as an undo is possible there. Empty for a file
/// that was made or removed.
pub(crate) fn places(change: &FileChange, standing: &BTreeSet<usize>, now: &str) -> Vec<(usize, Range<usize>)> {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return Vec::new() };
    let taken = (0..count(change)).filter(|index| !standing.contains(index)).collect();
    let (from, edits) = sides(before, after, &taken);
    let others = hunks(&from, now);
    let own = edits.iter().enumerate().filter(|(index, edit)| standing.contains(index) && !others.contains(edit));
    own.filter_map(|(index, edit)| Some((index, shift(edit, &others)?.range))).collect()
}

/// The places of a change's applied hunks in a later text, with the later changes that touch them.
pub(crate) fn extents(change: &FileChange, standing: &BTreeSet<usize>, later: &str) -> Vec<(usize, Range<usize>)> {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return Vec::new() };
    let taken = (0..count(change)).filter(|index| !standing.contains(index)).collect();
    let (from, edits) = sides(before, after, &taken);
    let others = hunks(&from, later);
    let own = edits.iter().enumerate().filter(|(index, _)| standing.contains(index));
    own.map(|(index, edit)| (index, widened(&edit.range, &others))).collect()
}

/// The place of a range of the old text after other edits of it, those that touch the range included.
fn widened(range: &Range<usize>, others: &[TextEdit]) -> Range<usize> {
    let (mut reach, mut moved, mut grown) = (range.clone(), 0_isize, 0_isize);
    for other in others {
        let by = other.text.len() as isize - other.range.len() as isize;
        if other.range.end < range.start || (other.range.end == range.start && !other.range.is_empty()) {
            moved += by;
        } else if other.range.start <= range.end {
            reach = reach.start.min(other.range.start)..reach.end.max(other.range.end);
            grown += by;
        }
    }
    reach.start.saturating_add_signed(moved)..reach.end.saturating_add_signed(moved + grown)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HunkPlace {
    Apart,
    /// Partly in the symbol and partly outside.
    Across,
    Within,
}

fn extent(outline: &Outline, names: &str) -> Option<Range<usize>> {
    outline.known(names).map(|index| outline.symbols[index].extent.clone())
}

fn lies(symbol: Option<&Range<usize>>, range: &Range<usize>) -> HunkPlace {
    let Some(symbol) = symbol else { return HunkPlace::Apart };
    if range.start >= symbol.start && range.end <= symbol.end {
        HunkPlace::Within
    } else if range.start < symbol.end && range.end > symbol.start {
        HunkPlace::Across
    } else {
        HunkPlace::Apart
    }
}

/// The place of an edit of the old text in the current one, for a reader.
fn named(path: &str, edit: &TextEdit, others: &[TextEdit], now: &str, outline: Option<&Outline>) -> String {
    let before = others.iter().filter(|other| other.range.end <= edit.range.start);
    let moved: isize = before.map(|other| other.text.len() as isize - other.range.len() as isize).sum();
    let mut at = edit.range.start.saturating_add_signed(moved).min(now.len());
    while !now.is_char_boundary(at) {
        at -= 1;
    }
    let line = LineIndex::new(now).line_of(at) + 1;
    match outline.and_then(|outline| outline.at(at).map(|symbol| outline.path_of(symbol))) {
        Some(names) => format!("{path}::{names} (line {line})"),
        None => format!("{path} (line {line})"),
    }
}

/// Moves an edit of a text to its place after other edits of the same text; `None` where they touch.
fn shift(edit: &TextEdit, others: &[TextEdit]) -> Option<TextEdit> {
    let mut start = edit.range.start;
    for other in others {
        if other.range.end < edit.range.start || (other.range.end == edit.range.start && !other.range.is_empty()) {
            start = start + other.text.len() - other.range.len();
        } else if other.range.start <= edit.range.end {
            return None;
        }
    }
    Some(TextEdit { range: start..start + edit.range.len(), text: edit.text.clone() })
}

#[cfg(test)]
mod tests;
