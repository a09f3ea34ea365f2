//! Finds the place of `old_string`: a fixed ladder (exact, line ends, whitespace), unique at every rung.
//!
//! A rung is tried only when the one before found nothing. Nothing is matched by similarity: the nearest place is shown
//! in the error and never edited.

mod nearest;
mod whitespace;

use std::fmt;
use std::ops::Range;

use crate::edits::hunks::trim;
use crate::edits::{TextEdit, line_ends};
use sextant_base::positions::LineIndex;

pub use crate::edits::find_old_string::nearest::Nearest;

/// The rung of the ladder that found the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Byte for byte.
    Exact,
    /// Only `\r\n` and `\n` differed.
    LineEnds,
    /// Whole lines that differed in trailing white space or, all in the same way, in indentation.
    Whitespace,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::LineEnds => "line ends",
            Self::Whitespace => "whitespace",
        })
    }
}

/// The text to look for and the text to put there.
#[derive(Clone, Debug)]
pub struct Replace<'a> {
    pub old: &'a str,
    pub new: &'a str,
    /// Replaces every occurrence instead of insisting on exactly one.
    pub all: bool,
    /// Bytes of the text to search in (a symbol's extent); the whole text where absent.
    pub within: Option<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrences {
    /// One edit an occurrence; `new` is fitted to the place (line ends, indentation).
    pub edits: Vec<TextEdit>,
    pub rung: Rung,
}

/// The reason why nothing was replaced. Lines are one-based.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    #[error(
        "old_string is empty; quote the text to replace. To add text, quote the line beside it, and repeat that line in \
         new_string"
    )]
    EmptyOld,
    #[error("old_string and new_string are the same; there is nothing to change")]
    NoChange,
    #[error("the range to search in does not fit the text; read the file again")]
    BadRange,
    #[error(
        "old_string occurs {count} times (lines {}{}); add lines around it until it is unique, or set replace_all",
        list(lines),
        if count > &lines.len() { ", …" } else { "" }
    )]
    Ambiguous { count: usize, lines: Vec<usize>, rung: Rung },
    #[error("old_string is not inside the symbol, but on line {line}; name the symbol that holds it, or none")]
    Elsewhere { line: usize },
    #[error("old_string was not found{}", nearest.as_ref().map_or(String::new(), |n| format!("; {n}")))]
    NotFound { nearest: Option<Nearest> },
}

fn list(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The most places that an ambiguity names.
const PLACES: usize = 5;

/// Finds `old` and fits `new` to the place.
pub fn find(text: &str, replace: &Replace<'_>) -> Result<Occurrences, FindError> {
    let Replace { old, new, .. } = *replace;
    if old.is_empty() {
        return Err(FindError::EmptyOld);
    }
    if old == new {
        return Err(FindError::NoChange);
    }
    let within = replace.within.clone().unwrap_or(0..text.len());
    if text.get(within.clone()).is_none() {
        return Err(FindError::BadRange);
    }
    let index = LineIndex::new(text);
    if let Some((rung, places)) = ladder(text, &index, replace, &within) {
        return settle(text, &index, places, rung, replace);
    }
    if within != (0..text.len())
        && let Some((_, places)) = ladder(text, &index, replace, &(0..text.len()))
        && let Some(place) = places.first()
    {
        return Err(FindError::Elsewhere { line: index.line_of(place.range.start) + 1 });
    }
    Err(FindError::NotFound { nearest: nearest::nearest(text, &index, old, &within) })
}

/// A matching place, and the indentation that the new text needs there.
struct MatchPlace {
    range: Range<usize>,
    shift: Option<whitespace::Shift>,
}

fn ladder(
    text: &str,
    index: &LineIndex,
    replace: &Replace<'_>,
    within: &Range<usize>,
) -> Option<(Rung, Vec<MatchPlace>)> {
    let old = replace.old;
    let plain = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|range| MatchPlace { range, shift: None }).collect();
    let exact = occurrences(&text[within.clone()], old, within.start);
    if !exact.is_empty() {
        return Some((Rung::Exact, plain(exact)));
    }
    let line_ends = by_line_ends(text, old, within);
    if !line_ends.is_empty() {
        return Some((Rung::LineEnds, plain(line_ends)));
    }
    let places = whitespace::places(text, index, old, replace.new, within);
    if places.is_empty() { None } else { Some((Rung::Whitespace, places)) }
}

