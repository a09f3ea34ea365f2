//! The imports at the module level of a text, and whether two texts differ in them alone.

use std::ops::Range;

use streaming_iterator::StreamingIterator;

use crate::symbols::language::Language;
use crate::symbols::outline::Outline;

/// A text split into its imports and the rest.
struct ImportParts {
    /// Each import statement outside of all symbols, as it is written.
    imports: Vec<String>,
    /// Each other statement, with the imports inside of it taken out.
    rest: Vec<String>,
    has_errors: bool,
}

/// The import statements of a text that are in no symbol, as they are written.
pub fn imports(language: &Language, text: &str) -> Vec<String> {
    ImportParts::of(language, text).map(|parts| parts.imports).unwrap_or_default()
}

/// The bytes of the import statements that are in no symbol, in source order.
pub fn places(language: &Language, text: &str) -> Vec<Range<usize>> {
    let Some(tree) = language.tree(text) else { return Vec::new() };
    let outline = Outline::of_tree(language, text, &tree);
    ImportSpans::of(language, text, &tree, &outline).map(|taken| taken.imports).unwrap_or_default()
}

/// True if two texts differ only in import statements at the module level and the blank lines around them. Never true
/// for a text that does not parse any more.
pub fn only_imports_differ(language: &Language, before: &str, after: &str) -> bool {
    let (Some(before), Some(after)) = (ImportParts::of(language, before), ImportParts::of(language, after)) else {
        return false;
    };
    before.rest == after.rest && (before.has_errors || !after.has_errors)
}

impl ImportParts {
    fn of(language: &Language, text: &str) -> Option<Self> {
        let tree = language.tree(text)?;
        let outline = Outline::of_tree(language, text, &tree);
        let taken = ImportSpans::of(language, text, &tree, &outline)?;
        let root = tree.root_node();
        let mut rest = Vec::new();
        for child in root.children(&mut root.walk()) {
            let range = child.byte_range();
            let left = taken.left_of(text, range.clone());
            if left.trim().is_empty() && !range.is_empty() {
                continue;
            }
            rest.push(left);
        }
        let imports = taken.imports.iter().filter_map(|range| text.get(range.clone())).map(str::to_owned).collect();
        Some(Self { imports, rest, has_errors: root.has_error() })
    }
}

/// The parts of a text that count as imports.
struct ImportSpans {
    imports: Vec<Range<usize>>,
    /// The imports, the blocks that hold nothing else, and the comments behind either on its line.
    all: Vec<Range<usize>>,
}

impl ImportSpans {
    fn of(language: &Language, text: &str, tree: &tree_sitter::Tree, outline: &Outline) -> Option<Self> {
        let query = language.imports_query()?;
        let (mut imports, mut comments, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            let (mut guard, mut guarded) = (None, None);
            for capture in one.captures() {
                let node = capture.node;
                match query.capture_names()[capture.index as usize] {
                    // A statement with a syntax error may be anything.
                    "import" if !node.has_error() && outline.at(node.start_byte()).is_none() => {
                        // Some grammars count the line end as a part of it.
                        let end = node.start_byte() + text[node.byte_range()].trim_end().len();
                        imports.push(node.start_byte()..end);
                    }
                    "comment" => comments.push(node.byte_range()),
                    "guard" if outline.at(node.start_byte()).is_none() => guard = Some(node),
                    "guarded" => guarded = Some(node),
                    _ => {}
                }
            }
            guards.extend(guard.zip(guarded));
        }
        imports.sort_by_key(|range| range.start);
        let is_known = |range: &Range<usize>| imports.contains(range) || comments.contains(range);
        let only = |node: tree_sitter::Node| {
            node.named_children(&mut node.walk()).all(|child| is_known(&child.byte_range())) && !node.has_error()
        };
        let blocks = guards.into_iter().filter(|(_, guarded)| only(*guarded)).map(|(guard, _)| guard.byte_range());
        let mut all: Vec<Range<usize>> = imports.iter().cloned().chain(blocks).collect();
        let behind = |comment: &Range<usize>| {
            all.iter().any(|range| text.get(range.end..comment.start).is_some_and(|gap| gap.chars().all(is_blank)))
        };
        let trailing: Vec<Range<usize>> = comments.iter().filter(|comment| behind(comment)).cloned().collect();
        all.extend(trailing);
        all.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        Some(Self { imports, all })
    }

