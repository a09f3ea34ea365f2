//! Brings a definition that is written as if it stood alone into the form of a member: `function total() {}` in a class
//! is `total() {}`.
//!
//! `@alone` in a row's `modifiers.scm` captures the words that only a definition outside of its holder has.

use std::ops::Range;

use streaming_iterator::StreamingIterator;

use crate::symbols::language::Language;
use crate::symbols::modifiers::SymbolText;
use crate::symbols::outline::{Outline, Symbol, SymbolKind};

/// New code of a member, without the words that its old text shows to be out of place; `None` where it has no such word.
pub fn member_form(language: &Language, old: SymbolText<'_>, holder: SymbolKind, new: &str) -> Option<String> {
    if !(holder.has_methods() || holder == SymbolKind::Variable) || !words(language, old.text, old.symbol).is_empty() {
        return None;
    }
    let outline = Outline::parse(language, new);
    let symbol = outline.symbols.iter().find(|symbol| symbol.parent.is_none() && symbol.name == old.symbol.name)?;
    let words = words(language, new, symbol);
    if words.is_empty() {
        return None;
    }
    let mut out = new.to_owned();
    for word in words.into_iter().rev() {
        let rest = &new[word.end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        out.replace_range(word.start..word.end + blank, "");
    }
    Some(out)
}

/// The words of a header that stand only outside of a holder, in source order.
fn words(language: &Language, text: &str, symbol: &Symbol) -> Vec<Range<usize>> {
    let (Some(query), Some(tree)) = (language.modifiers_query(), language.tree(text)) else { return Vec::new() };
    let mut out = Vec::new();
    let mut cursor = tree_sitter::QueryCursor::new();
    cursor.set_byte_range(symbol.header..symbol.extent.end);
    let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        for capture in one.captures() {
            let range = capture.node.byte_range();
            let is_alone = query.capture_names()[capture.index as usize] == "alone";
            if is_alone && range.start >= symbol.header && range.start < symbol.name_range.end {
                out.push(range);
            }
        }
    }
    out.sort_by_key(|range| range.start);
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;

    fn in_holder(path: &str, text: &str, new: &str) -> Option<String> {
        let language = language::of_path(path).unwrap();
        let outline = Outline::parse(language, text);
        let symbol = outline.symbols.iter().find(|symbol| symbol.name == "f").unwrap();
        let holder = symbol.parent.map_or(SymbolKind::Function, |parent| outline.symbols[parent].kind);
        member_form(language, SymbolText { text, symbol }, holder, new)
    }

    #[test]
    fn words_of_a_definition_alone_go_where_a_member_has_none() {
        for (path, text, new, wanted) in [
            ("a.ts", "class A { f() {} }", "function f() { g(); }", "f() { g(); }"),
            ("a.ts", "class A { f() {} }", "export async function f() {}", "async f() {}"),
            ("a.js", "class A { *f() {} }", "function* f() {}", "* f() {}"),
            ("a.js", "const a = { f: function () {} };", "function f() {}", "f() {}"),
            ("a.hpp", "struct A { std::string f(); };", "std::string A::f();", "std::string f();"),
            (
                "a.hpp",
                "struct A { int f() { return 1; } };",
                "int A::f() { return B::g(); }",
                "int f() { return B::g(); }",
            ),
        ] {
            assert_eq!(in_holder(path, text, new).as_deref(), Some(wanted), "{path}: {new}");
        }
        for (path, text, new) in [
            ("a.ts", "class A { f() {} }", "f() {}"),
            ("a.ts", "export function f() {}", "export function f() { g(); }"),
            ("a.ts", "namespace A { export function f() {} }", "export function f() { g(); }"),
            ("a.ts", "function a() { function f() {} }", "function f() { g(); }"),
            ("a.cpp", "int A::f() { return 1; }", "int A::f() { return 2; }"),
            ("a.py", "class A:\n    def f(self): pass", "def f(self): return 1"),
        ] {
            assert_eq!(in_holder(path, text, new), None, "{path}: {new}");
        }
    }
}
