//! Decides when two messages are the same: numbers, quoted parts and renamed words do not count.

use std::collections::HashMap;

use crate::delta::sequence::dice;

/// Digits masked: lengths, counts and line numbers change with unrelated edits.
pub(super) fn without_numbers(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut in_number = false;
    for c in message.chars() {
        let digit = c.is_ascii_digit();
        if !digit {
            out.push(c);
        } else if !in_number {
            out.push('#');
        }
        in_number = digit;
    }
    out
}

/// Masks digits and quoted parts: the rest is the complaint itself.
pub(crate) fn template(message: &str) -> String {
    masked(message).0
}

/// The template of the first line. The lines below it explain, and differ with the types.
pub(super) fn first_template(message: &str) -> String {
    template(first_line(message))
}

/// True if two messages of one template quote the same part in one place of their first lines, or quote nothing there.
pub(super) fn shares_quoted(before: &str, after: &str) -> bool {
    let (old, new) = (masked(first_line(before)).1, masked(first_line(after)).1);
    old.is_empty() && new.is_empty() || old.iter().zip(&new).any(|(old, new)| old == new)
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

/// The template of a message, and its quoted parts.
fn masked(message: &str) -> (String, Vec<&str>) {
    let mut out = String::with_capacity(message.len());
    let mut quoted = Vec::new();
    let mut rest = message;
    let mut word_before = false;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let close = match c {
            '"' | '`' => Some(c),
            // An apostrophe inside a word does not quote.
            '\'' if !word_before => Some('\''),
            '“' => Some('”'),
            '‘' => Some('’'),
            _ => None,
        };
        match close.and_then(|close| after.split_once(close)) {
            Some((inside, behind)) => {
                quoted.push(inside);
                out.push('"');
                rest = behind;
                word_before = false;
            }
            None => {
                out.push(c);
                rest = after;
                word_before = c.is_alphanumeric();
            }
        }
    }
    (without_numbers(&out), quoted)
}

/// The message with every renamed word replaced.
pub(super) fn renamed(message: &str, renames: &HashMap<&str, &str>) -> String {
    let mut out = String::with_capacity(message.len());
    for part in words(message) {
        out.push_str(renames.get(part).copied().unwrap_or(part));
    }
    out
}

/// The share of words two messages have in common, 0 to 1.
pub(crate) fn likeness(before: &str, after: &str) -> f32 {
    share(&bag(before), &bag(after))
}

/// The words of a message in lower case, sorted.
pub(crate) fn bag(message: &str) -> Vec<String> {
    let mut bag: Vec<String> = words(message).filter(|w| w.starts_with(is_word)).map(|w| w.to_lowercase()).collect();
    bag.sort_unstable();
    bag
}

/// The share of two sorted lists that they have in common, 0 to 1.
pub(crate) fn share<T: Ord>(before: &[T], after: &[T]) -> f32 {
    dice(before, after)
}

/// True if a message has a name as one of its words.
pub(super) fn names(message: &str, name: &str) -> bool {
    words(message).any(|word| word == name)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text cut into words and the parts between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let inside = is_word(rest.chars().next()?);
        let end = rest.find(|c| is_word(c) != inside).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        rest = behind;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for (message, expected) in [
            ("Line too long (120 > 88)", "Line too long (# > #)"),
            ("\"x\" is not defined", "\" is not defined"),
            ("Can't find 'a b' or `c`", "Can't find \" or \""),
            ("an \"open quote", "an \"open quote"),
            ("“ä” is 'ö'", "\" is \""),
        ] {
            assert_eq!(template(message), expected);
        }
    }

    #[test]
    fn a_reworded_message_keeps_a_quoted_part_of_its_first_line() {
        let one = "Type \"Generator[int]\" is not assignable to return type \"list[int]\"\n  \"Generator\" is not …";
        let other = "Type \"list[str]\" is not assignable to return type \"list[int]\"";
        assert_eq!(first_template(one), first_template(other));
        for (before, after, expected) in [
            (one, other, true),
            ("mismatched types\nexpected `i32`", "mismatched types\nfound `str`", true),
            ("Undefined name `a`", "Undefined name `b`", false),
            ("\"a\" is not a member of \"X\"", "\"b\" is not a member of \"Y\"", false),
            ("\"a\" is not a member of \"b\"", "\"b\" is not a member of \"a\"", false),
        ] {
            assert_eq!(shares_quoted(before, after), expected, "{before}");
        }
    }

    #[test]
    fn renames_touch_whole_words() {
        let renames = HashMap::from([("total", "sum")]);
        assert_eq!(renamed("total of \"total\" in subtotal", &renames), "sum of \"sum\" in subtotal");
        assert!(likeness("Missing docstring in public method", "Missing docstring in public function") > 0.7);
        assert!(likeness("Undefined name `x`", "Line too long (90 > 88)") < 0.2);
    }
}
