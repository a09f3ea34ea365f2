//! The characters of a text that may reach a terminal; those that would steer it are shown as marks instead.
//!
//! Steering characters are the control characters (C0 but line break and tab, DEL, C1), and those that turn the
//! direction of a line or are invisible. They would show a reader something else than the text holds. Each character is
//! judged by itself: a text may be cut anywhere.

use std::borrow::Cow;

/// Marks, deprecated format characters and tags that no text needs on a terminal (Unicode, "Bidirectional
/// Controls", UTS 55; annotations and tags).
fn misleads(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || misleads(c)
}

/// The mark of a character that steers: the picture of a control character, or the sign for an unknown one.
fn mark(c: char) -> Option<char> {
    match c {
        // Part of the line ends of other systems; alone it would let one text be written over another.
        '\r' => None,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        _ => Some(char::REPLACEMENT_CHARACTER),
    }
}

/// The text in a form that is safe for a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(|c| if steers(c) { mark(c) } else { Some(c) }).collect())
}

/// JSON with every such character escaped. It is the same JSON, since these characters occur only in its strings.
pub fn escaped(json: &str) -> Cow<'_, str> {
    if !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if steers(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_is_a_mark_and_the_rest_stays() {
        assert_eq!(printable("a\u{1b}[2J\u{7}\u{9b}1m\u{7f}\r\n\tb\u{202e}c"), "a␛[2J␇\u{fffd}1m␡\n\tb\u{fffd}c");
        for plain in ["", "línea\n\tb", "日本 👩‍👩‍👧 – “x”", "שלום"] {
            assert!(matches!(printable(plain), Cow::Borrowed(_)), "{plain}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left_wherever_a_text_is_cut(text in any::<String>(), at in any::<prop::sample::Index>()) {
            let whole = printable(&text).into_owned();
            prop_assert!(!whole.contains(steers));
            let mut cut = if text.is_empty() { 0 } else { at.index(text.len()) };
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            prop_assert_eq!(format!("{}{}", printable(&text[..cut]), printable(&text[cut..])), whole);
        }

        #[test]
        fn escaped_json_says_the_same(text in "[\u{0}-\u{ff}\u{202e}\u{e0041}\"\\\\]{0,40}") {
            let json = serde_json::json!({"k": text});
            let escaped = escaped(&json.to_string()).into_owned();
            prop_assert!(!escaped.contains(steers) && !escaped.contains('\n'));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).ok(), Some(json));
        }
    }
}