    /// A stretch of the text without its imports, and without the lines that held nothing else.
    fn left_of(&self, text: &str, range: Range<usize>) -> String {
        let mut left = String::new();
        let mut at = range.start;
        for taken in self.all.iter().filter(|taken| taken.start < range.end && taken.end > range.start) {
            if taken.start < at {
                at = at.max(taken.end.min(range.end));
                continue;
            }
            left.push_str(text.get(at..taken.start).unwrap_or_default());
            let alone = left.rfind('\n').map_or(left.as_str(), |end| &left[end + 1..]).chars().all(is_blank);
            if alone {
                left.truncate(left.trim_end_matches(is_blank).trim_end_matches('\n').len());
            }
            at = taken.end.min(range.end);
        }
        left.push_str(text.get(at..range.end).unwrap_or_default());
        left
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;

    const TEXT: &str = "\
\"\"\"What it is.\"\"\"
from __future__ import annotations

import os  # paths
from typing import (
    TYPE_CHECKING,
)

if TYPE_CHECKING:
    from a import A

try:
    import fast
except ImportError:
    fast = None

LIMIT = 1


def f():
    import inner
    return LIMIT
";

    fn only(before: &str, after: &str) -> bool {
        only_imports_differ(language::of_path("a.py").unwrap(), before, after)
    }

    fn change(old: &str, new: &str) -> bool {
        assert_eq!(TEXT.matches(old).count(), 1, "{old}");
        only(TEXT, &TEXT.replace(old, new))
    }

    #[test]
    fn imports_may_come_go_and_change() {
        for (old, new) in [
            ("import os  # paths\n", ""),
            ("import os  # paths", "import os, sys"),
            ("import os  # paths", "import os\nimport sys\n\nfrom b import (\n    c,\n    d,\n)\n"),
            ("    TYPE_CHECKING,\n", "    TYPE_CHECKING,\n    Any,\n"),
            ("from __future__ import annotations\n\n", ""),
            ("    from a import A\n", "    from a import A, B\n    import c  # noqa\n"),
            ("if TYPE_CHECKING:\n    from a import A\n\n", ""),
            ("LIMIT = 1", "import late\n\nLIMIT = 1"),
            ("    import fast\n", "    import fast\n    import faster\n"),
            ("LIMIT = 1", "if typing.TYPE_CHECKING:\n    import b\n\nLIMIT = 1"),
        ] {
            assert!(change(old, new), "{old:?} {new:?}");
        }
        assert!(only("def f(): ...\n", "import os\n\n\ndef f(): ...\n") && only("import os\n", "") && only("", ""));
    }

    #[test]
    fn nothing_else_may() {
        for (old, new) in [
            ("LIMIT = 1", "LIMIT = 2"),
            ("LIMIT = 1", "import os; LIMIT = 2"),
            ("import os  # paths", "import os; print(os)"),
            ("import os  # paths", "import os\nprint(os)"),
            ("import os  # paths", "# paths"),
            ("    fast = None", "    fast = 1"),
            ("    import inner\n", ""),
            ("    import inner\n", "    import inner\n    import more\n"),
            ("    from a import A\n", "    from a import A\n    X = 1\n"),
            ("    from a import A\n", "    from a import A\nelse:\n    A = None\n"),
            ("if TYPE_CHECKING:", "if not TYPE_CHECKING:"),
            ("What it is.", "import os"),
            ("import os  # paths", "import os as"),
            ("import os  # paths", "import os if x else print(1)"),
            ("return LIMIT", "return 2"),
        ] {
            assert!(!change(old, new), "{old:?} {new:?}");
        }
    }

    #[test]
    fn the_imports_of_a_text_are_those_outside_of_its_symbols() {
        let all = imports(language::of_path("a.py").unwrap(), TEXT);
        assert_eq!(all.len(), 5, "{all:?}");
        assert!(all[1] == "import os" && !all.iter().any(|import| import.contains("inner")));
    }
}
