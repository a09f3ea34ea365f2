//! Positions in text: byte offsets inside, LSP positions at the doors, and the lines that join them.

use std::ops;

use serde::{Deserialize, Serialize};

/// A place as LSP counts it: zero-based line and zero-based code units into that line.
///
/// The unit is the [`Encoding`] agreed with the sender; every position kept inside Sextant is UTF-16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// Reads any number sent as a line or a column as the nearest valid one.
impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Sent {
            line: serde_json::Number,
            character: serde_json::Number,
        }
        let nearest = |number: &serde_json::Number| match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => u32::try_from(whole).unwrap_or(u32::MAX),
            // A cast of a float takes the nearest valid number, and 0 for NaN.
            (None, float) => float.unwrap_or_default() as u32,
        };
        let Sent { line, character } = Sent::deserialize(deserializer)?;
        Ok(Self { line: nearest(&line), character: nearest(&character) })
    }
}

/// A half-open range of positions, as in LSP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

/// The unit in which a language server counts columns (`PositionEncodingKind` of LSP 3.17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[default]
    #[serde(rename = "utf-16")]
    Utf16,
    #[serde(rename = "utf-32")]
    Utf32,
}

impl Encoding {
    /// Reads the name that LSP uses; an unknown name is UTF-16, the protocol's default.
    pub fn from_lsp(name: &str) -> Self {
        match name {
            "utf-8" => Self::Utf8,
            "utf-32" => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Bytes between two places whose units are counted in advance: the longest walk to a column.
const STRIDE: usize = 1024;

/// A place in a text that is not ASCII, and the units before it.
#[derive(Clone, Copy, Debug, Default)]
struct WideMark {
    at: usize,
    utf16: usize,
    utf32: usize,
}

impl WideMark {
    fn units(&self, encoding: Encoding) -> usize {
        match encoding {
            Encoding::Utf8 => self.at,
            Encoding::Utf16 => self.utf16,
            Encoding::Utf32 => self.utf32,
        }
    }

    /// One mark every [`STRIDE`], from the beginning.
    fn of(text: &str) -> Vec<Self> {
        let mut here = Self::default();
        let mut marks = vec![here];
        for (at, c) in text.char_indices() {
            if at >= marks.len() * STRIDE {
                marks.push(Self { at, ..here });
            }
            here.utf16 += c.len_utf16();
            here.utf32 += 1;
        }
        marks
    }
}

/// The line starts of one text. Lines end at `\n`; a `\r` before it belongs to the line end.
///
/// So editors count. For LSP any other `\r` ends a line too, and some servers count so: see [`Self::has_lone_return`].
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    len: usize,
    lone_return: bool,
    /// Marks of a text with more than ASCII, where a column is not a number of bytes: a server may name thousands of
    /// places at the end of one endless line.
    marks: Vec<WideMark>,
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        let marks = if text.is_ascii() { Vec::new() } else { WideMark::of(text) };
        let lone_return = text.match_indices('\r').any(|(at, _)| text.as_bytes().get(at + 1) != Some(&b'\n'));
        Self { starts, len: text.len(), lone_return, marks }
    }

    /// Recognizes a text with a `\r` without a `\n`: a server's lines may not be these, and a place of a server is
    /// unknown.
    pub fn has_lone_return(&self) -> bool {
        self.lone_return
    }

    /// The units before a byte offset on a character boundary.
    fn units_before(&self, text: &str, offset: usize, encoding: Encoding) -> usize {
        let at = self.marks.partition_point(|mark| mark.at <= offset);
        match at.checked_sub(1).and_then(|at| self.marks.get(at)) {
            Some(mark) if encoding != Encoding::Utf8 => {
                let rest = text[mark.at..offset].chars().map(|c| encoding.width(c)).sum::<usize>();
                mark.units(encoding) + rest
            }
            _ => offset,
        }
    }

    /// The number of lines; a text that ends in `\n` has an empty last line.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// The zero-based line that holds the byte offset.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The offset of a line's first byte; past the last line, the end of the text.
    pub fn line_start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.len)
    }

    /// A line's bytes without its line end.
    pub fn line_range(&self, text: &str, line: usize) -> ops::Range<usize> {
        let start = self.line_start(line);
        let mut end = self.starts.get(line + 1).map_or(self.len, |next| next - 1);
        if end > start && text.as_bytes()[end - 1] == b'\r' {
            end -= 1;
        }
        start..end.max(start)
    }

    /// The byte offset of a position. A position past the end of its line or of the text is drawn back to it.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.len;
        }
        let range = self.line_range(text, line);
        let mut left = position.character as usize;
        if self.marks.is_empty() {
            return range.start + left.min(range.len());
        }
        let wanted = self.units_before(text, range.start, encoding).saturating_add(left);
        let after = self.marks.partition_point(|mark| mark.units(encoding) <= wanted);
        let near = after.checked_sub(1).and_then(|at| self.marks.get(at)).filter(|mark| mark.at > range.start);
        let begin = near.map_or(range.start, |mark| mark.at.min(range.end));
        if let Some(mark) = near {
            left = wanted - mark.units(encoding);
        }
        for (i, c) in text[begin..range.end].char_indices() {
            let width = encoding.width(c);
            if left < width {
                return begin + i;
            }
            left -= width;
        }
        range.end
    }

    /// The position of a byte offset, which must lie on a character boundary of the text.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(self.len);
        let line = self.line_of(offset);
        let before = |offset| self.units_before(text, offset, encoding);
        let character = before(offset) - before(self.starts[line]);
        Position { line: line as u32, character: character as u32 }
    }

    pub fn byte_range(&self, text: &str, range: Range, encoding: Encoding) -> ops::Range<usize> {
        let start = self.offset(text, range.start, encoding);
        start..self.offset(text, range.end, encoding).max(start)
    }

    /// The same for a range that LSP allows: a character behind its line's end is that end, and the line behind the last
    /// one is the end of the text. `None` for any other range, such as one of another text.
    pub fn allowed_byte_range(&self, text: &str, range: Range, encoding: Encoding) -> Option<ops::Range<usize>> {
        let (start, end) = (range.start, range.end);
        let is_inside = |at: Position| (at.line as usize) < self.line_count();
        let is_behind = |at: Position| at.line as usize == self.line_count() && at.character == 0;
        let is_allowed = start <= end && is_inside(start) && (is_inside(end) || is_behind(end));
        is_allowed.then(|| self.byte_range(text, range, encoding))
    }

    pub fn range(&self, text: &str, bytes: ops::Range<usize>, encoding: Encoding) -> Range {
        Range { start: self.position(text, bytes.start, encoding), end: self.position(text, bytes.end, encoding) }
    }

    /// Counts a range again in another unit. The result is a range of this text for any numbers.
    pub fn convert(&self, text: &str, range: Range, from: Encoding, to: Encoding) -> Range {
        self.range(text, self.byte_range(text, range, from), to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn astral_characters_count_two_in_utf16_and_one_in_utf32() {
        let text = "a😀b\r\nx";
        let index = LineIndex::new(text);
        assert_eq!(index.position(text, 5, Encoding::Utf16), at(0, 3));
        assert_eq!(index.position(text, 5, Encoding::Utf32), at(0, 2));
        assert_eq!(index.position(text, 5, Encoding::Utf8), at(0, 5));
        assert_eq!(index.line_range(text, 0), 0..6);
        assert_eq!(index.offset(text, at(0, 99), Encoding::Utf16), 6, "drawn back to the end of the line");
        assert_eq!(index.offset(text, at(9, 0), Encoding::Utf16), text.len());
        assert_eq!(index.offset(text, at(0, 2), Encoding::Utf16), 1, "inside a surrogate pair: its start");
    }

    #[test]
    fn a_range_of_another_text_is_not_drawn_back() {
        let text = "ab\nc";
        let bytes = |a, b, c, d| {
            let range = Range { start: at(a, b), end: at(c, d) };
            LineIndex::new(text).allowed_byte_range(text, range, Encoding::Utf16)
        };
        assert_eq!(bytes(0, 0, 1, 1), Some(0..4));
        assert_eq!(bytes(0, 1, 0, 99), Some(1..2), "a character behind its line's end");
        assert_eq!(bytes(0, 0, 2, 0), Some(0..4), "the end of the text");
        for (a, b, c, d) in [(2, 0, 2, 0), (0, 0, 2, 1), (0, 0, 3, 0), (1, 0, 0, 0), (0, 0, u32::MAX, 0)] {
            assert_eq!(bytes(a, b, c, d), None, "{a}:{b} to {c}:{d}");
        }
    }

    fn extreme() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..8, Just(u32::MAX), Just(u32::MAX - 1), Just(2_000_000_000), any::<u32>()]
    }

    #[test]
    fn a_number_that_is_no_line_is_read_as_the_nearest() {
        for (sent, expected) in [
            ("4294967296", u32::MAX),
            ("18446744073709551615", u32::MAX),
            ("1e300", u32::MAX),
            ("-1", 0),
            ("-9223372036854775808", 0),
            ("2.9", 2),
            ("7", 7),
        ] {
            let read: Position = serde_json::from_str(&format!("{{\"line\":{sent},\"character\":{sent}}}")).unwrap();
            assert_eq!(read, at(expected, expected), "{sent}");
        }
        assert!(serde_json::from_str::<Position>("{\"line\":\"1\",\"character\":0}").is_err());
    }

    /// The place of a position by LSP's own lines.
    fn lsp_offset(text: &str, position: Position) -> Option<usize> {
        let (mut line, mut start, mut here) = (0, 0, 0);
        for part in text.split_inclusive(['\r', '\n']) {
            here += part.len();
            if part.ends_with('\r') && text[here..].starts_with('\n') {
                continue;
            }
            if line == position.line {
                let of_line = text[start..here].trim_end_matches(['\r', '\n']);
                let chars = of_line.char_indices().map(|(at, _)| at).chain([of_line.len()]);
                return chars.take(position.character as usize + 1).last().map(|at| start + at);
            }
            (line, start) = (line + 1, here);
        }
        None
    }

    proptest! {
        #[test]
        fn a_text_without_a_lone_return_has_lsps_lines(
            text in "[aä\n\r]{0,30}", line in 0u32..12, character in 0u32..12,
        ) {
            let index = LineIndex::new(&text);
            if !index.has_lone_return() && let Some(offset) = lsp_offset(&text, at(line, character)) {
                prop_assert_eq!(index.offset(&text, at(line, character), Encoding::Utf32), offset);
            }
        }

        #[test]
        fn whatever_was_sent_is_a_range_of_the_text(
            text in "[aä😀\n]{0,30}", numbers in (extreme(), extreme(), extreme(), extreme()),
        ) {
            let index = LineIndex::new(&text);
            let (a, b, c, d) = numbers;
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let range = index.convert(&text, Range { start: at(a, b), end: at(c, d) }, encoding, Encoding::Utf16);
                prop_assert!(range.start <= range.end);
                prop_assert!((range.end.line as usize) < index.line_count());
                let bytes = index.byte_range(&text, range, Encoding::Utf16);
                prop_assert_eq!(index.range(&text, bytes, Encoding::Utf16), range, "it stays where it is");
            }
        }

        #[test]
        fn in_a_long_line_a_place_is_where_a_walk_finds_it(
            piece in "[aä😀\n]{1,9}", times in 100usize..900, line in 0u32..3, character in 0u32..9_000,
        ) {
            let text = piece.repeat(times);
            let index = LineIndex::new(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let range = index.line_range(&text, line as usize);
                let mut left = character as usize;
                let mut walk = text[range.clone()].char_indices();
                let found = walk.find_map(|(at, c)| {
                    let width = encoding.width(c);
                    let here = (left < width).then_some(range.start + at);
                    left = left.saturating_sub(width);
                    here
                });
                let offset = index.offset(&text, at(line, character), encoding);
                prop_assert_eq!(offset, found.unwrap_or(range.end));
                let before = &text[index.line_start(index.line_of(offset))..offset];
                let units: usize = before.chars().map(|c| encoding.width(c)).sum();
                prop_assert_eq!(index.position(&text, offset, encoding).character as usize, units);
            }
        }

        #[test]
        fn positions_and_offsets_are_inverse(text in "[a-zäß😀\n\r\t]{0,60}") {
            let index = LineIndex::new(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                    let position = index.position(&text, offset, encoding);
                    let line_end = index.line_range(&text, position.line as usize).end;
                    prop_assert_eq!(index.offset(&text, position, encoding), offset.min(line_end));
                }
            }
        }
    }
}
