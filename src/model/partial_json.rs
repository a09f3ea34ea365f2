//! Picks the words meant for a reader out of a JSON answer while it is still being written.

/// Reads the JSON of one object piece by piece and hands out the decoded text of chosen top-level strings.
///
/// Text before the object (prose, a fence, `<think>…</think>`) is skipped. Half an escape waits for its other half.
/// Broken JSON gives fewer words, never an error: the meaning of the answer is read elsewhere.
#[derive(Debug)]
pub struct WordStream {
    wanted: &'static [&'static str],
    state: ParserState,
    depth: u32,
    /// The latest string at depth 1 that may be a key, and then is one.
    key: String,
    expecting_value: bool,
    /// An escape as far as it has come, without its backslash.
    escape: String,
    high_surrogate: Option<u16>,
    before: String,
    handed_out: bool,
    /// A line break is due before the next word, because another string was handed out before this one.
    gap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserState {
    Before,
    Thinking,
    Between,
    Text(StringRole),
    Escape(StringRole),
    Done,
}

/// The use of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringRole {
    Key,
    Words,
    Other,
}

impl WordStream {
    /// `wanted` names the top-level properties whose text is handed out.
    pub fn new(wanted: &'static [&'static str]) -> Self {
        Self {
            wanted,
            state: ParserState::Before,
            depth: 0,
            key: String::new(),
            expecting_value: false,
            escape: String::new(),
            high_surrogate: None,
            before: String::new(),
            handed_out: false,
            gap: false,
        }
    }

    /// Takes the next piece of the answer and returns the words that it completes, possibly none.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            self.take(c, &mut out);
        }
        out
    }

    fn take(&mut self, c: char, out: &mut String) {
        match self.state {
            ParserState::Before => {
                self.remember(c);
                if self.before.ends_with("<think>") {
                    self.state = ParserState::Thinking;
                } else if c == '{' {
                    self.depth = 1;
                    self.state = ParserState::Between;
                }
            }
            ParserState::Thinking => {
                self.remember(c);
                if self.before.ends_with("</think>") {
                    self.state = ParserState::Before;
                }
            }
            ParserState::Between => self.between(c),
            ParserState::Text(role) => self.text(role, c, out),
            ParserState::Escape(role) => self.escaped(role, c, out),
            ParserState::Done => {}
        }
    }

    /// The last characters before the object, enough to see a tag end.
    fn remember(&mut self, c: char) {
        self.before.push(c);
        if self.before.len() > 64 {
            self.before = self.before.chars().skip(self.before.chars().count() - 8).collect();
        }
    }

    fn between(&mut self, c: char) {
        match c {
            '"' => {
                let role = if self.depth != 1 {
                    StringRole::Other
                } else if !self.expecting_value {
                    self.key.clear();
                    StringRole::Key
                } else if self.wanted.contains(&self.key.as_str()) {
                    self.gap = self.handed_out;
                    StringRole::Words
                } else {
                    StringRole::Other
                };
                self.state = ParserState::Text(role);
            }
            ':' if self.depth == 1 => self.expecting_value = true,
            ',' if self.depth == 1 => self.expecting_value = false,
            '{' | '[' => self.depth += 1,
            '}' | ']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.state = ParserState::Done;
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, role: StringRole, c: char, out: &mut String) {
        match c {
            '\\' => {
                self.escape.clear();
                self.state = ParserState::Escape(role);
            }
            '"' => {
                self.lone_surrogate(role, out);
                self.state = ParserState::Between;
            }
            _ => {
                self.lone_surrogate(role, out);
                self.give(role, c, out);
            }
        }
    }

    fn escaped(&mut self, role: StringRole, c: char, out: &mut String) {
        if self.escape.is_empty() && c != 'u' {
            self.lone_surrogate(role, out);
            let plain = match c {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                other => other,
            };
            self.give(role, plain, out);
            self.state = ParserState::Text(role);
            return;
        }
        self.escape.push(c);
        if self.escape.chars().count() < 5 {
            return;
        }
        let unit = self.escape.get(1..).and_then(|hex| u16::from_str_radix(hex, 16).ok()).unwrap_or(0xfffd);
        self.state = ParserState::Text(role);
        match (self.high_surrogate.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                let decoded = char::decode_utf16([high, unit]).next().and_then(Result::ok);
                self.give(role, decoded.unwrap_or(char::REPLACEMENT_CHARACTER), out);
            }
            (pending, unit) => {
                if pending.is_some() {
                    self.give(role, char::REPLACEMENT_CHARACTER, out);
                }
                if (0xd800..=0xdbff).contains(&unit) {
                    self.high_surrogate = Some(unit);
                } else {
                    let decoded = char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
                    self.give(role, decoded, out);
                }
            }
        }
    }

    fn lone_surrogate(&mut self, role: StringRole, out: &mut String) {
        if self.high_surrogate.take().is_some() {
            self.give(role, char::REPLACEMENT_CHARACTER, out);
        }
    }

    fn give(&mut self, role: StringRole, c: char, out: &mut String) {
        match role {
            StringRole::Key => self.key.push(c),
            StringRole::Words => {
                if std::mem::take(&mut self.gap) {
                    out.push('\n');
                }
                self.handed_out = true;
                out.push(c);
            }
            StringRole::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WANTED: &[&str] = &["reasoning", "answer"];

    fn words(pieces: &[&str]) -> String {
        let mut stream = WordStream::new(WANTED);
        pieces.iter().map(|piece| stream.push(piece)).collect()
    }

    #[test]
    fn words_grow_while_the_json_does() {
        let mut stream = WordStream::new(WANTED);
        assert_eq!(stream.push("{\"reas"), "");
        assert_eq!(stream.push("oning\": \"It is"), "It is");
        assert_eq!(stream.push(" \\u00"), " ");
        assert_eq!(stream.push("fc\\"), "ü");
        assert_eq!(stream.push("n\\\"x"), "\n\"x");
        assert_eq!(stream.push("\\ud83d"), "", "half a character waits");
        assert_eq!(stream.push("\\ude00\", \"action\": null"), "😀");
        assert_eq!(stream.push(", \"answer\":\"ok\"}trailing \"answer\""), "\nok");
    }

    #[test]
    fn only_the_chosen_strings_of_the_outer_object_are_words() {
        let json = r#"{"action":{"tool":"edit_file","parameters":{"answer":"{\"reasoning\":1}"}},"confidence":0.5,
            "list":["answer","reasoning"],"note":"answer","reasoning":"yes"}"#;
        assert_eq!(words(&[json]), "yes");
    }

    #[test]
    fn prose_fences_and_thinking_are_passed_over() {
        assert_eq!(words(&["<think>{\"reasoning\":\"no\"}</thi", "nk>\n```json\n{\"reasoning\":\"a\"}\n```"]), "a");
        assert_eq!(words(&["no json at all"]), "");
    }

    #[test]
    fn lone_surrogates_and_broken_escapes_do_not_stop_it() {
        assert_eq!(words(&[r#"{"reasoning":"a\ud83dz\uzzzzq"}"#]), "a\u{fffd}z\u{fffd}q");
        assert_eq!(words(&["{\"reasoning\":\"a\\u12é4z\"}}}}]"]).chars().next(), Some('a'));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_words(
            reasoning in any::<String>(), answer in any::<String>(), ascii in any::<bool>(), size in 1_usize..9,
        ) {
            let value = serde_json::json!({"reasoning": reasoning, "action": {"answer": "x"}, "answer": answer});
            let mut json = value.to_string();
            if ascii {
                json = json.chars().flat_map(|c| {
                    let mut units = [0; 2];
                    let escaped: String = if c.is_ascii() { c.into() } else {
                        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                    };
                    escaped.chars().collect::<Vec<_>>()
                }).collect();
            }
            let mut stream = WordStream::new(WANTED);
            let chars: Vec<char> = json.chars().collect();
            let got: String = chars.chunks(size).map(|piece| stream.push(&piece.iter().collect::<String>())).collect();
            let gap = if reasoning.is_empty() || answer.is_empty() { "" } else { "\n" };
            prop_assert_eq!(got, format!("{reasoning}{gap}{answer}"));
        }

        #[test]
        fn nothing_makes_it_panic(text in r#"[{}\[\]":,\\u0-9a-fé<think>/]{0,80}"#) {
            words(&[&text]);
        }
    }
}
