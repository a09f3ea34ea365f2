//! Keeps what was read from the last few texts: one edit asks for the same texts up to ten times.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::symbols::language::Language;
use sextant_base::lock::lock;

/// Texts that are kept: those before and after an edit of a few files.
const MOST_TEXTS: usize = 12;
/// Bytes of all kept texts. A syntax tree takes up to 60 times the bytes of its text.
const MOST_BYTES: usize = 256 * 1024;

/// A value for each of the last texts, the last used one last.
#[derive(Debug)]
pub(crate) struct RecentTexts<T>(Mutex<VecDeque<RecentText<T>>>);

#[derive(Debug)]
struct RecentText<T> {
    /// The language's place in the table.
    row: usize,
    text: Box<str>,
    value: Arc<T>,
}

impl<T> RecentTexts<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// The value of a text, read if it is not known. Texts of languages that are no rows of the table are not kept.
    pub(crate) fn get(&self, language: &Language, text: &str, read: impl FnOnce() -> T) -> Arc<T> {
        let Some(row) = language.row().filter(|_| text.len() <= MOST_BYTES) else { return Arc::new(read()) };
        if let Some(known) = self.known(row, text) {
            return known;
        }
        let value = Arc::new(read());
        let mut kept = lock(&self.0);
        kept.push_back(RecentText { row, text: text.into(), value: Arc::clone(&value) });
        let mut bytes: usize = kept.iter().map(|known| known.text.len()).sum();
        while kept.len() > MOST_TEXTS || bytes > MOST_BYTES {
            bytes -= kept.pop_front().map_or(bytes, |oldest| oldest.text.len());
        }
        value
    }

    fn known(&self, row: usize, text: &str) -> Option<Arc<T>> {
        let mut kept = lock(&self.0);
        let at = kept.iter().position(|known| known.row == row && *known.text == *text)?;
        let found = kept.remove(at)?;
        let value = Arc::clone(&found.value);
        kept.push_back(found);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language::of_path;

    #[test]
    fn the_last_texts_are_read_once_and_the_oldest_go_first() {
        let recent: RecentTexts<usize> = RecentTexts::new();
        let (python, rust) = (of_path("a.py").unwrap(), of_path("a.rs").unwrap());
        let read = |language, text: &str, value: usize| *recent.get(language, text, || value);
        assert_eq!([read(python, "a", 1), read(python, "a", 2), read(rust, "a", 3)], [1, 1, 3]);
        for number in 0..MOST_TEXTS {
            assert_eq!(read(python, "a", 4), 1, "what is used stays");
            read(python, &number.to_string(), number);
        }
        assert_eq!(read(rust, "a", 5), 5, "what is not used goes");
        let large = "x".repeat(MOST_BYTES);
        assert_eq!([read(python, &large, 6), read(python, &large, 7), read(python, "a", 8)], [6, 6, 8]);
        let larger = "x".repeat(MOST_BYTES + 1);
        assert_eq!([read(python, &larger, 9), read(python, &larger, 10)], [9, 10]);
    }
}
