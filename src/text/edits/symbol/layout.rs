//! The layout of new code: its indentation, and the lines of strings that must not move.

use std::collections::HashSet;
use std::ops::Range;

use crate::edits::indent::{Retab, indent};
use crate::symbols::language::Language;
use crate::symbols::outline::Symbol;

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

/// The end of the line, its line end excluded.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + text[at..at + end].trim_end_matches('\r').len())
}

/// True if code can stand behind this text on its line.
pub(super) fn fits_on_line(language: &Language, content: &str) -> bool {
    !content.contains('\n') && language.without_comment(content) == content
}

/// The range of code with the blanks that would be left over once it is gone; other code on its line stays.
pub(super) fn with_blanks(text: &str, line: Range<usize>, code: Range<usize>) -> Range<usize> {
    let (before, behind) = (&text[line.start..code.start], &text[code.end..line.end]);
    let rest = behind.trim_start();
    let is_apart = before.is_empty() || before.ends_with([' ', '\t']);
    if is_apart && !rest.is_empty() { code.start..line.end - rest.len() } else { code }
}

/// Takes one indentation off every line that has it. Lines stay lines.
pub(crate) fn dedent(text: &str, indent: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_prefix(indent).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// How the lines of a quote lie: its first line, and the indentations of the others, the least and the last one.
#[derive(PartialEq, Eq)]
struct QuoteShape {
    first: String,
    rest: Option<(usize, usize)>,
}

impl QuoteShape {
    fn of<'t>(lines: impl IntoIterator<Item = &'t str>) -> Self {
        let mut lines = lines.into_iter().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or_default().trim_end().to_owned();
        let widths: Vec<usize> = lines.map(|line| indent(line).len()).collect();
        Self { first, rest: widths.iter().min().copied().zip(widths.last().copied()) }
    }
}

/// The place of a symbol.
pub(super) struct SymbolLayout {
    /// The indentation of its first line.
    pub(super) indent: String,
    /// The least indentation of its other lines.
    rest: Option<usize>,
    /// The symbol as it is quoted from its comments, its attributes or its header on.
    quotes: Vec<QuoteShape>,
}

impl SymbolLayout {
    pub(super) fn of(text: &str, symbol: &Symbol) -> Self {
        let extent = symbol.extent.clone();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let rest = text[symbol.header..extent.end].lines().skip(1).filter(is_code);
        let rest = rest.map(|line| indent(line).len()).min();
        let starts = [extent.start, symbol.declaration.start, symbol.header];
        let quotes = starts.map(|start| QuoteShape::of(text[start..extent.end].lines())).into();
        Self { indent: indent(&text[line_start(text, extent.start)..extent.start]).to_owned(), rest, quotes }
    }

    /// Content brought to this place: without blank lines around it, without the indentation of its first line (which
    /// stands in the text already), all other lines indented in full.
    pub(super) fn indented(&self, text: &str, language: &Language, content: &str) -> String {
        let content = content.replace("\r\n", "\n");
        let content = content.trim_end();
        let content = &content[line_start(content, content.len() - content.trim_start().len())..];
        let first = indent(content);
        let retab = Retab::between(text, &[content]);
        if first == self.indent && (retab.is_none() || language.members_stand_alone) {
            return content[first.len()..].to_owned();
        }
        let bare = dedent(content, first);
        let fixed = strings(language, &bare);
        let lines: Vec<String> = bare
            .split('\n')
            .enumerate()
            .map(|(row, line)| match retab {
                Some(retab) if !fixed.contains(&row) => retab.line(line),
                _ => line.to_owned(),
            })
            .collect();
        let cut = first.is_empty() && self.is_cut(language, &lines, &fixed);
        let moved = lines.iter().enumerate().map(|(row, line)| {
            if row == 0 || cut || line.trim().is_empty() || fixed.contains(&row) {
                line.clone()
            } else {
                format!("{}{line}", self.indent)
            }
        });
        moved.collect::<Vec<_>>().join("\n")
    }

