//! Removes the closing halves of pairs that an editor has typed by itself and carried to the end of a line.

/// The pairs whose halves differ. Of a quote, a value of the plan may end with any number.
const BRACKETS: [(char, char); 3] = [('[', ']'), ('(', ')'), ('{', '}')];

/// A line without the closing halves at its end that close nothing. A half counts only where a space, code or another
/// such half stands before it: `:)` is the user's own.
pub(super) fn without_leftovers(text: &str) -> &str {
    let mut rest = text;
    while let Some(before) = without_last(rest) {
        rest = before;
    }
    if rest.len() == text.len() { text } else { rest }
}

fn without_last(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let last = text.chars().next_back()?;
    let before = &text[..text.len() - last.len_utf8()];
    let is_apart = before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '`' || is_closing(c));
    let (open, close) = BRACKETS.iter().find(|(_, close)| *close == last)?;
    (is_apart && is_unopened(before, *open, *close)).then(|| before.trim_end())
}

fn is_closing(c: char) -> bool {
    BRACKETS.iter().any(|(_, close)| *close == c)
}

/// True if every opening half before the end is closed there.
fn is_unopened(before: &str, open: char, close: char) -> bool {
    let mut depth = 0_usize;
    for c in before.chars() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_closing_half_without_an_opening_one_leaves_the_end_of_a_line() {
        for (text, wanted) in [
            ("Two ]", "Two"),
            ("Print \"main\" ] ]", "Print \"main\""),
            ("Two ]]", "Two"),
            ("symbols: `src/shop/cart.py` ]", "symbols: `src/shop/cart.py`"),
            ("symbols: `src/shop/cart.py`]", "symbols: `src/shop/cart.py`"),
            ("call f(x) )", "call f(x)"),
            ("mixed ) ] }", "mixed"),
            ("a [b] ]", "a [b]"),
            ("]", ""),
            ("- ]", "-"),
        ] {
            assert_eq!(without_leftovers(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_closing_half_with_its_opening_one_stays() {
        for text in [
            "say \"a\" \"",
            "",
            "plain ",
            "use [ a ]",
            "see (this )",
            "a { b { c } }",
            "smile :)",
            "point 3)",
            "say \"a \"",
            "`` a`b ``",
            "don't '",
        ] {
            assert_eq!(without_leftovers(text), text, "{text}");
        }
    }
}
