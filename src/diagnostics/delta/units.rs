//! Splits a file into units: a simple statement, a compound statement's header, a decorator, a comment.
//!
//! Without a syntax tree a unit is a line.

use tree_sitter::{Node, Tree};

/// The ends of the names of statement nodes, by which they are known inside of an error.
const STATEMENTS: &[&str] = &["_statement", "_definition", "_item", "_declaration", "_signature"];

/// From this byte on, tokens belong to this unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub start: u32,
    /// Counted from 0 in the file.
    pub unit: u32,
}

#[derive(Debug, Default)]
pub(super) struct Cuts {
    pub cuts: Vec<Cut>,
    /// One entry a unit: whether it is a comment.
    pub comments: Vec<bool>,
    /// ERROR and MISSING nodes.
    pub errors: usize,
}

impl Cuts {
    fn unit(&mut self, comment: bool) -> u32 {
        self.comments.push(comment);
        (self.comments.len() - 1) as u32
    }

    fn cut(&mut self, start: usize, unit: u32) {
        if self.cuts.last().is_none_or(|last| last.unit != unit) {
            self.cuts.push(Cut { start: start as u32, unit });
        }
    }

    /// The unit of the token that starts at `start`; `hint` is moved along, so that asking in order costs nothing.
    pub(super) fn unit_at(&self, start: u32, hint: &mut usize) -> u32 {
        while self.cuts.get(*hint + 1).is_some_and(|cut| cut.start <= start) {
            *hint += 1;
        }
        self.cuts.get(*hint).map_or(0, |cut| cut.unit)
    }
}

/// A statement that is being read; its unit is opened by its first leaf, and again after a block inside it.
struct OpenStatement {
    unit: Option<u32>,
    comment: bool,
    /// Inside an ERROR node units are lines: the row of the last leaf.
    error_row: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    level: bool,
    block: bool,
    error: bool,
}

/// The units of a tree, given with the nodes whose children are statements.
pub(super) fn of_tree(tree: &Tree, blocks: &[&str]) -> Cuts {
    let language = tree.language();
    let blocks: Vec<bool> = (0..language.node_kind_count())
        .map(|id| language.node_kind_for_id(id as u16).is_some_and(|kind| blocks.contains(&kind)))
        .collect();
    let mut cuts = Cuts::default();
    let mut levels = vec![OpenStatement { unit: None, comment: false, error_row: None }];
    let mut path: Vec<Flags> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let parent = path.last().copied().unwrap_or_default();
        let flags = enter(&node, parent, &blocks, &mut levels, &mut cuts);
        if cursor.goto_first_child() {
            path.push(flags);
            continue;
        }
        leaf(&node, &mut levels, &mut cuts);
        leave(flags, &mut levels);
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return cuts;
            }
            if let Some(flags) = path.pop() {
                leave(flags, &mut levels);
            }
        }
    }
}

fn enter(node: &Node, parent: Flags, blocks: &[bool], levels: &mut Vec<OpenStatement>, cuts: &mut Cuts) -> Flags {
    let (error, kind) = (node.is_error(), node.kind());
    if error || node.is_missing() {
        cuts.errors += 1;
    }
    let comment = node.is_extra() && !error && kind.ends_with("comment");
    let statement = parent.block && node.is_named() && !error
        || parent.error && STATEMENTS.iter().any(|end| kind.ends_with(end))
        || kind == "decorator";
    let level = comment || statement || error;
    if level {
        levels.push(OpenStatement { unit: None, comment, error_row: error.then_some(usize::MAX) });
    }
    let block = blocks.get(node.kind_id() as usize).copied().unwrap_or(false);
    Flags { level, block, error }
}

fn leaf(node: &Node, levels: &mut [OpenStatement], cuts: &mut Cuts) {
    let Some(level) = levels.last_mut() else { return };
    if node.start_byte() == node.end_byte() {
        return;
    }
    if let Some(row) = level.error_row {
        let here = node.start_position().row;
        if row != here {
            level.error_row = Some(here);
            level.unit = None;
        }
    }
    let comment = level.comment;
    let unit = *level.unit.get_or_insert_with(|| cuts.unit(comment));
    cuts.cut(node.start_byte(), unit);
}

fn leave(flags: Flags, levels: &mut Vec<OpenStatement>) {
    if flags.level {
        levels.pop();
    }
    if flags.block
        && let Some(level) = levels.last_mut()
    {
        level.unit = None;
    }
}

pub(super) fn of_lines(text: &str) -> Cuts {
    let mut cuts = Cuts::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let unit = cuts.unit(false);
        cuts.cut(start, unit);
        start += line.len();
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_text::symbols::language;

    fn units(text: &str) -> Vec<String> {
        let language = language::of_path("a.py").expect("a row");
        let cuts = of_tree(&language.tree(text).expect("a tree"), language.blocks);
        let mut out = vec![String::new(); cuts.comments.len()];
        for (i, cut) in cuts.cuts.iter().enumerate() {
            let end = cuts.cuts.get(i + 1).map_or(text.len(), |next| next.start as usize);
            out[cut.unit as usize].push_str(text[cut.start as usize..end].trim());
        }
        out
    }

    #[test]
    fn statements_headers_decorators_and_comments_are_units() {
        for (text, expected) in [
            ("a = 1; b = 2\n", vec!["a = 1", ";", "b = 2"]),
            ("if a:  # why\n    b\nelse:\n    c\n", vec!["if a:", "# why", "b", "else:", "c"]),
            (
                "@d(1)\nclass A(B):\n    '''doc'''\n    x = [\n        1,  # one\n        2]\n",
                vec!["@d(1)", "class A(B):", "'''doc'''", "x = [\n        1,2]", "# one"],
            ),
            (
                "try:\n    a\nexcept E as e:\n    b\nfinally:\n    c\n",
                vec!["try:", "a", "except E as e:", "b", "finally:", "c"],
            ),
            ("f(lambda x: x,\n  [y for y in z])\n", vec!["f(lambda x: x,\n  [y for y in z])"]),
        ] {
            assert_eq!(units(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_units_without_a_tree() {
        assert_eq!(of_lines("a b\n\nc").cuts.len(), 3);
        assert!(of_lines("").cuts.is_empty());
    }
}