    /// True if content lacks the indentation of its first line only, as a quote from the symbol's start does.
    ///
    /// Then everything after it is indented at least like the symbol, and its block deeper than that. A quote whose
    /// lines lie as in the symbol is one in any layout.
    fn is_cut(&self, language: &Language, lines: &[String], fixed: &HashSet<usize>) -> bool {
        let rest = || {
            let rest = lines.iter().enumerate().skip(1);
            rest.filter(|(row, line)| !line.trim().is_empty() && !fixed.contains(row))
        };
        let shape = QuoteShape::of(lines.iter().map(String::as_str));
        if shape.rest.is_some() && self.quotes.contains(&shape) {
            return true;
        }
        if !rest().all(|(_, line)| line.starts_with(&self.indent)) {
            return false;
        }
        let least = |lines: &mut dyn Iterator<Item = usize>| lines.min();
        if !language.members_stand_alone && !self.indent.is_empty() {
            // The last line closes what the first one opens, or the lines lie as they did.
            let last = rest().next_back().map(|(_, line)| line);
            let closes = |line: &&String| language.closers.iter().any(|mark| line.trim_start().starts_with(mark));
            if last.filter(closes).is_some_and(|line| indent(line) == self.indent) {
                return true;
            }
            if self.rest.is_some() && least(&mut rest().map(|(_, line)| indent(line).len())) == self.rest {
                return true;
            }
        }
        let opens = |line: &String| {
            let is_comment = language.is_comment_line(line);
            !is_comment && language.without_comment(line).trim_end().ends_with(language.openers)
        };
        let header = lines.iter().position(opens);
        let block = header
            .and_then(|header| least(&mut rest().filter(|(row, _)| *row > header).map(|(_, line)| indent(line).len())));
        match block {
            Some(block) => block > self.indent.len(),
            None => rest().next().is_some(),
        }
    }
}

/// The lines that begin inside a multi-line string and do not follow the layout of the code around it.
///
/// A string whose lines are all indented at least like its opening line (a docstring) moves with the code. A string
/// that goes further left means exactly its characters.
fn strings(language: &Language, text: &str) -> HashSet<usize> {
    let is_directive = |line: &str| language.directive.is_some_and(|mark| line.starts_with(mark));
    let directives = text.split('\n').enumerate().filter(|(_, line)| is_directive(line));
    let mut fixed: HashSet<usize> = directives.map(|(row, _)| row).collect();
    let Some(tree) = language.tree(text) else { return fixed };
    let lines: Vec<&str> = text.split('\n').collect();
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        let rows = node.start_position().row + 1..node.end_position().row + 1;
        if rows.is_empty() {
            continue;
        }
        if language.exact_strings.contains(&node.kind()) {
            fixed.extend(rows);
            continue;
        }
        if !language.strings.contains(&node.kind()) {
            let mut cursor = node.walk();
            stack.extend(node.children(&mut cursor));
            continue;
        }
        let own = indent(lines.get(rows.start - 1).copied().unwrap_or(""));
        let inside = || rows.clone().filter_map(|row| lines.get(row)).filter(|line| !line.trim().is_empty());
        if own.is_empty() || !inside().all(|line| line.starts_with(own)) {
            fixed.extend(rows);
        }
    }
    fixed
}

/// The statement that has to take the place of the only one in a block, in a language without empty blocks.
pub(super) fn filler(text: &str, language: &Language, range: Range<usize>) -> Option<&'static str> {
    let (block, filler) = language.filler?;
    let tree = language.tree(text)?;
    let mut node = tree.root_node().descendant_for_byte_range(range.start, range.end);
    while let Some(here) = node {
        if here.kind() == block {
            let mut cursor = here.walk();
            let statements = here.named_children(&mut cursor).filter(|child| child.kind() != "comment").count();
            return (statements == 1).then_some(filler);
        }
        let parent = here.parent()?;
        if parent.kind() != block && parent.byte_range() != here.byte_range() {
            return None;
        }
        node = Some(parent);
    }
    None
}
