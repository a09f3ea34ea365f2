//! Moves an edit from one state of a text to another: by symbols that read alike in both, or by lines that are unique
//! in each.

use std::ops::Range;

use crate::edits::TextEdit;
use crate::symbols::language::Language;
use crate::symbols::outline::Outline;

/// A text with its symbols.
struct ReadText<'a> {
    text: &'a str,
    outline: Outline,
}

/// The edits of `from` as edits of `to`. Each belongs to the innermost symbol that holds it.
///
/// `None` if an edit lies in no symbol, or its symbol is missing in `to` or reads otherwise there: then the meaning of
/// the edit is uncertain. Where `to` is half typed, the lines of the symbol are looked for.
pub fn rebase(language: &Language, from: &str, to: &str, edits: &[TextEdit]) -> Option<Vec<TextEdit>> {
    let read = |text| ReadText { text, outline: Outline::parse(language, text) };
    let (old, new) = (read(from), read(to));
    let mut out = Vec::with_capacity(edits.len());
    for edit in edits {
        let holder = holder(&old.outline, from, &edit.range)?;
        let was = with_indent(from, &old.outline, holder);
        let there = same_in(&new.outline, &old.outline, holder);
        let by_path = there.map(|there| with_indent(to, &new.outline, there));
        let by_path = by_path.filter(|is| from[was.clone()] == to[is.clone()]);
        let is = by_path.or_else(|| in_broken(&old, holder, &new))?;
        let shift = is.start.cast_signed() - was.start.cast_signed();
        let moved =
            |range: &Range<usize>| Some(range.start.checked_add_signed(shift)?..range.end.checked_add_signed(shift)?);
        // With the blanks beside it that the edit reaches into.
        let whole = was.start.min(edit.range.start)..was.end.max(edit.range.end);
        if from.get(whole.clone())? != to.get(moved(&whole)?)? {
            return None;
        }
        out.push(TextEdit { range: moved(&edit.range)?, text: edit.text.clone() });
    }
    out.sort_by_key(|edit| edit.range.start);
    let apart = out.windows(2).all(|two| two[0].range.end <= two[1].range.start);
    apart.then_some(out)
}

/// The same for edits that lie in no symbol: in a text without symbols, or between them. Each goes to the place of its
/// lines, with as many lines around them as make them unique.
///
/// `None` if one lies in a symbol, or its lines are missing in `to` or stand there more than once.
pub fn by_lines(language: Option<&Language>, from: &str, to: &str, edits: &[TextEdit]) -> Option<Vec<TextEdit>> {
    let in_symbol = |outline: &Outline| edits.iter().any(|edit| holder(outline, from, &edit.range).is_some());
    // The sections of a document hold all of it.
    if language
        .filter(|language| !language.is_document)
        .is_some_and(|language| in_symbol(&Outline::parse(language, from)))
    {
        return None;
    }
    let mut out = Vec::with_capacity(edits.len());
    for edit in edits {
        let quoted = quoted(from, &edit.range)?;
        let at = only(to, &from[quoted.clone()])?;
        let start = at + (edit.range.start - quoted.start);
        out.push(TextEdit { range: start..start + edit.range.len(), text: edit.text.clone() });
    }
    let apart = out.windows(2).all(|two| two[0].range.end <= two[1].range.start);
    apart.then_some(out)
}

/// Lines around an edit that may be needed to make its place unique.
const AROUND: usize = 20;

/// The lines of an edit, with as many lines around them as make the place unique.
fn quoted(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let start_of = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end_of = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end);
    let (mut start, mut end) = (start_of(range.start), end_of(range.end));
    for _ in 0..AROUND {
        if !text[start..end].trim().is_empty() && only(text, &text[start..end]).is_some() {
            return Some(start..end);
        }
        (start, end) = (start_of(start.saturating_sub(1)), end_of((end + 1).min(text.len())));
    }
    None
}

/// The place of lines that stand once in a text. They are whole lines in both.
fn only(text: &str, lines: &str) -> Option<usize> {
    let whole = |at: &usize| {
        let end = at + lines.len();
        (*at == 0 || text[..*at].ends_with('\n')) && (end == text.len() || text[end..].starts_with('\n'))
    };
    let mut found = text.match_indices(lines).map(|(at, _)| at).filter(whole);
    found.next().filter(|_| found.next().is_none())
}

/// The symbol of the same path in another outline. `None` if the number of that name differs: a copy has the name and
/// the text of its original.
fn same_in(new: &Outline, old: &Outline, symbol: usize) -> Option<usize> {
    let path = old.path_of(symbol);
    let same = (0..new.symbols.len()).find(|index| new.path_of(*index) == path)?;
    let twins = |outline: &Outline, of: usize| {
        let (name, owner) = (&outline.symbols[of].name, &outline.symbols[of].owner);
        outline.symbols.iter().filter(|other| other.name == *name && other.owner == *owner).count()
    };
    (twins(old, symbol) == twins(new, same)).then_some(same)
}

