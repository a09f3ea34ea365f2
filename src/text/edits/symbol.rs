//! Editing a whole symbol: replace, insert before or after, delete, with the layout of its neighbours.
//!
//! Replacing keeps the parts that the new content lacks: leading comments stay unless it starts with comments,
//! decorators and attributes stay unless it has some, the mark that ends the symbol stays. To take a decorator away,
//! edit it as text.

mod content;
mod layout;
mod separators;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edits::indent::indent;
use crate::edits::symbol::content::Content;
pub use crate::edits::symbol::content::{outline_in_place, text_in_place};
pub(crate) use crate::edits::symbol::layout::dedent;
use crate::edits::{TextEdit, line_ends};
use crate::symbols::language::Language;
use crate::symbols::outline::{Outline, Symbol};

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
            Ok(delete(text, language, target))
        } else {
            Err(SymbolEditError::Superfluous)
        };
    }
    if content.trim().is_empty() {
        return Err(SymbolEditError::NoContent(action));
    }
    let place = layout::SymbolLayout::of(text, target);
    let given = content;
    let content = place.indented(text, language, content);
    let new = Content::of(text, language, target, (given, &content, &place.indent));
    if action == SymbolAction::Replace && !mentions(given, &target.name) && new.kinds.is_empty() {
        return Err(SymbolEditError::NotWhole(target.name.clone()));
    }
    let edit = match action {
        SymbolAction::InsertBefore => {
            let at = target.extent.start;
            let content = separators::ended(target, &content);
            let is_on_line = !text[layout::line_start(text, at)..at].trim().is_empty();
            let gap = if is_on_line && target.separator.is_some() && layout::fits_on_line(language, &content) {
                " ".to_owned()
            } else {
                "\n".repeat(1 + separation(text, language, outline, symbol, &new)) + &place.indent
            };
            TextEdit::new(at..at, format!("{content}{gap}"))
        }
        SymbolAction::InsertAfter => {
            let blank = separation(text, language, outline, symbol, &new);
            insert_after(text, language, target, blank, &format!("{}{content}", place.indent))
        }
        _ => replace(text, language, target, &new, &content),
    };
    let edit = TextEdit::new(edit.range, fit_line_ends(text, &text[target.extent.clone()], edit.text));
    if text[edit.range.clone()] == edit.text { Err(SymbolEditError::NoChange) } else { Ok(edit) }
}

/// New text with the line ends of its symbol, or of the whole text if the symbol is one line.
fn fit_line_ends(text: &str, symbol: &str, new: String) -> String {
    let count = line_ends::returns(if symbol.contains('\n') { symbol } else { text });
    count.map_or_else(|| new.clone(), |count| line_ends::with_returns(&new, count))
}

/// True if content mentions a name, as a word where it is one.
fn mentions(content: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if name.chars().all(is_word) {
        content.split(|c| !is_word(c)).any(|word| word == name)
    } else {
        content.contains(name)
    }
}

fn replace(text: &str, language: &Language, target: &Symbol, new: &Content, content: &str) -> TextEdit {
    let extent = target.extent.clone();
    let content = separators::as_before(text, target, content);
    let content = content.as_str();
    let whole = TextEdit::new(extent.clone(), content);
    let Some(head) = new.head.as_ref().filter(|head| head.is_first(language)) else { return whole };
    let (start, kept) = match (head.has_comments(), head.has_decorators()) {
        (true, true) => return whole,
        (false, true) => (target.declaration.start, None),
        (false, false) => (target.header, None),
        (true, false) => (target.extent.start, Some(&text[target.declaration.start..target.header])),
    };
    let Some(kept) = kept.filter(|kept| !kept.is_empty()) else {
        return TextEdit::new(start..extent.end, content);
    };
    // Its comments replace the old ones; the old decorators go between them and the header.
    let header = content.split_inclusive('\n').take(head.header_row()).map(str::len).sum::<usize>();
    let header = header + indent(&content[header..]).len();
    TextEdit::new(start..extent.end, format!("{}{kept}{}", &content[..header], &content[header..]))
}

