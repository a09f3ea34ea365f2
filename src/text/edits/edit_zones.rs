//! Decides whether edits stay inside the symbols that they may touch.

use std::ops::Range;

use crate::edits::apply_text::{self, ApplyError};
use crate::edits::{TextEdit, hunks};
use crate::symbols::outline::{Outline, Symbol};
use sextant_base::positions::LineIndex;

/// The part of one file that may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditScope {
    /// Everything.
    File,
    /// The code outside of all symbols: imports, constants, and new symbols between the old ones.
    Module,
    /// The symbols with these indices in the outline, the code beside them on their lines, and new code right before
    /// and after them.
    Symbols(Vec<usize>),
}

/// The reason why edits are refused. Lines are one-based.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    #[error(
        "the edit reaches outside its scope on line {line} (`{text}`{})",
        symbol.as_ref().map_or(", module level".into(), |symbol| format!(", in {symbol}"))
    )]
    Outside {
        line: usize,
        /// The line as it stands, without its indentation.
        text: String,
        /// The symbol that the edit would reach into; `None` at module level.
        symbol: Option<String>,
    },
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// Checks edits of `text` against the scope. The outline is of this text.
///
/// Only the real change of an edit counts. Blank lines around a symbol may come and go with it.
pub fn check(text: &str, outline: &Outline, scope: &EditScope, edits: &[TextEdit]) -> Result<(), ScopeError> {
    apply_text::check(text, edits)?;
    let zones = match scope {
        EditScope::File => return Ok(()),
        EditScope::Module => between(text, outline),
        EditScope::Symbols(symbols) => {
            let known = symbols.iter().filter_map(|index| outline.symbols.get(*index));
            known.map(|symbol| Zone::of(text, symbol)).collect()
        }
    };
    for edit in edits.iter().map(|edit| hunks::trim(text, edit)) {
        if edit.range.is_empty() && edit.text.is_empty() || zones.iter().any(|zone| zone.allows(text, &edit)) {
            continue;
        }
        return Err(outside(text, outline, &zones, &edit));
    }
    Ok(())
}

/// A stretch of text that may change, and the blank lines at its ends.
struct Zone {
    code: Range<usize>,
    blank: Range<usize>,
    /// True if it holds no symbol: then the symbols around it must not be touched at its edges.
    is_free: bool,
}

impl Zone {
    /// Around a symbol. The separator before the last of a list comes and goes with it.
    fn of(text: &str, symbol: &Symbol) -> Self {
        let mut zone = Self::around(text, symbol.extent.clone());
        let is_last = |mark: &char| !text[symbol.extent.clone()].ends_with(*mark);
        if let Some(mark) = symbol.separator.map(|separator| separator.mark).filter(is_last) {
            let above = text[..symbol.extent.start].trim_end();
            let start = above.len() - if above.ends_with(mark) { mark.len_utf8() } else { 0 };
            if start < above.len() {
                zone.code.start = start.min(zone.code.start);
                zone.blank.start = start.min(zone.blank.start);
            }
        }
        zone
    }

    fn around(text: &str, extent: Range<usize>) -> Self {
        let start = text[..extent.start].rfind('\n').map_or(0, |at| at + 1);
        // The text before it on its line is its indentation, or else somebody else's code.
        let start = if text[start..extent.start].trim().is_empty() { start } else { extent.start };
        let end = text[extent.end..].find('\n').map_or(text.len(), |at| extent.end + at);
        let above = text[..start].trim_end();
        // The line end above belongs to the line above, unless the text ends here without one of its own.
        let blank_start = if above.is_empty() { 0 } else { (above.len() + usize::from(end < text.len())).min(start) };
        let below = text.len() - text[end..].trim_start().len();
        let blank_end = text[..below].rfind('\n').map_or(end, |at| (at + 1).max(end));
        Self { code: start..end, blank: blank_start..blank_end, is_free: false }
    }

    fn allows(&self, text: &str, edit: &TextEdit) -> bool {
        // A decorator at the end would decorate the code below.
        let last = edit.text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("");
        if edit.range.end >= self.code.end && is_decorator(last.trim()) {
            return false;
        }
        // The same insertion or deletion can be written at several places; one of them may be inside.
        let is_blank = edit.text.trim().is_empty();
        let fits = |range: &Range<usize>| self.holds(text, range, is_blank) && !self.is_glued(text, range, edit);
        fits(&edit.range) || slides(text, edit).any(|range| fits(&range))
    }

