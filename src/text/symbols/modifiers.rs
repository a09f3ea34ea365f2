//! The words in front of a symbol's name that decide who can use it and how, and those that a new text of it has lost.
//!
//! A row's `modifiers.scm` captures them. `@visibility` says who can use it: another one in its place is a change, and
//! no loss. `@modifier` stands for itself. `@async` is lost only where the body still waits (`@await`) or never did:
//! it goes together with the last wait. A body may decide about `@follows`, so that one counts as lost only along with
//! another: such a text has a shortened header. `@place` is a value with modifiers behind the name of its symbol.

use std::ops::Range;

use streaming_iterator::StreamingIterator;

use crate::symbols::language::Language;
use crate::symbols::outline::Symbol;

/// A symbol of a text.
#[derive(Clone, Copy, Debug)]
pub struct SymbolText<'t> {
    pub text: &'t str,
    pub symbol: &'t Symbol,
}

/// A modifier that a new text of a symbol lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostModifier {
    pub text: String,
    /// The byte of the new text where it belongs.
    pub at: usize,
    /// The modifier with the blank that sets it apart.
    pub insert: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModifierRule {
    Visibility,
    Own,
    Async,
    Follows,
}

#[derive(Clone, Debug)]
struct HeaderModifier {
    rule: ModifierRule,
    range: Range<usize>,
    text: String,
}

/// The findings of the query about one symbol.
#[derive(Debug, Default)]
struct FoundModifiers {
    /// In source order.
    all: Vec<HeaderModifier>,
    waits: bool,
    /// The start of its value.
    place: Option<usize>,
}

/// The modifiers of a symbol that its new text has lost, in the order of the old header.
pub fn lost(language: &Language, old: SymbolText<'_>, new: SymbolText<'_>) -> Vec<LostModifier> {
    let (Some(had), Some(has)) = (FoundModifiers::of(language, old), FoundModifiers::of(language, new)) else {
        return Vec::new();
    };
    let is_there = |one: &HeaderModifier| has.all.iter().any(|other| other.text == one.text);
    let is_lost = |one: &HeaderModifier| match one.rule {
        ModifierRule::Visibility => !has.all.iter().any(|other| other.rule == ModifierRule::Visibility),
        ModifierRule::Own => !is_there(one),
        ModifierRule::Async => !is_there(one) && (has.waits || !had.waits),
        ModifierRule::Follows => false,
    };
    let is_shortened = had.all.iter().any(is_lost);
    let follows = |one: &HeaderModifier| is_shortened && one.rule == ModifierRule::Follows && !is_there(one);
    let mut out = Vec::new();
    for (index, one) in had.all.iter().enumerate().filter(|(_, one)| is_lost(one) || follows(one)) {
        let before = had.all[..index].iter().rev().find_map(|one| has.all.iter().find(|new| new.text == one.text));
        let (at, insert) = match before {
            _ if one.range.start >= old.symbol.name_range.end => (has.place, format!("{} ", one.text)),
            Some(before) => (Some(before.range.end), format!(" {}", one.text)),
            None => (start(old, new, &had), format!("{} ", one.text)),
        };
        out.extend(at.map(|at| LostModifier { text: one.text.clone(), at, insert }));
    }
    out
}

/// The byte of the new header where its first modifier belongs: behind what stands before the first one of the old
/// header (`template <class T>`). `None` where the new one does not begin like that.
fn start(old: SymbolText<'_>, new: SymbolText<'_>, had: &FoundModifiers) -> Option<usize> {
    let opening = old.text.get(old.symbol.header..had.all.first()?.range.start)?.trim();
    let rest = new.text.get(new.symbol.header..new.symbol.extent.end)?.strip_prefix(opening)?;
    Some(new.symbol.extent.end - rest.trim_start().len())
}

/// A text with the lost modifiers in it.
pub fn restored(text: &str, lost: &[LostModifier]) -> String {
    let mut out = text.to_owned();
    let mut lost: Vec<&LostModifier> = lost.iter().collect();
    lost.sort_by_key(|one| one.at);
    for one in lost.into_iter().rev() {
        out.insert_str(one.at, &one.insert);
    }
    out
}