/// Every occurrence, overlapping ones included: they make a text ambiguous too. The time is linear in the text, however
/// often the quote repeats itself.
fn occurrences(text: &str, old: &str, base: usize) -> Vec<Range<usize>> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(old)) {
        let mut at = from + found;
        let distance = out.last().map(|last| base + at - last.start);
        out.push(base + at..base + at + old.len());
        // Two occurrences so close are a period of the quote: the next one stands where its last part follows again.
        if let Some(period) = distance.filter(|distance| distance.saturating_mul(3) <= old.len()) {
            let last = &old.as_bytes()[old.len() - period..];
            while text.as_bytes().get(at + old.len()..at + old.len() + period) == Some(last) {
                at += period;
                out.push(base + at..base + at + old.len());
            }
        }
        from = at + step;
    }
    out
}

/// Occurrences when `\r\n` counts as `\n` on both sides.
fn by_line_ends(text: &str, old: &str, within: &Range<usize>) -> Vec<Range<usize>> {
    let part = &text[within.clone()];
    if !old.contains('\n') || !(part.contains("\r\n") || old.contains("\r\n")) {
        return Vec::new();
    }
    // For every byte of the text without its `\r`s: its place in the text with them.
    let mut offsets = Vec::with_capacity(part.len() + 1);
    let mut plain = String::with_capacity(part.len());
    // The end of the current `\r`s, and whether a `\n` follows them.
    let (mut end, mut of_line_end) = (0, false);
    for (at, c) in part.char_indices() {
        if c == '\r' && at >= end {
            let rest = part[at..].trim_start_matches('\r');
            (end, of_line_end) = (part.len() - rest.len(), rest.starts_with('\n'));
        }
        if c == '\r' && of_line_end {
            continue;
        }
        offsets.extend((at..at + c.len_utf8()).map(|byte| within.start + byte));
        plain.push(c);
    }
    offsets.push(within.end);
    let start = |at: usize| {
        // A match that begins with the line end takes its `\r` along.
        let byte = offsets[at];
        if text[byte..].starts_with('\n') {
            within.start + text[within.start..byte].trim_end_matches('\r').len()
        } else {
            byte
        }
    };
    let found = occurrences(&plain, &line_ends::with_returns(old, 0), 0);
    // The end follows the last character that matched, so that a `\r` after it stays.
    found.into_iter().map(|r| start(r.start)..offsets[r.end - 1] + 1).collect()
}

fn settle(
    text: &str,
    index: &LineIndex,
    places: Vec<MatchPlace>,
    rung: Rung,
    replace: &Replace<'_>,
) -> Result<Occurrences, FindError> {
    if places.len() > 1 && !replace.all {
        let lines = places.iter().take(PLACES).map(|place| index.line_of(place.range.start) + 1).collect();
        return Err(FindError::Ambiguous { count: places.len(), lines, rung });
    }
    let mut done = 0;
    let mut edits: Vec<TextEdit> = Vec::with_capacity(places.len());
    for place in places {
        if place.range.start < done {
            continue;
        }
        done = place.range.end;
        let new = match &place.shift {
            Some(shift) => shift.apply(replace.new),
            None => replace.new.to_owned(),
        };
        let new = fit_line_ends(text, &text[place.range.clone()], rung, replace.old, new);
        let edit = TextEdit::new(place.range, new);
        // Whole lines were matched; their unchanged parts do not belong to the edit.
        edits.push(if rung == Rung::Whitespace { trim(text, &edit) } else { edit });
    }
    if edits.iter().all(|edit| text[edit.range.clone()] == edit.text) {
        return Err(FindError::NoChange);
    }
    Ok(Occurrences { edits, rung })
}

/// Gives new text the line ends of its place: those of the replaced text, or else of the whole text.
fn fit_line_ends(text: &str, replaced: &str, rung: Rung, old: &str, new: String) -> String {
    if !new.contains('\n') || (rung == Rung::Exact && old.contains('\n')) {
        return new;
    }
    let model = if replaced.contains('\n') { replaced } else { text };
    line_ends::returns(model).map_or_else(|| new.clone(), |count| line_ends::with_returns(&new, count))
}

#[cfg(test)]
mod tests;
