//! Composes the conversation: requests, words, tools and answers, and thinking as a quote that ends as one line.

use std::time::Instant;

use crate::message_line;
use sextant_base::one_line::headline;

/// The beginning of a conversation.
pub(super) const HEAD: &str = "# Sextant\n";

/// The most characters of the conversation that are kept.
const KEPT: usize = 200_000;

/// The most characters of thinking that stay: with the words before them they fit a line of 80 columns.
const THOUGHT: usize = 54;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastBlock {
    #[default]
    Other,
    Words,
    Entry,
}

/// Thinking that still comes: its quote is the end of the text.
#[derive(Debug)]
struct OpenThought {
    quote: String,
    words: String,
    since: Instant,
}

/// The state of the text that is composed.
#[derive(Debug, Default)]
pub(super) struct ConversationText {
    last: LastBlock,
    thought: Option<OpenThought>,
    /// The words since anything else was shown.
    answer: String,
    /// Notes that came within words, for the place behind them.
    notes: Vec<String>,
}

impl ConversationText {
    /// Begins the turn of a request. One of several lines stands whole below its heading, as a quote.
    pub(super) fn begin(&mut self, text: &mut String, request: &str, by: &str) {
        let heading = headline(request);
        let whole = match request.trim() {
            whole if whole == heading => String::new(),
            whole => format!("\n\n> {}", whole.replace('\n', "\n> ")),
        };
        self.block(text, &format!("## {heading}\n\n{by}{whole}"));
        self.answer.clear();
    }

    /// Adds words of a model.
    pub(super) fn words(&mut self, text: &mut String, words: &str) {
        self.end_thought(text);
        if self.last != LastBlock::Words {
            set_apart(text);
            self.answer.clear();
        }
        text.push_str(words);
        self.answer.push_str(words);
        self.last = LastBlock::Words;
        shorten(text);
    }

    /// Adds thinking of a model. It is a quote while it comes, since it is no part of the answer.
    pub(super) fn think(&mut self, text: &mut String, words: &str) {
        if self.thought.is_none() {
            set_apart(text);
        }
        let new = || OpenThought { quote: String::new(), words: String::new(), since: Instant::now() };
        let thought = self.thought.get_or_insert_with(new);
        let mut more = words.replace('\n', "\n> ");
        if thought.quote.is_empty() {
            more.insert_str(0, "> ");
        }
        text.push_str(&more);
        thought.quote.push_str(&more);
        thought.words.push_str(words);
        self.last = LastBlock::Other;
        shorten(text);
    }

    /// Adds a block of its own that may come at any time. Words of a model are not broken by it.
    pub(super) fn note(&mut self, text: &mut String, markdown: &str) {
        self.notes.push(markdown.to_owned());
        if self.last != LastBlock::Words && self.thought.is_none() {
            self.add_notes(text);
        }
    }

    fn add_notes(&mut self, text: &mut String) {
        std::mem::take(&mut self.notes).iter().for_each(|note| self.add(text, note));
    }

    /// Adds a block of its own.
    pub(super) fn block(&mut self, text: &mut String, markdown: &str) {
        self.add_notes(text);
        self.add(text, markdown);
    }

    fn add(&mut self, text: &mut String, markdown: &str) {
        self.end_thought(text);
        set_apart(text);
        text.push_str(markdown.trim_matches('\n'));
        text.push('\n');
        self.last = LastBlock::Other;
        shorten(text);
    }

    /// Adds an entry to the list of what was done.
    pub(super) fn entry(&mut self, text: &mut String, line: &str) {
        self.add_notes(text);
        self.end_thought(text);
        if self.last != LastBlock::Entry {
            set_apart(text);
        }
        text.push_str(line);
        text.push('\n');
        self.last = LastBlock::Entry;
        shorten(text);
    }

    /// The line at which a reader begins, counted from 0: the first one of the last answer, else the last request.
    pub(super) fn last_part(&self, text: &str) -> Option<usize> {
        let lines: Vec<&str> = text.lines().collect();
        let request = lines.iter().rposition(|line| line.starts_with("## "));
        let first = self.answer.lines().find(|line| !line.trim().is_empty());
        let answer = first.and_then(|first| lines.iter().rposition(|line| *line == first));
        answer.max(request)
    }

