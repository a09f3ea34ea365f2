//! A tool's message, before its place and its severity are in our words.

use std::path::Path;

use crate::model::Location;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex, Position, Range};

/// A line and, if the tool gave one, a column; both zero-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingPlace {
    pub line: u32,
    pub column: Option<u32>,
}

/// One message of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// As the tool wrote it: absolute, or relative to the root.
    pub file: Option<String>,
    pub start: Option<FindingPlace>,
    /// Not included.
    pub end: Option<FindingPlace>,
    /// The tool's own word.
    pub severity: Option<String>,
    pub code: Option<String>,
    pub message: String,
    /// The tool's own suggestion for a fix.
    pub suggestion: Option<String>,
    /// The unit of its columns, if the output itself names it.
    pub columns: Option<Encoding>,
}

impl Finding {
    /// The file relative to the root; `None` without a file, or for one outside.
    pub fn file_in(&self, root: &Path) -> Option<String> {
        path::relative(root, &root.join(self.file.as_deref()?)).filter(|file| !file.is_empty())
    }

    /// Its place in a text, in UTF-16. A place outside of the text becomes the whole file, and so does one in a text whose
    /// lines the tool may count otherwise.
    ///
    /// Without an end it is the word that begins there, without a column the text of the line.
    pub fn location(&self, file: &str, text: &str, index: &LineIndex, columns: Encoding) -> Location {
        let whole = Location::File { file: file.to_owned() };
        let columns = self.columns.unwrap_or(columns);
        let is_known = |start: &FindingPlace| !index.has_lone_return() && (start.line as usize) < index.line_count();
        let Some(start) = self.start.filter(is_known) else { return whole };
        let line = index.line_range(text, start.line as usize);
        let indent = text[line.clone()].len() - text[line.clone()].trim_start().len();
        let offset = |line: u32, character: u32| index.offset(text, Position { line, character }, columns);
        let from = start.column.map_or(line.start + indent, |column| offset(start.line, column));
        let to = match (self.end, start.column) {
            (Some(FindingPlace { line, column: Some(column) }), _) => offset(line, column),
            (Some(end), _) => index.line_range(text, end.line as usize).end,
            (None, None) => line.start + text[line.clone()].trim_end().len(),
            (None, Some(_)) => word_end(text, from, line.end),
        };
        let range: Range = index.range(text, from..to.max(from), Encoding::Utf16);
        Location::Range { file: file.to_owned(), range }
    }
}

/// The end of the word at an offset, or of the one character there.
fn word_end(text: &str, from: usize, line_end: usize) -> usize {
    let rest = &text[from..line_end.max(from)];
    let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    from + if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(start: (u32, Option<u32>), end: Option<(u32, Option<u32>)>) -> Finding {
        let place = |(line, column)| FindingPlace { line, column };
        Finding { start: Some(place(start)), end: end.map(place), ..Finding::default() }
    }

    fn covered(finding: &Finding, text: &str, columns: Encoding) -> String {
        let index = LineIndex::new(text);
        match finding.location("a.py", text, &index, columns).range() {
            Some(range) => text[index.byte_range(text, range, Encoding::Utf16)].to_owned(),
            None => "(file)".to_owned(),
        }
    }

    #[test]
    fn columns_of_every_unit_find_the_same_word() {
        let text = "x = '😀é' + missing\n";
        for (columns, column) in [(Encoding::Utf8, 15), (Encoding::Utf16, 12), (Encoding::Utf32, 11)] {
            assert_eq!(covered(&at((0, Some(column)), None), text, columns), "missing");
            assert_eq!(covered(&at((0, Some(column)), Some((0, Some(column + 4)))), text, columns), "miss");
        }
        let utf8 = Finding { columns: Some(Encoding::Utf8), ..at((0, Some(15)), None) };
        assert_eq!(covered(&utf8, text, Encoding::Utf16), "missing", "the unit in the output goes first");
    }

    #[test]
    fn what_is_left_out_is_read_from_the_text() {
        let text = "if a:\n    b + c  \n";
        for (finding, expected) in [
            (at((1, None), None), "b + c"),
            (at((1, Some(6)), None), "+"),
            (at((0, Some(3)), Some((1, None))), "a:\n    b + c  "),
            (at((9, Some(0)), None), "(file)"),
            (Finding::default(), "(file)"),
            (at((1, Some(99)), None), ""),
        ] {
            assert_eq!(covered(&finding, text, Encoding::Utf32), expected, "{finding:?}");
        }
    }

    #[test]
    fn files_are_relative_to_the_root_or_nowhere() {
        let file = |name: &str| Finding { file: Some(name.into()), ..Finding::default() }.file_in(Path::new("/w"));
        assert_eq!(file("a/b.py").as_deref(), Some("a/b.py"));
        assert_eq!(file("./a.py").as_deref(), Some("a.py"));
        assert_eq!(file("/w/a.py").as_deref(), Some("a.py"));
        assert_eq!((file("/etc/a.py"), file("../a.py"), file("")), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_place_of_any_tool_is_outside_the_text(
            text in "[a😀é \n]{0,30}", start in (0u32..6, proptest::option::of(0u32..20)),
            end in proptest::option::of((0u32..6, proptest::option::of(0u32..20))),
        ) {
            let index = LineIndex::new(&text);
            let location = at(start, end).location("a.py", &text, &index, Encoding::Utf32);
            if let Some(range) = location.range() {
                let bytes = index.byte_range(&text, range, Encoding::Utf16);
                prop_assert!(bytes.start <= bytes.end && bytes.end <= text.len());
                prop_assert_eq!(index.range(&text, bytes, Encoding::Utf16), range);
            }
        }
    }
}
