//! Converts a file's bytes to text and back: line ends and byte order mark are put aside and restored.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use sextant_base::plural::counted;
use sextant_text::edits::{TextEdit, line_ends};

const MARK: &str = "\u{feff}";

/// The format around a file's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFormat {
    /// The file begins with a byte order mark.
    pub mark: bool,
    /// Every line ends in `\r\n`. In a file with mixed line ends, or with more than one `\r` before one, each `\r`
    /// stays in the text as it is.
    pub crlf: bool,
}

/// The text with `\n` line ends and without a mark; `None` for bytes that are not UTF-8.
pub fn decode(bytes: &[u8]) -> Option<(Arc<str>, FileFormat)> {
    let whole = std::str::from_utf8(bytes).ok()?;
    let text = whole.strip_prefix(MARK).unwrap_or(whole);
    let format = FileFormat { mark: text.len() < whole.len(), crlf: line_ends::returns(text) == Some(1) };
    let text = if format.crlf { text.replace("\r\n", "\n").into() } else { text.into() };
    Some((text, format))
}

/// The bytes of a text in a format; the inverse of [`decode`].
pub(crate) fn encode(text: &str, format: FileFormat) -> Vec<u8> {
    let mut out = if format.mark { MARK.to_owned() } else { String::new() };
    if format.crlf {
        out.push_str(&text.replace('\n', "\r\n"));
    } else {
        out.push_str(text);
    }
    out.into_bytes()
}

/// The same for a text that is not needed any more; most often the answer is its own bytes.
pub(crate) fn encoded(text: String, format: FileFormat) -> Vec<u8> {
    if format == FileFormat::default() { text.into_bytes() } else { encode(&text, format) }
}

/// True if a text in a format has these bytes.
pub(crate) fn is_written(bytes: &[u8], text: &str, format: FileFormat) -> bool {
    if format == FileFormat::default() { bytes == text.as_bytes() } else { bytes == encode(text, format) }
}

/// Applies hunks; the error names the hunk that does not apply.
pub(crate) fn splice(text: &str, hunks: &[TextEdit], format: FileFormat) -> Result<String, String> {
    let new: usize = hunks.iter().map(|hunk| hunk.text.len()).sum();
    let mut out = String::with_capacity(text.len() + new);
    let mut done = 0;
    for hunk in hunks {
        let Range { start, end } = hunk.range;
        if start < done || end < start {
            return Err(format!("the hunk at {start}..{end} is out of order"));
        }
        let (Some(kept), true) = (text.get(done..start), text.is_char_boundary(end)) else {
            return Err(format!("the hunk at {start}..{end} does not fit the text of {}", counted(text.len(), "byte")));
        };
        out.push_str(kept);
        // A line end that the file would double.
        let new = if format.crlf { line_ends::with_returns(&hunk.text, 0) } else { hunk.text.clone() };
        out.push_str(&new);
        done = end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    // A `\r` at the edge of a hunk has met a line end: the file would double it.
    Ok(if format.crlf && out.contains("\r\n") { line_ends::with_returns(&out, 0) } else { out })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hunk(range: Range<usize>, text: &str) -> TextEdit {
        TextEdit { range, text: text.into() }
    }

    #[test]
    fn uniform_line_ends_are_put_aside_and_mixed_ones_kept() {
        let crlf = FileFormat { mark: true, crlf: true };
        assert_eq!(decode("\u{feff}a\r\nb".as_bytes()), Some(("a\nb".into(), crlf)));
        let plain = FileFormat::default();
        assert_eq!(decode(b"a\r\nb\n"), Some(("a\r\nb\n".into(), plain)));
        assert_eq!(decode(b"no line end\r"), Some(("no line end\r".into(), plain)));
        assert_eq!(decode(b"\xff"), None);
        assert_eq!(decode(b"a\r\r\nb\r\r\n"), Some(("a\r\r\nb\r\r\n".into(), plain)));
        assert_eq!(splice("a\nb\n", &[hunk(0..1, "c\r")], crlf).unwrap(), "c\nb\n");
        assert_eq!(splice("a\nb\n", &[hunk(2..3, "c\r\nd")], crlf).unwrap(), "a\nc\nd\n");
        assert_eq!(splice("a\nb\n", &[hunk(2..3, "c\r\nd")], plain).unwrap(), "a\nc\r\nd\n");
    }

    #[test]
    fn hunks_must_be_in_order_and_fit() {
        let plain = FileFormat::default();
        let splice = |hunks: &[TextEdit]| splice("aäb", hunks, plain);
        assert_eq!(splice(&[hunk(0..1, "x"), hunk(1..1, "y"), hunk(4..4, "z")]).unwrap(), "xyäbz");
        #[allow(clippy::reversed_empty_ranges)]
        for bad in
            [vec![hunk(1..3, ""), hunk(2..3, "")], vec![hunk(2..3, "")], vec![hunk(0..2, "")], vec![hunk(3..1, "")]]
        {
            assert!(splice(&bad).is_err(), "{bad:?}");
        }
        assert!(splice(&[hunk(4..9, "")]).is_err());
    }

    proptest! {
        #[test]
        fn any_text_file_is_restored_byte_for_byte(text in "\u{feff}?[a\u{feff}\r\n]{0,30}") {
            let (decoded, format) = decode(text.as_bytes()).unwrap();
            prop_assert_eq!(encode(&decoded, format), text.into_bytes());
        }
    }
}
