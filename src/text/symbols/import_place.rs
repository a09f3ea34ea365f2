//! Decides where a further import of a text stands: below those at its head, or else below what opens it.
//!
//! `@opening` in a row's `imports.scm` captures what stands above all imports (a package, a shebang, the documentation
//! of a module, the two lines of an include guard). A comment opens a file if a blank line follows it; otherwise it
//! belongs to what it stands on.

use streaming_iterator::StreamingIterator;
use tree_sitter::Node;

use crate::symbols::imports;
use crate::symbols::language::Language;
use crate::symbols::outline::Outline;

/// The start of a line for a further import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportPlace {
    pub at: usize,
    /// True if another import stands right above.
    pub has_imports: bool,
}

/// The starts of nodes that may stand above the first code.
#[derive(Default)]
struct HeadNodes {
    imports: Vec<usize>,
    openings: Vec<usize>,
    comments: Vec<usize>,
}

pub fn of_text(language: &Language, text: &str) -> ImportPlace {
    let Some(tree) = language.tree(text) else { return ImportPlace::default() };
    let heads = HeadNodes::of(language, text, &tree);
    let nodes = heads.list(tree.root_node());
    let outline = Outline::of_tree(language, text, &tree);
    let is_code = |kind: crate::symbols::outline::SymbolKind| kind.is_callable() || kind.has_methods();
    let code = outline.symbols.iter().find(|symbol| is_code(symbol.kind)).map_or(text.len(), |one| one.extent.start);
    let is_import = |node: &&Node| node.start_byte() < code && heads.imports.contains(&node.start_byte());
    if let Some(last) = nodes.iter().rev().find(is_import) {
        return ImportPlace { at: line_end(text, last.end_byte()), has_imports: true };
    }
    let mut at = 0;
    for node in &nodes {
        let end = node.start_byte() + text[node.byte_range()].trim_end().len();
        if heads.openings.contains(&node.start_byte()) {
            at = line_end(text, end);
        } else if !heads.comments.contains(&node.start_byte()) {
            break;
        } else if is_apart(&text[end..]) {
            at = line_end(text, end);
        }
    }
    ImportPlace { at, has_imports: false }
}

/// Recognizes a text that begins with a blank line, or with the end of the file.
fn is_apart(rest: &str) -> bool {
    let code = rest.trim_start();
    code.is_empty() || rest[..rest.len() - code.len()].matches('\n').count() > 1
}

/// The start of the next line.
fn line_end(text: &str, at: usize) -> usize {
    if text[..at].ends_with('\n') { at } else { text[at..].find('\n').map_or(text.len(), |end| at + end + 1) }
}

impl HeadNodes {
    fn of(language: &Language, text: &str, tree: &tree_sitter::Tree) -> Self {
        let imports = imports::places(language, text).into_iter().map(|place| place.start).collect();
        let mut out = Self { imports, ..Self::default() };
        let Some(query) = language.imports_query() else { return out };
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            for capture in one.captures() {
                match query.capture_names()[capture.index as usize] {
                    "opening" => out.openings.push(capture.node.start_byte()),
                    "comment" => out.comments.push(capture.node.start_byte()),
                    _ => {}
                }
            }
        }
        out
    }

    /// The nodes at the head of a text: those of its level, or of the one block around all of it, from its opening on.
    fn list<'t>(&self, root: Node<'t>) -> Vec<Node<'t>> {
        let children = |node: Node<'t>| node.children(&mut node.walk()).collect::<Vec<_>>();
        let all = children(root);
        let mut blocks = all.iter().filter(|node| !self.comments.contains(&node.start_byte()));
        if let (Some(block), None) = (blocks.next(), blocks.next()) {
            let inside = children(*block);
            let opens = |node: &Node| self.openings.contains(&node.start_byte());
            if let Some(first) = inside.iter().position(opens).filter(|_| !opens(block)) {
                return inside[first..].to_vec();
            }
        }
        all
    }
}
