//! A text in which each name has one spelling: without escapes, in one normal form, on lines that end alike.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::symbols::language::Language;

/// A way to write a character of a name, or of the path in a string, without the character itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// `\x61`
    Hex,
    /// `\u0061`, with any number of `u`.
    Unicode,
    /// `\U00000061`
    LongUnicode,
    /// `\u{61}`
    Braces,
    /// `\97`
    Decimal,
    /// `\141`
    Octal,
    /// A backslash at the end of a line, behind which a word goes on.
    Splice,
}

/// The form in which a language compares names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalForm {
    Canonical,
    Compatible,
}

/// A text in such a spelling, and the way back to the places of the original.
#[derive(Clone, Debug)]
pub struct SpelledText<'a> {
    pub text: Cow<'a, str>,
    /// Places from which on both texts run alike, in this one and in the original.
    shifts: Vec<(usize, usize)>,
}

impl<'a> SpelledText<'a> {
    pub fn of(language: &Language, text: &'a str) -> Self {
        let mut speller = Speller { language, text, out: String::new(), copied: 0, shifts: Vec::new() };
        if speller.may_differ() {
            speller.read();
        }
        if speller.shifts.is_empty() {
            return Self { text: Cow::Borrowed(text), shifts: Vec::new() };
        }
        speller.out.push_str(&text[speller.copied..]);
        Self { text: Cow::Owned(speller.out), shifts: speller.shifts }
    }

    /// The place in the original that a place here stands for. A place inside of a respelled word stands for none, and
    /// gives a place with another text.
    pub fn original(&self, at: usize) -> usize {
        let known = self.shifts.partition_point(|(here, _)| *here <= at);
        let before = known.checked_sub(1).map(|last| self.shifts[last]);
        before.map_or(at, |(here, original)| original + (at - here))
    }
}

struct Speller<'a> {
    language: &'a Language,
    text: &'a str,
    out: String,
    /// The bytes of the text that are copied or replaced.
    copied: usize,
    shifts: Vec<(usize, usize)>,
}

impl Speller<'_> {
    /// True if a text has a character that may begin another spelling.
    fn may_differ(&self) -> bool {
        self.text.bytes().any(|byte| !byte.is_ascii() || matches!(byte, b'\\' | b'\r' | b'?'))
    }

    fn read(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at = match byte {
                b'\\' | b'?' => self.escape(at),
                b'\r' if bytes.get(at + 1) != Some(&b'\n') => self.replace(at, at + 1, "\n"),
                _ if byte.is_ascii() && !is_name_byte(*byte) => at + 1,
                _ => self.word(at),
            };
        }
    }

    /// Takes what a mark of an escape begins, and gives the place behind it.
    fn escape(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if let Some(end) = self.splice(at) {
            return self.replace(at, end, "");
        }
        let found = self.language.escapes.iter().find_map(|escape| escape.character(rest));
        match found.filter(|(_, c)| is_name(*c)) {
            Some((length, c)) => self.replace(at, at + length, c.encode_utf8(&mut [0; 4])),
            None if rest.starts_with("\\\\") => at + 2,
            None => at + 1,
        }
    }

    /// The place at which a word goes on that is cut here by the end of its line.
    fn splice(&self, at: usize) -> Option<usize> {
        let is_cut = self.language.escapes.contains(&Escape::Splice) && self.text[..at].ends_with(is_name);
        let mut rest = self.text.get(at..).filter(|_| is_cut)?;
        while let Some(behind) = rest.strip_prefix('\\').or_else(|| rest.strip_prefix("??/")) {
            let line = behind.trim_start_matches([' ', '\t']);
            rest = line.strip_prefix("\r\n").or_else(|| line.strip_prefix('\n'))?;
        }
        rest.starts_with(is_name).then(|| self.text.len() - rest.len())
    }

    /// Takes a word in its normal form, or the end of a line.
    fn word(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let first = rest.chars().next().map_or(1, char::len_utf8);
        if self.language.line_ends.iter().any(|end| rest.starts_with(*end)) {
            return self.replace(at, at + first, "\n");
        }
        let length = rest.find(|c: char| c.is_ascii() && !is_name(c)).unwrap_or(rest.len());
        let word = &rest[..length.max(first)];
        let end =
            word.char_indices().find(|(_, c)| self.language.line_ends.contains(c)).map_or(word.len(), |(at, _)| at);
        let word = &word[..end];
        let form = self.language.normal_form.filter(|_| !word.is_ascii());
        let normal: Option<String> = form.map(|form| match form {
            NormalForm::Canonical => word.nfc().collect(),
            // A sign outside of names would become another one.
            NormalForm::Compatible => word.split_inclusive(|c| !is_compatible(c)).map(compatible).collect(),
        });
        match normal.filter(|normal| normal != word) {
            Some(normal) => self.replace(at, at + word.len(), &normal),
            None => at + word.len(),
        }
    }

    fn replace(&mut self, from: usize, to: usize, with: &str) -> usize {
        self.out.push_str(&self.text[self.copied..from]);
        self.out.push_str(with);
        self.copied = to;
        self.shifts.push((self.out.len(), to));
        to
    }
}