impl FoundModifiers {
    fn of(language: &Language, of: SymbolText<'_>) -> Option<Self> {
        let (query, tree) = (language.modifiers_query()?, language.tree(of.text)?);
        let Symbol { extent, header, name_range, .. } = of.symbol;
        let mut out = Self::default();
        let mut cursor = tree_sitter::QueryCursor::new();
        cursor.set_byte_range(*header..extent.end);
        let mut matches = cursor.matches(&query, tree.root_node(), of.text.as_bytes());
        while let Some(one) = matches.next() {
            for capture in one.captures() {
                let range = capture.node.byte_range();
                if range.start < *header || range.end > extent.end {
                    continue;
                }
                let rule = match query.capture_names()[capture.index as usize] {
                    "visibility" => ModifierRule::Visibility,
                    "modifier" => ModifierRule::Own,
                    "async" => ModifierRule::Async,
                    "follows" => ModifierRule::Follows,
                    "await" => {
                        out.waits = true;
                        continue;
                    }
                    "place" if range.start >= name_range.end => {
                        out.place = Some(out.place.map_or(range.start, |place| place.min(range.start)));
                        continue;
                    }
                    _ => continue,
                };
                let text = of.text[range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
                out.all.push(HeaderModifier { rule, range, text });
            }
        }
        let place = out.place;
        out.all.retain(|one| one.range.end <= name_range.start || Some(one.range.start) == place);
        // Of two patterns that find the same word, the one that lets the body decide counts.
        out.all.sort_by_key(|one| (one.range.start, one.rule != ModifierRule::Follows));
        out.all.dedup_by(|b, a| a.range == b.range);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;
    use crate::symbols::outline::Outline;

    /// The new text of the last symbol of a file with its lost modifiers.
    fn kept(path: &str, old: &str, new: &str) -> String {
        let language = language::of_path(path).unwrap();
        let (before, after) = (Outline::parse(language, old), Outline::parse(language, new));
        let of = |outline: &Outline| outline.symbols.iter().rposition(|symbol| symbol.kind.is_callable()).unwrap();
        let (was, is) = (&before.symbols[of(&before)], &after.symbols[of(&after)]);
        let lost = lost(language, SymbolText { text: old, symbol: was }, SymbolText { text: new, symbol: is });
        restored(new, &lost)
    }

    #[test]
    fn a_lost_modifier_is_known_in_every_row() {
        for (path, old, new, wanted) in [
            ("a.ts", "export function f() {}", "function f() { g(); }", "export function f() { g(); }"),
            ("a.ts", "export default async function f() {}", "function f() {}", "export default async function f() {}"),
            ("a.ts", "export default function f() {}", "export function f() {}", "export default function f() {}"),
            ("a.js", "export const f = async () => 1;", "const f = () => 2;", "export const f = async () => 2;"),
            ("a.ts", "class A { private static f() {} }", "class A { f() {} }", "class A { private static f() {} }"),
            ("a.rs", "pub(crate) async fn f() {}", "fn f() {}", "pub(crate) async fn f() {}"),
            ("a.rs", "/// A.\n#[inline]\npub fn f() {}", "#[inline]\nfn f() {}", "#[inline]\npub fn f() {}"),
            ("a.rs", "pub const unsafe fn f() {}", "pub fn f() {}", "pub fn f() {}"),
            ("a.rs", "pub extern \"C\" fn f() {}", "pub fn f() {}", "pub extern \"C\" fn f() {}"),
            (
                "A.java",
                "class A { public static int f() { return 1; } }",
                "class A { int f() { return 2; } }",
                "class A { public static int f() { return 2; } }",
            ),
            (
                "A.java",
                "class A { @Override\n public synchronized int f() { return 1; } }",
                "class A { @Override\n public int f() { return 2; } }",
                "class A { @Override\n public synchronized int f() { return 2; } }",
            ),
            (
                "a.c",
                "static inline int f(void) { return 1; }",
                "int f(void) { return 2; }",
                "static inline int f(void) { return 2; }",
            ),
            (
                "a.cpp",
                "template <class T>\nstatic int f(T t) { return 1; }",
                "template <class T>\nint f(T t) { return 2; }",
                "template <class T>\nstatic int f(T t) { return 2; }",
            ),
            (
                "a.hpp",
                "class A { virtual int f() { return 1; } };",
                "class A { int f() { return 2; } };",
                "class A { virtual int f() { return 2; } };",
            ),
            ("a.lua", "local function f() end", "function f() g() end", "local function f() g() end"),
            ("a.lua", "local f = function() end", "f = function() g() end", "local f = function() g() end"),
            ("a.py", "async def f(): pass", "def f(): return 1", "async def f(): return 1"),
        ] {
            assert_eq!(kept(path, old, new), wanted, "{path}: {old}");
        }
    }

    #[cfg(feature = "lang-more")]
    #[test]
    fn a_lost_modifier_is_known_in_the_rows_on_request() {
        for (path, old, new, wanted) in [
            (
                "a.cs",
                "class A { public async Task F() { } }",
                "class A { Task F() { } }",
                "class A { public async Task F() { } }",
            ),
            ("a.kt", "private suspend fun f() = 1", "fun f() = 2", "private suspend fun f() = 2"),
            (
                "a.php",
                "<?php class A { private function f() {} }",
                "<?php class A { function f() {} }",
                "<?php class A { private function f() {} }",
            ),
            ("a.zig", "pub inline fn f() void {}", "fn f() void {}", "pub inline fn f() void {}"),
        ] {
            assert_eq!(kept(path, old, new), wanted, "{path}: {old}");
        }
        let (old, new) = ("class A { static int F() { return 1; } }", "class A { int F() { return x; } }");
        assert_eq!(kept("a.cs", old, new), new);
    }

    #[test]
    fn a_modifier_that_was_exchanged_or_follows_from_the_body_is_not_lost() {
        for (path, old, new) in [
            ("a.rs", "pub fn f() {}", "pub(crate) fn f() {}"),
            ("A.java", "class A { public int f() {} }", "class A { private int f() {} }"),
            ("a.ts", "class A { static f() {} }", "class A { f() { this.g(); } }"),
            ("a.hpp", "class A { static int f() { return 1; } };", "class A { int f() { return n; } };"),
            ("a.ts", "export async function f() { await g(); }", "export function f() { g(); }"),
            ("a.py", "async def f(): await g()", "def f(): g()"),
            ("a.rs", "async fn f() { g().await }", "fn f() { g() }"),
            ("a.go", "func F() {}", "func F() { g() }"),
        ] {
            assert_eq!(kept(path, old, new), new, "{path}: {old}");
        }
        let waits = "async def f():\n    return await g()";
        assert_eq!(kept("a.py", "async def f(): await g()", &waits["async ".len()..]), waits);
    }
}
