//! Selects the words of an answer that reach the reader while it is still being written.

use crate::answer::Piece;
use crate::partial_json::WordStream;
use crate::step::Spoken;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Words for the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardWords {
    text: String,
    thought: bool,
}

impl HeardWords {
    pub fn spoken(&self) -> Spoken<'_> {
        Spoken { text: &self.text, thought: self.thought }
    }
}

/// Adds words behind the others.
fn add(out: &mut Vec<HeardWords>, text: &str, thought: bool) {
    match out.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.thought == thought => last.text.push_str(text),
        _ => out.push(HeardWords { text: text.to_owned(), thought }),
    }
}

/// Listens to the pieces of one answer.
#[derive(Debug)]
pub struct Hearing {
    text: Listener,
    /// True if the reader sees the model's thinking aloud.
    reasoning: bool,
    /// Reasoning was the last thing that was handed out.
    thought: bool,
    /// The last piece was reasoning, for the reader or not.
    thinks: bool,
}

#[derive(Debug)]
enum Listener {
    /// Chosen strings of a JSON object.
    Json(WordStream),
    Plain(PlainWords),
}

impl Hearing {
    /// For an answer that is one JSON object.
    pub fn json(wanted: &'static [&'static str], reasoning: bool) -> Self {
        Self { text: Listener::Json(WordStream::new(wanted)), reasoning, thought: false, thinks: false }
    }

    /// For an answer in prose.
    pub fn plain(reasoning: bool) -> Self {
        Self { text: Listener::Plain(PlainWords::default()), reasoning, thought: false, thinks: false }
    }

    /// Adds the words of a piece to `out`. `Some` where the model begins to reason, or no longer does.
    pub fn hear(&mut self, piece: &Piece, out: &mut Vec<HeardWords>) -> Option<bool> {
        let before = self.thinks;
        self.add(piece, out);
        (self.thinks != before).then_some(self.thinks)
    }

    fn add(&mut self, piece: &Piece, out: &mut Vec<HeardWords>) {
        match piece {
            Piece::Text { text, .. } => {
                let (thought, words) = match &mut self.text {
                    Listener::Json(stream) => (String::new(), stream.push(text)),
                    Listener::Plain(plain) => plain.push(text),
                };
                if !text.is_empty() {
                    self.thinks = matches!(&self.text, Listener::Plain(plain) if plain.state == Thinking::Inside);
                }
                if self.reasoning {
                    add(out, &thought, true);
                }
                if !words.is_empty() && std::mem::take(&mut self.thought) {
                    add(out, "\n", true);
                }
                add(out, &words, false);
            }
            Piece::Reasoning(text) if !text.is_empty() => {
                self.thinks = true;
                if self.reasoning {
                    self.thought = true;
                    add(out, text, true);
                }
            }
            Piece::Refusal(text) => {
                self.thinks = false;
                add(out, text, false);
            }
            Piece::Call { .. } => self.thinks = false,
            _ => {}
        }
    }
}

/// Prose, without text that a server has put between tags of thinking at its beginning.
#[derive(Debug, Default)]
struct PlainWords {
    state: Thinking,
    /// Text that may still turn out to be a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Thinking {
    #[default]
    Unknown,
    Inside,
    Over,
}

impl PlainWords {
    /// The thinking in a piece, and the words behind it.
    fn push(&mut self, text: &str) -> (String, String) {
        if self.state == Thinking::Over {
            return (String::new(), text.to_owned());
        }
        self.held.push_str(text);
        if self.state == Thinking::Unknown {
            let begin = self.held.trim_start();
            if begin.len() < OPEN.len() && OPEN.starts_with(begin) {
                return Default::default();
            }
            if !begin.starts_with(OPEN) {
                self.state = Thinking::Over;
                return (String::new(), std::mem::take(&mut self.held));
            }
            self.state = Thinking::Inside;
            self.held = begin[OPEN.len()..].to_owned();
        }
        let Some((thought, rest)) = self.held.split_once(CLOSE) else {
            let mut keep = self.held.len().saturating_sub(CLOSE.len());
            while !self.held.is_char_boundary(keep) {
                keep -= 1;
            }
            return (self.held.drain(..keep).collect(), String::new());
        };
        let said = (format!("{thought}\n"), rest.trim_start().to_owned());
        self.held = String::new();
        self.state = Thinking::Over;
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heard(text: &str, size: usize, shown: bool) -> String {
        let mut hearing = Hearing::plain(shown);
        let mut out = Vec::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            hearing.hear(&Piece::Text { slot: 0, text: piece.iter().collect() }, &mut out);
        }
        out.iter().map(|words| words.text.as_str()).collect()
    }

    #[test]
    fn thinking_aloud_is_passed_over_unless_it_is_to_be_shown() {
        for size in 1..20 {
            assert_eq!(
                heard(" <think>if é < 3 </b> then</think>\n\nIt is <b>.", size, false).trim_start(),
                "It is <b>."
            );
            assert_eq!(heard("<think>if é</think>Yes", size, true), "if é\nYes");
            assert_eq!(heard("<thin>k</thin>", size, false), "<thin>k</thin>");
        }
        let text = |text: &str| Piece::Text { slot: 0, text: text.into() };
        for pieces in [vec![Piece::Reasoning("why".into()), text("so")], vec![text("<think>why"), text("</think>so")]] {
            let mut out = Vec::new();
            let mut hearing = Hearing::plain(true);
            let changes: Vec<bool> = pieces.iter().filter_map(|piece| hearing.hear(piece, &mut out)).collect();
            assert_eq!(changes, [true, false]);
            let spoken: Vec<_> = out.iter().map(|words| (words.spoken().text, words.spoken().thought)).collect();
            assert_eq!(spoken, [("why\n", true), ("so", false)]);
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(<think>|</think>|é| |<|x){0,20}", size in 1_usize..6) {
            heard(&text, size, true);
            let after = text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
            if let Some((_, after)) = after {
                let words = heard(&text, size, false);
                prop_assert_eq!(words.trim(), after.trim());
            }
        }
    }
}