/// A part of a word in its compatible form; its last character may be a sign.
fn compatible(part: &str) -> String {
    let name = part.trim_end_matches(|c| !is_compatible(c));
    name.nfkc().chain(part[name.len()..].chars()).collect()
}

/// True if a character can be that of a name, and stand for one.
fn is_compatible(c: char) -> bool {
    is_name(c) || (!c.is_ascii() && std::iter::once(c).nfkc().all(is_name))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Escape {
    /// The length and the character of an escape at the start of a text.
    fn character(self, text: &str) -> Option<(usize, char)> {
        let (mark, radix, least, most) = match self {
            Self::Hex => ("\\x", 16, 2, 2),
            Self::Unicode => ("\\u", 16, 4, 4),
            Self::LongUnicode => ("\\U", 16, 8, 8),
            Self::Braces => ("\\u{", 16, 1, 8),
            Self::Decimal => ("\\", 10, 1, 3),
            Self::Octal => ("\\", 8, 1, 3),
            Self::Splice => return None,
        };
        let behind = text.strip_prefix(mark)?;
        let digits = if self == Self::Unicode { behind.trim_start_matches('u') } else { behind };
        let count = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let c = u32::from_str_radix(digits.get(..count).filter(|_| count >= least)?, radix)
            .ok()
            .and_then(char::from_u32)?;
        let rest = &digits[count..];
        let rest = if self == Self::Braces { rest.strip_prefix('}')? } else { rest };
        Some((text.len() - rest.len(), c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language::{LANGUAGES, of_path};

    #[test]
    fn a_name_has_one_spelling_in_each_language() {
        for (path, text, plain) in [
            ("a.ts", "f\\u006fo('\\x61', `\\u{62}`, '\\143')", "foo('a', `b`, 'c')"),
            ("a.ts", "'\\u002f\\n\\\\u0061\\u{}'", "'\\u002f\\n\\\\u0061\\u{}'"),
            ("a.ts", "// a\u{2028}b\rc\r\nd", "// a\nb\nc\r\nd"),
            ("a.ts", "ﬁ é", "ﬁ é"),
            ("a.py", "ﬁnd, a︳b, é = '\\x61', '…＂½', e\u{301}", "find, a_b, é = 'a', '…＂1⁄2', é"),
            ("a.py", "else\\\nfoo", "else\\\nfoo"),
            ("a.rs", "e\u{301} + ﬁ + \"\\u{61}\"", "é + ﬁ + \"a\""),
            ("a.cpp", "#inc\\\nlude fo\\ \r\n\\\no f\\u00e9o x \\\n y a??/\nb", "#include foo féo x \\\n y ab"),
            ("a.lua", "require '\\97\\x62\\u{63}'", "require 'abc'"),
            ("A.java", "f\\uu006fo", "foo"),
            ("a.go", "import \"x/\\141\\u0062\"", "import \"x/ab\""),
        ] {
            let spelled = SpelledText::of(of_path(path).unwrap(), text);
            assert_eq!(spelled.text, plain, "{path}");
            assert_eq!(matches!(spelled.text, Cow::Borrowed(_)), text == plain, "{path}");
        }
    }

    #[test]
    fn a_place_leads_back_to_that_of_the_original() {
        let text = "a\\u0062c = é; // \\x61\rend";
        let spelled = SpelledText::of(of_path("a.ts").unwrap(), text);
        for word in [" = ", "end", "é"] {
            let at = spelled.text.find(word).unwrap();
            assert_eq!(Some(spelled.original(at)), text.find(word), "{word}");
        }
    }

    #[test]
    fn any_text_can_be_spelled() {
        let parts =
            ["\\", "u", "{", "}", "x", "0061", "\r", "\n", "é", "e\u{301}", "\u{2028}", "??/", "U", " ", "￿", "﷽"];
        for seed in 0..4096_usize {
            let pick = |at: usize| parts[seed.wrapping_mul(2_654_435_761).wrapping_add(at * 40_503) / 7 % parts.len()];
            let text: String = (0..9).map(pick).collect();
            for language in LANGUAGES {
                let spelled = SpelledText::of(language, &text);
                assert!((0..=spelled.text.len()).all(|at| spelled.original(at) <= text.len() + at), "{text:?}");
            }
        }
    }
}
