//! Keeps the texts of the answer window as they were written, since the window shows marks in place of some characters,
//! and finds the code block behind one that is shown.

use std::collections::VecDeque;

use sextant_base::printable::printable;
use sextant_engine::api::Event;
use sextant_text::edits::fenced_blocks::fenced_blocks;

/// Bytes of all kept texts; the oldest go first.
const MOST: usize = 4 << 20;

/// Most characters that are named.
const NAMED: usize = 4;

/// The written texts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct AnswerTexts {
    texts: VecDeque<String>,
    /// The kind of the words that the last text goes on with: thoughts, or those of an answer.
    words: Option<bool>,
}

/// A code block as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenBlock {
    pub(crate) text: String,
    /// The shown differences in words; `None` where the window shows the block as it is.
    pub(crate) marks: Option<String>,
}

impl AnswerTexts {
    /// Keeps the texts of a conversation that an event shows.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::Words { text, thought } => match self.texts.back_mut().filter(|_| self.words == Some(*thought)) {
                Some(last) => last.push_str(text),
                None => {
                    self.texts.push_back(text.clone());
                    self.words = Some(*thought);
                }
            },
            Event::Started { .. } => self.words = None,
            Event::Finished { summary, .. } => self.add(summary),
            Event::Conversation { exchanges } => exchanges.iter().for_each(|one| self.add(&one.answer)),
            _ => {}
        }
        while self.texts.len() > 1 && self.texts.iter().map(String::len).sum::<usize>() > MOST {
            self.texts.pop_front();
        }
    }

    fn add(&mut self, text: &str) {
        self.texts.push_back(text.to_owned());
        self.words = None;
    }

    /// The written text of a block that the window shows. `None` if it is not known: its text was dropped, or blocks
    /// that differ are shown alike.
    pub(crate) fn block(&self, shown: &str) -> Option<WrittenBlock> {
        let mut found: Option<String> = None;
        for block in self.texts.iter().flat_map(|text| fenced_blocks(text)).filter(|one| printable(&one.text) == shown)
        {
            if found.as_ref().is_some_and(|known| *known != block.text) {
                return None;
            }
            found = Some(block.text);
        }
        match found {
            Some(text) => Some(WrittenBlock { marks: (text != shown).then(|| differences(&text)), text }),
            None if shown.contains(is_mark) => None,
            None => Some(WrittenBlock { text: shown.to_owned(), marks: None }),
        }
    }
}

/// A character that may stand for another one.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2421}' | char::REPLACEMENT_CHARACTER)
}

/// The characters that are shown as marks, by their numbers.
fn differences(text: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for c in text.chars() {
        let name = format!("U+{:04X}", u32::from(c));
        if printable(c.encode_utf8(&mut [0; 4])) != c.to_string() && !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("writes {}{more}, not shown as such", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, thought: bool) -> Event {
        Event::Words { text: text.into(), thought }
    }

    fn kept(events: &[Event]) -> AnswerTexts {
        let mut kept = AnswerTexts::default();
        events.iter().for_each(|event| kept.note(event));
        kept
    }

    #[test]
    fn a_shown_block_is_the_written_one_wherever_its_words_were_cut() {
        let usage = Event::Progress { text: "…".into() };
        let pieces = ["So:\n```python\nx = \"\u{200f}", "\u{2028}\"\n`", "``\n"].map(|text| words(text, false));
        let [one, two, three] = pieces;
        let texts = kept(&[words("hm\n", true), one, usage, two, three]);
        let marks = Some("writes U+200F, U+2028, not shown as such".to_owned());
        let wanted = WrittenBlock { text: "x = \"\u{200f}\u{2028}\"".into(), marks };
        assert_eq!(texts.block("x = \"\u{fffd}\u{fffd}\""), Some(wanted));
        let plain = WrittenBlock { text: "y = 1".into(), marks: None };
        assert_eq!(texts.block("y = 1"), Some(plain), "a text without marks is as it is shown");
        assert_eq!(texts.block("y = \"\u{fffd}\""), None, "its text is not known");
    }

    #[test]
    fn blocks_that_are_shown_alike_and_differ_are_not_known() {
        let block = |mark: char| format!("```\nx = \"{mark}\"\n```\n");
        let finished = |summary: String| Event::Finished { ok: true, summary, answer: String::new() };
        let one = kept(&[finished(block('\u{202e}')), finished(block('\u{202e}'))]);
        assert!(one.block("x = \"\u{fffd}\"").is_some_and(|found| found.text.contains('\u{202e}')));
        let two = kept(&[finished(block('\u{202e}')), finished(block('\u{202d}'))]);
        assert_eq!(two.block("x = \"\u{fffd}\""), None);
        let own = kept(&[finished(block('\u{fffd}'))]);
        assert_eq!(own.block("x = \"\u{fffd}\"").map(|found| found.marks), Some(None));
    }

    #[test]
    fn the_oldest_texts_go_first() {
        let mut texts = AnswerTexts::default();
        let long = "a".repeat(MOST / 2);
        for text in ["```\n\u{7}\n```\n", long.as_str(), &long] {
            texts.note(&Event::Finished { ok: true, summary: text.into(), answer: String::new() });
        }
        assert_eq!((texts.texts.len(), texts.block("␇")), (2, None));
    }
}
