//! Finds the code that the words of a page name: `src/a.py:36`, `src/a.py::Cart::total`, or a file.

use serde_json::{Value, json};

use crate::engine::EngineHost;
use crate::engine::links::EngineLink;
use crate::engine::streamed_page::line_start;
use crate::link::PagePlace;
use sextant_base::path;
use sextant_base::positions::{LineIndex, Position};
use sextant_store::workspace::open_beneath;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The largest file that is looked into, in bytes.
const LARGEST: u64 = 8 << 20;

/// Characters that stand around a name.
const AROUND: &[char] = &['`', '"', '\'', '(', ')', '[', ']', '<', '>', ',', ';', '“', '”', '*', '|'];

impl EngineHost {
    /// The location that the word at a place of a page names; null for none.
    pub(super) fn named_place(&self, link: &EngineLink, place: &PagePlace) -> Value {
        let found = self.buffers.mirror.of_uri(&place.uri).filter(|_| self.is_page(&place.uri)).and_then(|page| {
            let at = LineIndex::new(&page.text).offset(&page.text, place.position, link.hello.encoding);
            self.location(link, word(&page.text, at))
        });
        found.map(|(uri, at)| json!({"uri": uri, "range": {"start": at, "end": at}})).unwrap_or_default()
    }

    fn location(&self, link: &EngineLink, word: &str) -> Option<(String, Position)> {
        let root = self.setup.root.path();
        let SymbolPath { file, names } = SymbolPath::parse(word);
        let (file, line) = if names.is_empty() { with_line(&file) } else { (file.as_str(), None) };
        let absolute = root.join(file).canonicalize().ok().filter(|absolute| absolute.is_file())?;
        let relative = path::relative(root, &absolute)?;
        let uri = path::to_uri(&absolute)?;
        if names.is_empty() {
            return Some((uri, line_start(line.unwrap_or(1).saturating_sub(1))));
        }
        let open = self.buffers.mirror.of_file(&absolute).map(|open| open.text.to_string());
        let text = open.or_else(|| open_beneath::text(root, &relative, LARGEST))?;
        let outline = Outline::parse(language::of_path(&relative)?, &text);
        let symbol = &outline.symbols[outline.known(&names)?];
        Some((uri, LineIndex::new(&text).position(&text, symbol.name_range.start, link.hello.encoding)))
    }
}

/// The word around an offset of a text, without the marks of a sentence.
fn word(text: &str, at: usize) -> &str {
    let at = text.floor_char_boundary(at);
    let ends = |letter: char| letter.is_whitespace() || AROUND.contains(&letter);
    let start =
        text[..at].char_indices().rfind(|(_, letter)| ends(*letter)).map_or(0, |(at, letter)| at + letter.len_utf8());
    let end = text[at..].find(ends).map_or(text.len(), |end| at + end);
    text[start..end].trim_end_matches(['.', ':', '!', '?'])
}

/// A file with its line: `a.py:36` and `a.py:36:4`.
fn with_line(word: &str) -> (&str, Option<usize>) {
    let Some((file, rest)) = word.split_once(':') else { return (word, None) };
    let line = rest.split([':', '-']).next().and_then(|line| line.parse().ok());
    line.map_or((word, None), |line| (file, Some(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_place_ends_at_marks_and_has_its_line() {
        let text = "It is in `src/a.py:36`. See (a.py::Cart::total), é b.py:3:4: x.";
        let at = |part: &str| word(text, text.find(part).unwrap());
        assert_eq!(
            (at("a.py:36"), at("total"), at("py:3:4"), at("x.")),
            ("src/a.py:36", "a.py::Cart::total", "b.py:3:4", "x")
        );
        assert_eq!(word(text, text.len()), "x");
        assert_eq!(with_line("src/a.py:36"), ("src/a.py", Some(36)));
        assert_eq!(with_line("b.py:3:4"), ("b.py", Some(3)));
        assert_eq!(with_line("b.py:3-9"), ("b.py", Some(3)));
        assert_eq!(with_line("b.py"), ("b.py", None));
        assert_eq!(with_line("b.py:x"), ("b.py:x", None));
    }
}