    /// Leaves one line of the thinking.
    fn end_thought(&mut self, text: &mut String) {
        let Some(OpenThought { quote, words, since }) = self.thought.take() else { return };
        // A text that was shortened may have lost it.
        let Some(before) = text.strip_suffix(quote.as_str()).map(str::len) else { return };
        text.truncate(before);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words.is_empty() {
            let time = match since.elapsed().as_secs() {
                0 => String::new(),
                seconds => format!(" for {seconds} s"),
            };
            text.push_str(&format!("> Thought{time}: {}\n", message_line::cut(&words, THOUGHT)));
        }
    }
}

/// Begins a block of its own.
fn set_apart(text: &mut String) {
    if text.is_empty() {
        text.push_str(HEAD);
    }
    while !text.ends_with("\n\n") {
        text.push('\n');
    }
}

/// Drops the oldest turns of a long conversation.
fn shorten(text: &mut String) {
    if let Some(mut over) = text.len().checked_sub(KEPT) {
        while !text.is_char_boundary(over) {
            over += 1;
        }
        let cut = text[over..].find("\n## ").map_or(text.len(), |at| over + at);
        text.replace_range(..cut, HEAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_a_request_with_blocks_that_stand_apart() {
        let (mut page, mut text) = (String::new(), ConversationText::default());
        text.begin(&mut page, "what is this?", "simple, m");
        text.words(&mut page, "I look.");
        text.entry(&mut page, "- read_file: a.py");
        text.entry(&mut page, "- find_symbol: f");
        text.words(&mut page, "It is");
        text.words(&mut page, " f.\n");
        text.block(&mut page, "\n**done**\n");
        let wanted = "# Sextant\n\n## what is this?\n\nsimple, m\n\nI look.\n\n- read_file: a.py\n- find_symbol: f\n\n\
                      It is f.\n\n**done**\n";
        assert_eq!(page, wanted);
        assert_eq!(text.last_part(&page).and_then(|line| page.lines().nth(line)), Some("It is f."));
        text.begin(&mut page, "stop", "simple, m");
        assert_eq!(text.last_part(&page).and_then(|line| page.lines().nth(line)), Some("## stop"));
    }

    #[test]
    fn a_note_breaks_no_words() {
        let (mut page, mut text) = (String::new(), ConversationText::default());
        text.note(&mut page, "one");
        text.words(&mut page, "It ");
        text.note(&mut page, "two");
        text.words(&mut page, "is f.");
        text.entry(&mut page, "- read_file: a.py");
        assert_eq!(page, "# Sextant\n\none\n\nIt is f.\n\ntwo\n\n- read_file: a.py\n");
    }

    #[test]
    fn thinking_is_a_quote_and_one_line_behind_it() {
        let (mut page, mut text) = (String::new(), ConversationText::default());
        text.begin(&mut page, "why?", "simple, m");
        text.think(&mut page, "The user asks\nwhy");
        text.think(&mut page, " this is so.\n\nI look at everything that is around it first.\n");
        assert!(
            page.ends_with(
                "m\n\n> The user asks\n> why this is so.\n> \n> I look at everything that is around it first.\n> "
            ),
            "{page}"
        );
        text.words(&mut page, "Because.");
        let wanted = "m\n\n> Thought: The user asks why this is so. I look at everything …\n\nBecause.";
        assert!(page.ends_with(wanted), "{page}");
        text.think(&mut page, "Once more.");
        text.block(&mut page, "**stopped**");
        assert!(page.ends_with("Because.\n\n> Thought: Once more.\n\n**stopped**\n"), "{page}");
    }

    #[test]
    fn a_long_conversation_loses_its_oldest_turns() {
        let (mut page, mut text) = (String::new(), ConversationText::default());
        for number in 0..30 {
            text.begin(&mut page, &format!("request {number}"), "simple, m");
            text.words(&mut page, &"é ".repeat(KEPT / 60));
        }
        assert!(page.len() <= KEPT && page.starts_with("# Sextant\n\n## request "), "{}", page.len());
        assert!(page.contains("## request 29") && !page.contains("## request 0\n"));
        text.think(&mut page, &"long ".repeat(KEPT));
        text.words(&mut page, "Yes.");
        assert!(page.ends_with("Yes."));
    }
}