    /// True if new text would join the line of a symbol above or below a zone that has none.
    fn is_glued(&self, text: &str, range: &Range<usize>, edit: &TextEdit) -> bool {
        let (bytes, n) = (edit.text.as_bytes(), edit.text.len());
        if !self.is_free || n == 0 {
            return false;
        }
        // At another place the same insertion begins and ends elsewhere in its text, round and round.
        let turn = (range.start + n - edit.range.start % n) % n;
        let (first, last) = (bytes[turn], bytes[(turn + n - 1) % n]);
        let mid_line = self.code.start > 0 && !text[..self.code.start].ends_with('\n');
        let above = mid_line && range.start == self.code.start && first != b'\n';
        let below = self.code.end < text.len() && range.end == self.code.end && last != b'\n';
        above || below
    }

    /// True if a range is code of the zone, with or without blank lines around it, or blank lines alone.
    fn holds(&self, text: &str, range: &Range<usize>, is_blank: bool) -> bool {
        if range.start < self.blank.start || range.end > self.blank.end {
            return false;
        }
        let blank = |part: Range<usize>| part.is_empty() || text.get(part).is_some_and(|part| part.trim().is_empty());
        let touches = range.start <= self.code.end && range.end >= self.code.start;
        (touches || is_blank)
            && blank(range.start..self.code.start.min(range.end))
            && blank(self.code.end.max(range.start)..range.end)
    }
}

/// True if a line is a decorator or an attribute and holds no code behind it.
fn is_decorator(line: &str) -> bool {
    if !["@", "#[", "[["].iter().any(|mark| line.starts_with(mark)) {
        return false;
    }
    let name = line.trim_start_matches(['@', '#']);
    let mut depth = 0usize;
    let behind = name.find(|c: char| {
        depth = match c {
            '(' | '[' => depth + 1,
            ')' | ']' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0 && c.is_whitespace()
    });
    let code = behind.map_or("", |at| name[at..].trim_start());
    !code.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Other places of the same pure insertion or deletion.
fn slides<'a>(text: &'a str, edit: &'a TextEdit) -> impl Iterator<Item = Range<usize>> + 'a {
    let old = &text[edit.range.clone()];
    let (moved, len) = match (old.is_empty(), edit.text.is_empty()) {
        (true, false) => (edit.text.as_bytes(), 0),
        (false, true) => (old.as_bytes(), old.len()),
        _ => (&[][..], 0),
    };
    let (bytes, at, n) = (text.as_bytes(), edit.range.start, moved.len());
    // Sliding over as many bytes as the text before (or after) it repeats it, round and round.
    let left = (0..at.min(n)).take_while(move |k| bytes[at - 1 - k] == moved[n - 1 - k]).map(move |k| at - 1 - k);
    let after = at + len;
    let right =
        (0..n.min(text.len() - after)).take_while(move |k| bytes[after + k] == moved[*k]).map(move |k| at + 1 + k);
    left.chain(right).map(move |start| start..start + len)
}

/// The whole lines that are in no symbol.
fn between(text: &str, outline: &Outline) -> Vec<Zone> {
    let mut zones = Vec::new();
    let mut start = 0;
    for symbol in outline.symbols.iter().filter(|symbol| symbol.parent.is_none()) {
        let lines = Zone::around(text, symbol.extent.clone()).code;
        zones.push(start..lines.start.max(start));
        start = (lines.end + 1).min(text.len());
    }
    zones.push(start..text.len());
    zones.into_iter().map(|code| Zone { blank: code.clone(), code, is_free: true }).collect()
}

fn outside(text: &str, outline: &Outline, zones: &[Zone], edit: &TextEdit) -> ScopeError {
    let free = |at: usize| zones.iter().any(|zone| zone.blank.contains(&at));
    let chars = text[edit.range.clone()].char_indices().map(|(at, _)| edit.range.start + at);
    let offset = chars.into_iter().find(|at| !free(*at)).unwrap_or(edit.range.start);
    let index = LineIndex::new(text);
    let line = index.line_of(offset);
    let shown: String = text[index.line_range(text, line)].trim().chars().take(80).collect();
    let symbol = outline.at(offset).map(|symbol| outline.path_of(symbol));
    ScopeError::Outside { line: line + 1, text: shown, symbol }
}

#[cfg(test)]
mod tests;
