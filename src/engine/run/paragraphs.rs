//! Shows the words of a model as paragraphs: each new message stays apart from the one before.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use sextant_model::step::Spoken;

/// The state of the words of a piece of work.
#[derive(Debug, Default)]
pub(crate) struct Paragraphs {
    /// True if the last words have no line end behind them.
    open: AtomicBool,
    /// True if the next words begin a paragraph.
    next: AtomicBool,
}

impl Paragraphs {
    /// Begins a paragraph of its own for the next words.
    pub(crate) fn begin(&self) {
        self.next.store(true, Ordering::Relaxed);
    }

    /// Notes that something else was shown since: the next words begin a line anyway.
    pub(crate) fn interrupt(&self) {
        self.open.store(false, Ordering::Relaxed);
    }

    pub(crate) fn say(&self, events: &EventStream, words: Spoken<'_>) {
        if words.text.is_empty() {
            return;
        }
        events.show(Event::Words { text: self.apart(words.text), thought: words.thought });
    }

    fn apart(&self, text: &str) -> String {
        let begins = self.next.swap(false, Ordering::Relaxed);
        let open = self.open.swap(true, Ordering::Relaxed);
        if begins && open { format!("\n\n{text}") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_follows_words_is_set_apart() {
        let paragraphs = Paragraphs::default();
        paragraphs.begin();
        assert_eq!([paragraphs.apart("I do"), paragraphs.apart(" so.")], ["I do", " so."]);
        paragraphs.begin();
        assert_eq!(paragraphs.apart("Finished."), "\n\nFinished.");
        paragraphs.begin();
        paragraphs.interrupt();
        assert_eq!(paragraphs.apart("Next."), "Next.");
    }
}
