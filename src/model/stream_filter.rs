//! Selects the words of an answer that reach the reader while it is still being written.

use crate::answer::Piece;
use crate::partial_json::WordStream;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Listens to the pieces of one answer.
#[derive(Debug)]
pub struct Hearing {
    text: Listener,
    /// Whether the reader sees the model's thinking aloud.
    reasoning: bool,
    /// Reasoning was the last thing that was handed out.
    thought: bool,
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
        Self { text: Listener::Json(WordStream::new(wanted)), reasoning, thought: false }
    }

    /// For an answer in prose.
    pub fn plain(reasoning: bool) -> Self {
        Self { text: Listener::Plain(PlainWords::default()), reasoning, thought: false }
    }

    /// Adds the words of a piece to `out`.
    pub fn hear(&mut self, piece: &Piece, out: &mut String) {
        match piece {
            Piece::Text { text, .. } => {
                let words = match &mut self.text {
                    Listener::Json(stream) => stream.push(text),
                    Listener::Plain(plain) => plain.push(text, self.reasoning),
                };
                if !words.is_empty() && std::mem::take(&mut self.thought) {
                    out.push('\n');
                }
                out.push_str(&words);
            }
            Piece::Reasoning(text) if self.reasoning && !text.is_empty() => {
                self.thought = true;
                out.push_str(text);
            }
            Piece::Refusal(text) => out.push_str(text),
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
    fn push(&mut self, text: &str, shown: bool) -> String {
        if self.state == Thinking::Over {
            return text.to_owned();
        }
        self.held.push_str(text);
        if self.state == Thinking::Unknown {
            let begin = self.held.trim_start();
            if begin.len() < OPEN.len() && OPEN.starts_with(begin) {
                return String::new();
            }
            if !begin.starts_with(OPEN) {
                self.state = Thinking::Over;
                return std::mem::take(&mut self.held);
            }
            self.state = Thinking::Inside;
            self.held = begin[OPEN.len()..].to_owned();
        }
        let Some((thought, rest)) = self.held.split_once(CLOSE) else {
            let mut keep = self.held.len().saturating_sub(CLOSE.len());
            while !self.held.is_char_boundary(keep) {
                keep -= 1;
            }
            let thought: String = self.held.drain(..keep).collect();
            return if shown { thought } else { String::new() };
        };
        let rest = rest.trim_start();
        let words = if shown { format!("{thought}\n{rest}") } else { rest.to_owned() };
        self.held = String::new();
        self.state = Thinking::Over;
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heard(text: &str, size: usize, shown: bool) -> String {
        let mut hearing = Hearing::plain(shown);
        let mut out = String::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            hearing.hear(&Piece::Text { slot: 0, text: piece.iter().collect() }, &mut out);
        }
        out
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
        let mut out = String::new();
        let mut hearing = Hearing::plain(true);
        hearing.hear(&Piece::Reasoning("why".into()), &mut out);
        hearing.hear(&Piece::Text { slot: 0, text: "so".into() }, &mut out);
        assert_eq!(out, "why\nso");
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
