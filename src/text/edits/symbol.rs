//! Editing a whole symbol: replace, insert before or after, delete, with the layout of its neighbours.
//!
//! Replacing keeps the parts that the new content lacks: leading comments stay unless it starts with comments,
//! decorators stay unless it has decorators. To take a decorator away, edit it as text.

mod layout;

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edits::indent::indent;
use crate::edits::{TextEdit, line_ends};
use crate::symbols::language::Language;
use crate::symbols::outline::Outline;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymbolAction {
    Replace,
    InsertBefore,
    InsertAfter,
    Delete,
}

impl fmt::Display for SymbolAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replace => "replace",
            Self::InsertBefore => "insert_before",
            Self::InsertAfter => "insert_after",
            Self::Delete => "delete",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolEditError {
    #[error("content is empty; {0} needs the full text of the symbol, and delete removes one")]
    NoContent(SymbolAction),
    #[error("delete takes no content; use replace to put other code in the symbol's place")]
    Superfluous,
    #[error("the symbol is no longer there; list the symbols of the file again")]
    NoSuchSymbol,
    /// The content is a part of the symbol; as a replacement it would delete the rest.
    #[error("the content neither defines a symbol nor names {0}; replace needs the whole symbol")]
    NotWhole(String),
    #[error("the symbol already reads like this; there is nothing to change")]
    NoChange,
}

/// The one edit that carries out the action; the outline is of this text. New lines end as those of the symbol do.
///
/// Content may be indented like the symbol, not at all, or not at all on its first line only; it is
/// brought to the symbol's indentation. The content of multi-line strings is moved only where it is laid
/// out along with the code around it.
pub fn edit(
    text: &str,
    language: &Language,
    outline: &Outline,
    symbol: usize,
    action: SymbolAction,
    content: &str,
) -> Result<TextEdit, SymbolEditError> {
    let target = outline.symbols.get(symbol).ok_or(SymbolEditError::NoSuchSymbol)?;
    if text.get(target.extent.clone()).is_none() {
        return Err(SymbolEditError::NoSuchSymbol);
    }
    if action == SymbolAction::Delete {
        return if content.trim().is_empty() {
            Ok(delete(text, language, target.extent.clone(), target.declaration.start))
        } else {
            Err(SymbolEditError::Superfluous)
        };
    }
    if content.trim().is_empty() {
        return Err(SymbolEditError::NoContent(action));
    }
    let names = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == target.name);
    if action == SymbolAction::Replace && !names(content) && Outline::parse(language, content).symbols.is_empty() {
        return Err(SymbolEditError::NotWhole(target.name.clone()));
    }
    let place = layout::SymbolLayout::of(text, target.extent.clone());
    let content = place.indented(text, language, content);
    let edit = match action {
        SymbolAction::InsertBefore => {
            let gap = "\n".repeat(1 + separation(text, outline, symbol));
            TextEdit::new(target.extent.start..target.extent.start, format!("{content}{gap}{}", place.indent))
        }
        SymbolAction::InsertAfter => insert_after(text, outline, symbol, &format!("{}{content}", place.indent)),
        _ => replace(text, language, outline, symbol, &place, &content),
    };
    let edit = TextEdit::new(edit.range, fit_line_ends(text, &text[target.extent.clone()], edit.text));
    if text[edit.range.clone()] == edit.text { Err(SymbolEditError::NoChange) } else { Ok(edit) }
}

/// New text with the line ends of its symbol, or of the whole text if the symbol is one line.
fn fit_line_ends(text: &str, symbol: &str, new: String) -> String {
    let count = line_ends::returns(if symbol.contains('\n') { symbol } else { text });
    count.map_or_else(|| new.clone(), |count| line_ends::with_returns(&new, count))
}

/// The parts in front of a definition: the starts of its comments, decorators and header.
struct Head {
    comments: usize,
    decorators: usize,
    header: usize,
}

impl Head {
    fn of(text: &str, outline: &Outline, symbol: usize) -> Option<Self> {
        let symbol = outline.symbols.get(symbol)?;
        let line = text[..symbol.name_range.start].rfind('\n').map_or(0, |at| at + 1);
        let header = line + indent(&text[line..]).len();
        let (comments, decorators) = (symbol.extent.start, symbol.declaration.start);
        Some(Self { comments, decorators, header: header.max(decorators) })
    }
}

