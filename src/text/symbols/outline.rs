//! The outline of one text: its symbols with their extents, in source order.

use std::collections::HashMap;
use std::ops::Range;

use streaming_iterator::StreamingIterator;

use crate::symbols::language::Language;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    Class,
    Function,
    Method,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// 1 for the first of its name among its siblings, 2 for the second (`#2`), in source order.
    pub ordinal: usize,
    /// Index of the enclosing symbol in [`Outline::symbols`]; `None` at module level.
    pub parent: Option<usize>,
    /// Bytes of the whole symbol: leading comments, decorators, header, body. It starts with the text of its first line
    /// (indentation excluded). It ends with its last statement (or with a comment indented like the body below it),
    /// line end excluded.
    pub extent: Range<usize>,
    /// As `extent`, without the leading comments.
    pub declaration: Range<usize>,
    /// Bytes of the name.
    pub name_range: Range<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In source order; a parent stands before its children.
    pub symbols: Vec<Symbol>,
    /// Whether the text has syntax errors; symbols outside of them are still good.
    pub has_errors: bool,
}

impl Outline {
    /// Parses a text. A text with syntax errors has the symbols that could be read.
    pub fn parse(language: &Language, text: &str) -> Self {
        match language.tree(text) {
            Some(tree) => Self::of_tree(language, text, &tree),
            None => Self { symbols: Vec::new(), has_errors: true },
        }
    }

    /// The outline of a text that is parsed already.
    pub fn of_tree(language: &Language, text: &str, tree: &tree_sitter::Tree) -> Self {
        let has_errors = tree.root_node().has_error();
        match language.symbols_query() {
            Some(query) => Self { symbols: symbols(&query, text, tree), has_errors },
            None => Self { symbols: Vec::new(), has_errors: true },
        }
    }

    /// The path of a symbol inside its file: `Cart::total`, `Cart::total#2`. Empty for an unknown index.
    pub fn path_of(&self, index: usize) -> String {
        let mut parts = Vec::new();
        let mut at = self.symbols.get(index);
        while let Some(symbol) = at {
            parts.push(match symbol.ordinal {
                0 | 1 => symbol.name.clone(),
                n => format!("{}#{n}", symbol.name),
            });
            at = symbol.parent.and_then(|parent| self.symbols.get(parent));
        }
        parts.reverse();
        parts.join("::")
    }

    /// The innermost symbol that holds the offset (leading comments and decorators included). The end of an extent
    /// belongs to it: the cursor stands there after the last character.
    pub fn at(&self, offset: usize) -> Option<usize> {
        let mut at = self.symbols.partition_point(|symbol| symbol.extent.start <= offset).checked_sub(1);
        while let Some(index) = at {
            if offset <= self.symbols[index].extent.end {
                break;
            }
            at = self.symbols[index].parent;
        }
        at
    }

    /// Finds a symbol by full path or unique suffix. A full path wins over a suffix; a name that has twins
    /// needs its ordinal (`total#1`).
    pub fn find(&self, names: &str) -> Result<usize, NotFound> {
        crate::symbols::symbol_path::find(self, names)
    }

    /// The same, with every symbol where several share the name in one place: overloads, a property and its setter.
    pub fn find_all(&self, names: &str) -> Result<Vec<usize>, NotFound> {
        crate::symbols::symbol_path::find_all(self, names)
    }

    /// The path of a symbol that names it among these: the first of twins gets its `#1`.
    pub fn exact_path_of(&self, index: usize, among: &[usize]) -> String {
        crate::symbols::symbol_path::exact_path(self, index, among)
    }
}

/// No symbol, or more than one, has the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The ambiguous ones, or else the nearest names; full paths inside the file.
    pub candidates: Vec<String>,
}

/// A definition as the query found it.
struct Found {
    kind: SymbolKind,
    node: Range<usize>,
    name: Range<usize>,
}

fn symbols(query: &tree_sitter::Query, text: &str, tree: &tree_sitter::Tree) -> Vec<Symbol> {
    let mut found = Vec::new();
    // End of a wrapper to its start: the definition inside ends where the wrapper ends.
    let mut wrappers: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut comments = Vec::new();
    let mut cursor = tree_sitter::QueryCursor::new();
    let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        let (mut kind, mut node, mut name) = (None, 0..0, 0..0);
        for capture in one.captures() {
            let range = capture.node.byte_range();
            match query.capture_names()[capture.index as usize] {
                "class" => (kind, node) = (Some(SymbolKind::Class), range),
                "function" => (kind, node) = (Some(SymbolKind::Function), range),
                "name" => name = range,
                "wrapper" => wrappers.entry(range.end).or_default().push(range.start),
                "comment" => comments.push(range.start),
                _ => {}
            }
        }
        if let Some(kind) = kind
            && !name.is_empty()
        {
            found.push(Found { kind, node, name });
        }
    }
    // Nested definitions may end together; the outer one starts first.
    found.sort_by_key(|f| (f.node.start, std::cmp::Reverse(f.node.end)));
    comments.sort_unstable();
    let mut out: Vec<Symbol> = Vec::with_capacity(found.len());
    let mut open: Vec<usize> = Vec::new();
    let mut counts: HashMap<(Option<usize>, &str), usize> = HashMap::new();
    let mut previous_start = 0;
    for one in found {
        // The innermost wrapper that ends here and starts after the definition before this one.
        let wrapper = wrappers.get(&one.node.end).into_iter().flatten().copied();
        let start = wrapper.filter(|s| *s <= one.node.start && *s > previous_start || *s == 0 && out.is_empty());
        let start = start.max().unwrap_or(one.node.start);
        previous_start = one.node.start;
        while open.last().is_some_and(|top| out[*top].declaration.end < one.node.end) {
            open.pop();
        }
        let parent = open.last().copied();
        let in_class = parent.is_some_and(|p| out[p].kind == SymbolKind::Class);
        let kind = if one.kind == SymbolKind::Function && in_class { SymbolKind::Method } else { one.kind };
        let name = &text[one.name.clone()];
        let ordinal = counts.entry((parent, name)).and_modify(|n| *n += 1).or_insert(1);
        out.push(Symbol {
            name: name.to_owned(),
            kind,
            ordinal: *ordinal,
            parent,
            extent: with_comments(text, &comments, start)..one.node.end,
            declaration: start..one.node.end,
            name_range: one.name,
        });
        open.push(out.len() - 1);
    }
    out
}

/// Draws a start up over the comments that stand alone on the lines directly above, indented alike.
fn with_comments(text: &str, comments: &[usize], mut start: usize) -> usize {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |i| i + 1);
    let indent = &text[line_start(start)..start];
    if !indent.trim_start_matches(['\u{feff}', ' ', '\t']).is_empty() {
        return start;
    }
    loop {
        let line = line_start(start);
        if line == 0 {
            return start;
        }
        let above = line_start(line - 1);
        let comment = above + indent.len();
        if comment >= line
            || !text.is_char_boundary(comment)
            || text[above..comment] != *indent
            || comments.binary_search(&comment).is_err()
        {
            return start;
        }
        start = comment;
    }
}

#[cfg(test)]
mod tests;
