//! Sums up the rest of a file beside one of its symbols: imports, constants, classes, and the signatures of its
//! functions.

use std::ops::Range;

use sextant_text::symbols::language::Language;
use sextant_text::symbols::outline::Outline;

/// Most bytes of a constructor that is shown whole, since it lists the parts of the object.
const CONSTRUCTOR: usize = 500;

/// The file without the symbol and without the bodies of the others, within this many bytes.
pub(crate) fn around(language: &Language, text: &str, outline: &Outline, symbol: usize, room: usize) -> String {
    let Some(tree) = language.tree(text) else { return String::new() };
    let own = &outline.symbols[symbol];
    let used = |name: &str| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        text[own.extent.clone()].split(|c: char| !is_word(c)).any(|word| word == name)
    };
    let all = shortened(text, outline, symbol, &tree, &|_| true);
    if all.len() <= room {
        return all;
    }
    let named = shortened(text, outline, symbol, &tree, &used);
    if named.len() <= room {
        return named;
    }
    let mut end = room;
    while !named.is_char_boundary(end) {
        end -= 1;
    }
    named[..named[..end].rfind('\n').unwrap_or(0)].to_owned()
}

/// The text with each wanted function as its header alone, and without the unwanted ones.
fn shortened(
    text: &str,
    outline: &Outline,
    symbol: usize,
    tree: &tree_sitter::Tree,
    wanted: &dyn Fn(&str) -> bool,
) -> String {
    let own = &outline.symbols[symbol];
    let mut cuts: Vec<(Range<usize>, &str)> = vec![(line_start(text, own.extent.start)..own.extent.end, "")];
    for other in &outline.symbols {
        let apart = other.extent.end <= own.extent.start || other.extent.start >= own.extent.end;
        if !apart || other.kind.holds_members() && wanted(&other.name) {
            continue;
        }
        let beside = other.parent.is_some() && other.parent == own.parent;
        let shows_whole = other.name == "__init__" && beside && other.extent.len() <= CONSTRUCTOR;
        if shows_whole || cuts.iter().any(|(cut, _)| cut.contains(&other.extent.start)) {
            continue;
        }
        let whole = line_start(text, other.extent.start)..other.extent.end;
        match body(tree, &other.declaration) {
            _ if !wanted(&other.name) => cuts.push((whole, "")),
            Some(body) if other.kind.is_callable() => cuts.push((body, "...")),
            // A constant, a field, a signature: it says as much as a header.
            _ => {}
        }
    }
    cuts.sort_by_key(|(cut, _)| cut.start);
    let (mut out, mut at) = (String::new(), 0);
    for (cut, instead) in cuts {
        if cut.start < at {
            continue;
        }
        let kept = &text[at..cut.start];
        out.push_str(if instead.is_empty() { kept } else { kept.trim_end() });
        if !instead.is_empty() {
            out.push(' ');
        }
        out.push_str(instead);
        at = cut.end;
    }
    out.push_str(&text[at..]);
    let lines: Vec<&str> = out.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

fn line_start(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if text[line..at].trim().is_empty() { line } else { at }
}

/// The first body inside of a declaration: its own, or that of the function which it gives a name to.
fn body(tree: &tree_sitter::Tree, declaration: &Range<usize>) -> Option<Range<usize>> {
    let mut open = vec![tree.root_node().descendant_for_byte_range(declaration.start, declaration.end)?];
    while let Some(node) = open.pop() {
        let is_inside = node.start_byte() >= declaration.start && node.end_byte() <= declaration.end;
        match node.child_by_field_name("body").filter(|_| is_inside) {
            Some(body) => return Some(body.byte_range()),
            None => {
                let mut cursor = node.walk();
                let mut children: Vec<_> = node.children(&mut cursor).collect();
                children.retain(|child| child.start_byte() < declaration.end && child.end_byte() > declaration.start);
                open.extend(children.into_iter().rev());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_text::symbols::language;

    const TEXT: &str = "\
\"\"\"Accounts.\"\"\"

import os

LIMIT = 3


def helper(a: int) -> int:
    \"\"\"Helps.\"\"\"
    return a


class Account:
    kind: str = \"x\"

    def __init__(self, owner: str) -> None:
        self.owner = owner

    # Comment.
    def pay(self, sum: int) -> int:
        return helper(sum)

    @property
    def name(self) -> str:
        return self.owner


class Other:
    def far(self):
        def inner():
            pass
        return inner
";

    fn shown(names: &str, room: usize) -> String {
        let language = language::of_path("a.py").unwrap();
        let outline = Outline::parse(language, TEXT);
        around(language, TEXT, &outline, outline.find(names).unwrap(), room)
    }

    #[test]
    fn the_others_are_their_headers_and_the_constructor_of_the_class_is_whole() {
        assert_eq!(
            shown("Account::pay", 2000),
            "\"\"\"Accounts.\"\"\"\nimport os\nLIMIT = 3\ndef helper(a: int) -> int: ...\nclass Account:\n    \
             kind: str = \"x\"\n    def __init__(self, owner: str) -> None:\n        self.owner = owner\n    \
             @property\n    def name(self) -> str: ...\nclass Other:\n    def far(self): ..."
        );
        assert!(!shown("helper", 2000).contains("self.owner") && shown("helper", 2000).contains("def pay"));
    }

    #[test]
    fn only_bodies_that_run_are_left_out_in_every_language() {
        for (path, text, names, wanted) in [
            (
                "a.rs",
                "const MOST: u8 = 3;\n\nenum Level {\n    Low,\n    High,\n}\n\ntrait Rank {\n    fn rank(&self) -> u8;\n}\n\n\
                 fn f() -> u8 {\n    1\n}\n\npub fn g() -> u8 {\n    2\n}\n",
                "f",
                "const MOST: u8 = 3;\nenum Level {\n    Low,\n    High,\n}\ntrait Rank {\n    fn rank(&self) -> u8;\n}\n\
                 pub fn g() -> u8 ...",
            ),
            (
                "a.ts",
                "interface User {\n  name: string;\n}\n\nexport const twice = (n: number) => {\n  return n * 2;\n};\n\n\
                 function f() {\n  return 1;\n}\n",
                "f",
                "interface User {\n  name: string;\n}\nexport const twice = (n: number) => ...;",
            ),
            (
                "a.lua",
                "local M = {}\n\nfunction M.f()\n  return 1\nend\n\nfunction M.g(n)\n  return n\nend\n\nreturn M\n",
                "M::f",
                "local M = {}\nfunction M.g(n) ...\nend\nreturn M",
            ),
            (
                "a.go",
                "package a\n\nconst Most = 3\n\ntype Cart struct {\n\tItems []int\n}\n\n\
                 func (c *Cart) Total() int {\n\treturn 1\n}\n\nfunc F() int {\n\treturn 2\n}\n",
                "F",
                "package a\nconst Most = 3\ntype Cart struct {\n\tItems []int\n}\nfunc (c *Cart) Total() int ...",
            ),
        ] {
            let language = language::of_path(path).unwrap();
            let outline = Outline::parse(language, text);
            let symbol = outline.known(names).expect(path);
            assert_eq!(around(language, text, &outline, symbol, 2000), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_too_long_is_left_out_unless_the_symbol_names_it() {
        let short = shown("Account::pay", 220);
        assert!(short.contains("def helper") && !short.contains("def far"), "{short}");
        assert!(shown("Account::pay", 40).len() <= 40);
        assert_eq!(shown("Account::pay", 0), "");
    }
}