/// The decorators that a replacement leaves above a definition, since its content has none.
pub fn kept_decorators<'t>(
    text: &'t str,
    language: &Language,
    outline: &Outline,
    symbol: usize,
    content: &str,
) -> Option<&'t str> {
    let target = outline.symbols.get(symbol)?;
    let place = layout::SymbolLayout::of(text, target);
    let indented = place.indented(text, language, content);
    let new = Content::of(text, language, target, (content, &indented, &place.indent));
    new.head.filter(|head| head.is_first(language) && !head.has_decorators())?;
    let kept = text[target.declaration.start..target.header].trim();
    (!kept.is_empty()).then_some(kept)
}

fn insert_after(text: &str, language: &Language, target: &Symbol, blank: usize, content: &str) -> TextEdit {
    if let Some(edit) = separators::insert_behind_last(text, language, target, blank, content) {
        return edit;
    }
    let content = separators::ended(target, content);
    if let Some(edit) = separators::insert_on_line(text, language, target, &content) {
        return edit;
    }
    // A comment behind the last statement stays with it.
    let end = layout::line_end(text, target.extent.end);
    let rest = &text[end..];
    let next = rest.trim_start();
    let there = rest[..rest.len() - next.len()].matches('\n').count().saturating_sub(1);
    // Nothing stands between the last one and the end of its block.
    let ends_block = language.closers.iter().any(|mark| next.starts_with(mark));
    let after = if next.is_empty() || ends_block { 0 } else { blank.saturating_sub(there) };
    TextEdit::new(end..end, format!("{}{content}{}", "\n".repeat(1 + blank), "\n".repeat(after)))
}

/// The blank lines between a symbol and its like: as many as its neighbours have, or else the usual number. Fields and
/// other symbols of a line each stand otherwise than those with a body.
fn separation(text: &str, language: &Language, outline: &Outline, symbol: usize, new: &Content) -> usize {
    let target = &outline.symbols[symbol];
    let is_compact = target.kind.is_compact() && new.kinds.iter().all(|kind| kind.is_compact());
    let parent = target.parent;
    let siblings: Vec<usize> = (0..outline.symbols.len()).filter(|i| outline.symbols[*i].parent == parent).collect();
    let between = |a: usize, b: usize| {
        let (above, below) = (&outline.symbols[a], &outline.symbols[b]);
        let is_like = (above.kind.is_compact() && below.kind.is_compact()) == is_compact;
        let gap = text.get(layout::line_end(text, above.extent.end)..below.extent.start).filter(|_| is_like)?;
        gap.trim().is_empty().then(|| gap.matches('\n').count().saturating_sub(1))
    };
    let at = siblings.iter().position(|i| *i == symbol).unwrap_or(0);
    let beside = [at, at.wrapping_sub(1)].into_iter().filter_map(|i| Some((*siblings.get(i)?, *siblings.get(i + 1)?)));
    let all = siblings.windows(2).map(|two| (two[0], two[1]));
    let usual = match (is_compact, parent) {
        (true, _) => 0,
        (false, None) => language.blank_lines,
        (false, Some(_)) => 1,
    };
    beside.chain(all).find_map(|(a, b)| between(a, b)).unwrap_or(usual)
}

/// Removes a symbol with the blank lines that set it apart, so that its neighbours stand as before.
fn delete(text: &str, language: &Language, target: &Symbol) -> TextEdit {
    let extent = target.extent.clone();
    if let Some(edit) = separators::delete_last(text, language, target) {
        return edit;
    }
    let start = layout::line_start(text, extent.start);
    let end = layout::line_end(text, extent.end);
    let (own, behind) = (&text[start..extent.start], &text[extent.end..end]);
    if !own.trim().is_empty() || !language.is_only_comments(behind) {
        return TextEdit::new(layout::with_blanks(text, start..end, extent), "");
    }
    if let Some(filler) = layout::filler(text, language, target.declaration.start..extent.end) {
        return TextEdit::new(extent.start..end, filler);
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
