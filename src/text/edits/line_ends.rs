//! Finds the line end that a text has throughout, so that inserted lines end alike.

/// The number of `\r` before each `\n` of a text; `None` if its lines end differently, or it is one line.
pub fn returns(text: &str) -> Option<usize> {
    let mut found = None;
    for (at, _) in text.match_indices('\n') {
        let count = at - text[..at].trim_end_matches('\r').len();
        if found.is_some_and(|known| known != count) {
            return None;
        }
        found = Some(count);
    }
    found
}

/// The text with so many `\r` before each `\n`.
pub fn with_returns(text: &str, count: usize) -> String {
    let end = "\r".repeat(count);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                out.push_str(line.trim_end_matches('\r'));
                out.push_str(&end);
                out.push('\n');
            }
            None => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_line_end_or_none_that_counts() {
        let cases =
            [("a\nb\n", Some(0)), ("a\r\nb", Some(1)), ("a\r\r\nb\r\r\n", Some(2)), ("a\r\nb\n", None), ("a\r", None)];
        for (text, count) in cases {
            assert_eq!(returns(text), count, "{text:?}");
        }
        assert_eq!(with_returns("a\nb\r\nc\r\r\nd\re", 2), "a\r\r\nb\r\r\nc\r\r\nd\re");
        assert_eq!(with_returns("a\r\r\nb", 0), "a\nb");
    }
}