/// The place of a symbol in a text where code that is half typed hides it from the parser. Its lines must stand once in
/// both texts, each header around it as well.
fn in_broken(from: &ReadText<'_>, symbol: usize, to: &ReadText<'_>) -> Option<Range<usize>> {
    if from.outline.has_errors || !to.outline.has_errors {
        return None;
    }
    let symbols = &from.outline.symbols;
    let own = &from.text[with_indent(from.text, &from.outline, symbol)];
    only(from.text, own)?;
    let at = only(to.text, own)?;
    let mut around = symbols[symbol].parent;
    while let Some(index) = around {
        let header = symbols[index].header;
        let start = from.text[..header].rfind('\n').map_or(0, |at| at + 1);
        let end = from.text[header..].find('\n').map_or(from.text.len(), |end| header + end);
        only(to.text, &from.text[start..end]).filter(|there| *there < at)?;
        around = symbols[index].parent;
    }
    Some(at..at + own.len())
}

/// The bytes of a symbol, and the text before it in its first line.
fn with_indent(text: &str, outline: &Outline, symbol: usize) -> Range<usize> {
    let extent = &outline.symbols[symbol].extent;
    text[..extent.start].rfind('\n').map_or(0, |at| at + 1)..extent.end
}

/// The innermost symbol that holds a range, the blanks at its ends aside. Blanks alone belong to the symbol that they
/// follow.
fn holder(outline: &Outline, text: &str, range: &Range<usize>) -> Option<usize> {
    let inside = text.get(range.clone())?;
    let held = if inside.trim().is_empty() {
        let end = outline.at(range.start).map_or_else(|| text[..range.start].trim_end().len(), |_| range.start);
        end..end
    } else {
        range.end - inside.trim_start().len()..range.start + inside.trim_end().len()
    };
    let mut at = outline.at(held.start);
    while let Some(index) = at.filter(|index| outline.symbols[*index].extent.end < held.end) {
        at = outline.symbols[index].parent;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edits::apply_text::apply;
    use crate::edits::hunks::hunks;
    use crate::symbols::language;

    const SHOP: &str = "import os\n\n\nclass Cart:\n    def total(self):\n        return 1\n\n    def add(self):\n        \
                        return 2\n\n\ndef main():\n    return Cart()\n";

    /// The result of an edit of `SHOP` after a change in the meantime.
    fn moved(edited: (&str, &str), meanwhile: (&str, &str)) -> Option<String> {
        let now = SHOP.replace(meanwhile.0, meanwhile.1);
        assert!(now != SHOP && SHOP.contains(edited.0));
        let edits = hunks(SHOP, &SHOP.replace(edited.0, edited.1));
        let python = language::of_path("a.py").unwrap();
        Some(apply(&now, &rebase(python, SHOP, &now, &edits)?).unwrap())
    }

    #[test]
    fn an_edit_goes_where_its_symbol_has_gone() {
        let both = |edited: (&str, &str), meanwhile: (&str, &str)| {
            assert_eq!(
                moved(edited, meanwhile).as_deref(),
                Some(SHOP.replace(meanwhile.0, meanwhile.1).replace(edited.0, edited.1).as_str()),
                "{edited:?} {meanwhile:?}"
            );
        };
        both(("return 1", "return 10"), ("import os", "import os\nimport sys"));
        both(("return 1", "return 10"), ("return 2", "return 20"));
        both(("return 2", "return 20"), ("class Cart:", "# mine\n\n\nclass Cart:"));
        both(("return Cart()\n", "return Cart()\n\n\ndef new():\n    pass\n"), ("return 1", "return 10"));
        both(("def main():\n    return Cart()\n", ""), ("import os\n", ""));
    }

    #[test]
    fn an_edit_of_what_was_changed_meanwhile_goes_nowhere() {
        for (edited, meanwhile) in [
            (("return 1", "return 10"), ("return 1", "return 3")),
            (("return 1", "return 10"), ("self):\n        return 1", "self, more):\n        return 1")),
            (("return 1", "return 10"), ("def total", "def sum")),
            (("return 1", "return 10"), ("class Cart", "class Basket")),
            (("import os", "import re"), ("return 2", "return 20")),
            // A copy above it, to be changed next.
            (("return Cart()\n", "return None\n"), ("def main", "def main():\n    return Cart()\n\n\ndef main")),
            (
                ("    def add(self):\n        return 2", "    def add(self):\n        return 20"),
                ("        return 2", "  return 2"),
            ),
            // Between two methods lies the class, which is another one by now.
            (("\n    def add", "\n    kind = 1\n\n    def add"), ("return 2", "return 20")),
            (("return Cart()\n", "return Cart()\n\n"), ("return Cart()\n", "return Cart()\n    # mine\n")),
        ] {
            assert_eq!(moved(edited, meanwhile), None, "{edited:?} {meanwhile:?}");
        }
    }

    /// The result of an edit of a text without symbols after a change in the meantime.
    fn moved_line(from: &str, edited: (&str, &str), now: &str) -> Option<String> {
        let edits = hunks(from, &from.replacen(edited.0, edited.1, 1));
        Some(apply(now, &by_lines(None, from, now, &edits)?).unwrap())
    }

    #[test]
    fn outside_of_symbols_an_edit_goes_where_its_lines_are_the_only_ones() {
        let readme = "# Title\n\nWords.\n\n- one\n- two\n";
        let with = |now: &str, edited| moved_line(readme, edited, now);
        let appended = format!("{readme}- three\n");
        assert_eq!(with(&appended, ("Title", "Name")), Some(appended.replace("Title", "Name")));
        let above = format!("News.\n\n{}", readme.replace("- two", "- second"));
        assert_eq!(with(&above, ("Words", "Text")), Some(above.replace("Words", "Text")));
        // Changed itself, gone, or there twice.
        assert_eq!(with(&readme.replace("Words.", "Words!"), ("Words", "Text")), None);
        assert_eq!(with("# Title\n", ("Words", "Text")), None);
        assert_eq!(with(&format!("{readme}Words.\n"), ("Words", "Text")), None);
        // The lines around a repeated line make its place unique.
        let twice = "a\nx = 1\nb\nx = 1\nc\n";
        let now = format!("{twice}d\n");
        assert_eq!(moved_line(twice, ("b\nx = 1", "b\nx = 2"), &now), Some(now.replace("b\nx = 1", "b\nx = 2")));
        assert_eq!(moved_line(twice, ("b\nx = 1", "b\nx = 2"), &now.replace("c\n", "")), None);
        let markdown = language::of_path("a.md");
        let edits = hunks(readme, &readme.replacen("Words", "Text", 1));
        let now = format!("{readme}- three\n");
        let moved = by_lines(markdown, readme, &now, &edits).expect("sections divide all of it");
        assert_eq!(apply(&now, &moved).unwrap(), now.replace("Words", "Text"));
        // Between symbols, and not in one.
        let python = language::of_path("a.py");
        let edits = |old: &str, new: &str| hunks(SHOP, &SHOP.replace(old, new));
        let now = SHOP.replace("return 2", "return 20");
        let import = by_lines(python, SHOP, &now, &edits("import os", "import re")).expect("a line of its own");
        assert_eq!(apply(&now, &import).unwrap(), now.replace("import os", "import re"));
        assert_eq!(by_lines(python, SHOP, &now, &edits("return 1", "return 3")), None);
    }

    #[test]
    fn code_that_is_half_typed_elsewhere_holds_no_edit_up() {
        let both = |edited: (&str, &str), meanwhile: (&str, &str)| {
            assert_eq!(
                moved(edited, meanwhile).as_deref(),
                Some(SHOP.replace(meanwhile.0, meanwhile.1).replace(edited.0, edited.1).as_str()),
                "{edited:?} {meanwhile:?}"
            );
        };
        for typed in ["def x", "def x(a", "class C", "x = [1,", "x = \"", "x = \"\"\"", "if a", "for x in", "x = f("] {
            both(("return Cart()", "return None"), ("def main", &format!("{typed}\n\n\ndef main")));
            both(("return 1", "return 10"), ("import os\n", &format!("import os\n{typed}\n")));
            both(("return 2", "return 20"), ("return 1", &format!("return 1\n        {typed}")));
        }
        // The symbol itself, its class, or a copy of it is half typed.
        for (edited, meanwhile) in [
            (("return Cart()", "return None"), ("return Cart()", "return Cart(")),
            (("return 1", "return 10"), ("class Cart:", "class Basket(")),
            (
                ("return Cart()", "return None"),
                ("def main", "def x(\n\n\ndef main():\n    return Cart()\n\n\ndef main"),
            ),
        ] {
            assert_eq!(moved(edited, meanwhile), None, "{edited:?} {meanwhile:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_typed_in_other_symbols_is_all_kept(at in 0usize..3, word in "[a-z]{1,8}", lines in 0usize..4) {
            // No keyword, which would break the text.
            let word = format!("{word}_");
            let own = ["return 1", "return 2", "return Cart()"];
            let typed = format!("{word} = 0\n{}", "# more\n".repeat(lines));
            let others = own.iter().enumerate().filter(|(other, _)| *other != at);
            let now = others.fold(format!("{typed}{SHOP}"), |text, (_, other)| text.replace(other, &format!("{other} or {word}")));
            let edits = hunks(SHOP, &SHOP.replace(own[at], "return None"));
            let python = language::of_path("a.py").unwrap();
            let rebased = rebase(python, SHOP, &now, &edits).expect("its symbol is as it was");
            prop_assert_eq!(apply(&now, &rebased).unwrap(), now.replace(own[at], "return None"));
        }
    }
}