fn replace(
    text: &str,
    language: &Language,
    outline: &Outline,
    symbol: usize,
    place: &layout::SymbolLayout,
    content: &str,
) -> TextEdit {
    let extent = outline.symbols[symbol].extent.clone();
    let whole = TextEdit::new(extent.clone(), content);
    // The content alone, at module level, so that it parses.
    let dedented = layout::dedent(content, &place.indent);
    let parsed = Outline::parse(language, &dedented);
    let (Some(old), Some(new)) = (Head::of(text, outline, symbol), Head::of(&dedented, &parsed, 0)) else {
        return whole;
    };
    if !is_only_comments(language, &dedented[..new.comments]) {
        return whole;
    }
    let has_comments = new.decorators > 0;
    let has_decorators = new.header > new.decorators;
    let (start, kept) = match (has_comments, has_decorators) {
        (true, true) => return whole,
        (false, true) => (old.decorators, None),
        (false, false) => (old.header, None),
        (true, false) => (old.comments, Some(&text[old.decorators..old.header])),
    };
    let Some(kept) = kept.filter(|kept| !kept.is_empty()) else {
        return TextEdit::new(start..extent.end, content);
    };
    // Its comments replace the old ones; the old decorators go between them and the header.
    let lines = dedented[..new.header].matches('\n').count();
    let header = content.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
    let header = header + indent(&content[header..]).len();
    TextEdit::new(start..extent.end, format!("{}{kept}{}", &content[..header], &content[header..]))
}

/// Whether only comments stand above a definition. If other code does, the content takes the place of everything.
fn is_only_comments(language: &Language, above: &str) -> bool {
    above.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with(language.comment))
}

/// The decorators that a replacement leaves above a definition, since its content has none.
pub fn kept_decorators<'t>(
    text: &'t str,
    language: &Language,
    outline: &Outline,
    symbol: usize,
    content: &str,
) -> Option<&'t str> {
    let dedented = layout::dedent(content, indent(content));
    let old = Head::of(text, outline, symbol)?;
    let new = Head::of(&dedented, &Outline::parse(language, &dedented), 0)?;
    if !is_only_comments(language, &dedented[..new.comments]) {
        return None;
    }
    let kept = text[old.decorators..old.header].trim();
    (new.header == new.decorators && !kept.is_empty()).then_some(kept)
}

fn insert_after(text: &str, outline: &Outline, symbol: usize, content: &str) -> TextEdit {
    let blank = separation(text, outline, symbol);
    // A comment behind the last statement stays with it.
    let end = layout::line_end(text, outline.symbols[symbol].extent.end);
    let rest = &text[end..];
    let next = rest.trim_start();
    let there = rest[..rest.len() - next.len()].matches('\n').count().saturating_sub(1);
    let after = if next.is_empty() { 0 } else { blank.saturating_sub(there) };
    TextEdit::new(end..end, format!("{}{content}{}", "\n".repeat(1 + blank), "\n".repeat(after)))
}

/// The blank lines between a symbol and its like: as many as its neighbours have, or else the usual number.
fn separation(text: &str, outline: &Outline, symbol: usize) -> usize {
    let parent = outline.symbols[symbol].parent;
    let siblings: Vec<usize> = (0..outline.symbols.len()).filter(|i| outline.symbols[*i].parent == parent).collect();
    let between = |a: usize, b: usize| {
        let gap = &text[layout::line_end(text, outline.symbols[a].extent.end)..outline.symbols[b].extent.start];
        gap.trim().is_empty().then(|| gap.matches('\n').count().saturating_sub(1))
    };
    let at = siblings.iter().position(|i| *i == symbol).unwrap_or(0);
    let beside = [at, at.wrapping_sub(1)].into_iter().filter_map(|i| Some((*siblings.get(i)?, *siblings.get(i + 1)?)));
    let all = siblings.windows(2).map(|two| (two[0], two[1]));
    beside.chain(all).find_map(|(a, b)| between(a, b)).unwrap_or(if parent.is_none() { 2 } else { 1 })
}

/// Removes a symbol with the blank lines that set it apart, so that its neighbours stand as before.
fn delete(text: &str, language: &Language, extent: Range<usize>, declaration: usize) -> TextEdit {
    let start = layout::line_start(text, extent.start);
    let end = layout::line_end(text, extent.end);
    let own = &text[start..extent.start];
    if !own.trim().is_empty() {
        // Other code on the line stays.
        return TextEdit::new(extent, "");
    }
    if language.name == "python" && layout::alone_in_block(text, language, declaration..extent.end) {
        return TextEdit::new(extent.start..end, "pass");
    }
    let rest = &text[end..];
    let next = rest.trim_start();
    let next_indent = indent(&text[layout::line_start(text, text.len() - next.len())..]);
    let before = text[..start].trim_end().len();
    let above = indent(&text[layout::line_start(text, before)..]);
    let last = next.is_empty() || next_indent.len() < own.len();
    let first = before == 0 || above.len() < own.len();
    let blank = |gap: &str| gap.matches('\n').count();
    // The wider gap stays, except at the ends of a block, where the one outwards stays.
    if before > 0 && (last || !first && blank(&text[before..start]) < blank(&rest[..rest.len() - next.len()])) {
        return TextEdit::new(before..end, "");
    }
    let end = if next.is_empty() { text.len() } else { layout::line_start(text, text.len() - next.len()) };
    TextEdit::new(start..end, "")
}

#[cfg(test)]
mod tests;
