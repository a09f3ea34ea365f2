//! Reads which symbols a block of code defines: by itself, or in the place of a symbol of its file.

use crate::edits::code_file::CodeFile;
use crate::edits::indent::indent;
use crate::edits::symbol::{dedent, outline_in_place};
use crate::symbols::language::Language;
use crate::symbols::outline::{Outline, Symbol};
use crate::symbols::path_spelling::spelled;

/// The most places in which a block is read that means nothing by itself: each costs a parse of the file.
const MOST_PLACES: usize = 16;

/// A symbol that a block defines, outermost only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockDefinition {
    pub(super) name: String,
    /// Its path as far as the block says: that of its type in front, where it names it.
    pub(super) path: String,
    pub(super) is_holder: bool,
    /// The only member of a holder that is nothing but a frame around it.
    pub(super) framed: Option<FramedMember>,
}

/// A member that a block shows in the frame of its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FramedMember {
    pub(super) name: String,
    pub(super) content: String,
}

/// The block without the indentation of its first line.
pub(super) fn flat(block: &str) -> String {
    let block = block.replace("\r\n", "\n");
    let first = block.lines().find(|line| !line.trim().is_empty()).map_or("", indent);
    dedent(&block, first)
}

/// The definitions of a block; none for statements alone. `None` where it can be read nowhere.
pub(super) fn definitions(file: CodeFile<'_>, block: &str) -> Option<Vec<BlockDefinition>> {
    let (flat, language) = (flat(block), file.language);
    let is_read = |outline: &Outline| !outline.has_errors || !language.reports_syntax;
    let alone = Outline::parse(language, &flat);
    if is_read(&alone) && !alone.symbols.is_empty() {
        return Some(outermost(language, &flat, &alone));
    }
    for place in places(file) {
        let inside = outline_in_place(file.text, language, &file.outline.symbols[place], &flat);
        if (is_read(&inside) || !is_read(file.outline)) && !inside.symbols.is_empty() {
            // The owner is that of the place, and not a word of the block.
            let here = |found: BlockDefinition| BlockDefinition { path: spelled(&found.name), ..found };
            return Some(outermost(language, &flat, &inside).into_iter().map(here).collect());
        }
    }
    is_read(&alone).then(Vec::new)
}

/// The symbols in whose place a block is read: those at the cursor, then the first member of each holder.
fn places(file: CodeFile<'_>) -> Vec<usize> {
    let mut places = file.named_at_cursor();
    let symbols = &file.outline.symbols;
    for (holder, _) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind.holds_members()) {
        let first = symbols.iter().position(|symbol| symbol.parent == Some(holder));
        places.extend(first.filter(|first| !places.contains(first)));
    }
    places.truncate(MOST_PLACES);
    places
}

fn outermost(language: &Language, text: &str, outline: &Outline) -> Vec<BlockDefinition> {
    let all = outline.symbols.iter().enumerate().filter(|(_, symbol)| symbol.parent.is_none());
    all.map(|(index, symbol)| BlockDefinition {
        name: symbol.name.clone(),
        path: path(symbol),
        is_holder: symbol.kind.holds_members() && !symbol.kind.is_compact(),
        framed: framed(language, text, outline, index),
    })
    .collect()
}

/// The path without a number: twins in a block are no twins of the file.
fn path(symbol: &Symbol) -> String {
    let name = spelled(&symbol.name);
    if symbol.owner.is_empty() { name } else { format!("{}::{name}", symbol.owner) }
}

fn framed(language: &Language, text: &str, outline: &Outline, holder: usize) -> Option<FramedMember> {
    let (symbols, frame) = (&outline.symbols, &outline.symbols[holder]);
    let mut members = symbols.iter().filter(|symbol| symbol.parent == Some(holder));
    let only = members.next().filter(|_| members.next().is_none())?;
    if !frame.kind.holds_members() || !only.kind.is_callable() {
        return None;
    }
    let start = text[..only.extent.start].rfind('\n').map_or(0, |at| at + 1);
    let head = text.get(frame.name_range.end..start)?;
    let head = head.split_once('\n').map_or("", |(_, below)| below);
    let (content, tail) = (text.get(start..only.extent.end)?, text.get(only.extent.end..frame.extent.end)?);
    let is_bare = |lines: &str| lines.lines().all(|line| is_frame(language, line.trim()));
    (is_bare(head) && is_bare(tail)).then(|| FramedMember { name: only.name.clone(), content: content.to_owned() })
}

/// Recognizes a line that says nothing of its own: blank, a comment, dots for what was left out, the marks of a block.
fn is_frame(language: &Language, line: &str) -> bool {
    let marks = |line: &str| line.chars().all(|c| language.openers.contains(&c) || matches!(c, ';' | ','));
    matches!(line, "..." | "…")
        || language.is_only_comments(line)
        || language.closers.iter().any(|mark| line.strip_prefix(mark).is_some_and(marks))
        || marks(line)
}
