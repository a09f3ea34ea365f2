//! Removes line numbers in front of a quoted text. Other agents' reading tools print them, and the text without them is
//! meant.

use sextant_base::failure::{Failure, tool_failure};

/// A text that was quoted with its line numbers, without them; `None` where it has none.
///
/// Every line has one, each one more than the last: no other text counts as numbered.
pub(crate) fn without_numbers(text: &str) -> Option<String> {
    let mut known: Option<usize> = None;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let rest = behind_number(line)?;
        let number: usize = line[..line.len() - rest.len()].trim().parse().ok()?;
        if known.is_some_and(|last| number != last + 1) {
            return None;
        }
        known = Some(number);
        out.push_str(rest);
    }
    known.map(|_| out)
}

/// Old and new text of an edit that quotes a read with its numbers, without them. `None` where the old text is no such
/// quote, or is in the file as it is.
///
/// # Errors
/// Only some lines of the new text have numbers: it is unclear which of them are meant.
pub(crate) fn unnumbered(text: &str, old: &str, new: &str) -> Result<Option<(String, String)>, Failure> {
    let Some(plain) = without_numbers(old).filter(|_| !text.contains(old)) else { return Ok(None) };
    let lines: Vec<Option<&str>> = new.split_inclusive('\n').map(behind_number).collect();
    if lines.iter().all(Option::is_some) {
        return Ok(Some((plain, lines.into_iter().flatten().collect())));
    }
    if lines.iter().all(Option::is_none) {
        return Ok(Some((plain, new.to_owned())));
    }
    Err(tool_failure(
        "some lines of new_string begin with the number of a line, and others do not; nothing was written",
        "give both texts without the numbers that stand in front of what you read",
    ))
}

/// A line without the number in front of it, with its end.
fn behind_number(line: &str) -> Option<&str> {
    let trimmed = line.trim_start_matches(' ');
    let rest = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = rest.len() < trimmed.len();
    if is_number && rest.trim_end_matches(['\r', '\n']).is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix("  ").filter(|_| is_number)
    }
}

/// The note about line numbers that were removed.
pub(crate) const UNNUMBERED: &str = "the numbers of the lines were taken off the given text";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_off_where_every_line_has_one() {
        for text in ["    a\n\n  b", "x", "x\n", "1  y\n"] {
            let numbered = (9..).zip(text.split_inclusive('\n')).map(|(number, line)| match line.trim_end() {
                "" => format!("{number:>2}{line}"),
                _ => format!("{number:>2}  {line}"),
            });
            assert_eq!(without_numbers(&numbered.collect::<String>()).as_deref(), Some(text), "{text:?}");
        }
        for text in ["", "a", "1  a\nb", "1  a\n3  b", "1 a", "1. a", "12abc", "x = 1  y"] {
            assert_eq!(without_numbers(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_edit_that_quotes_numbers_means_the_text_behind_them() {
        let text = "def f():\n    return 1\n";
        let given = |old: &str, new: &str| unnumbered(text, old, new);
        let both = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(given("2      return 1", "2      return 2").unwrap(), both("    return 1", "    return 2"));
        assert_eq!(given("1  def f():\n2      return 1\n", "").unwrap(), both("def f():\n    return 1\n", ""));
        assert_eq!(given("2      return 1", "    return 2\n").unwrap(), both("    return 1", "    return 2\n"));
        assert_eq!(given("    return 1", "2      return 2").unwrap(), None);
        assert_eq!(unnumbered("1  one\n", "1  one", "1  two").unwrap(), None, "the file has such numbers itself");
        assert!(given("2      return 1", "2      x = 1\n    return x").is_err());
    }
}
