//! Splits a text into tokens: words and single punctuation marks, spelled as numbers, the same in every language.
//!
//! Strings and comments are split into words like code. That keeps tokens alike in a text that does not parse. It also
//! lets a re-wrapped docstring or a re-indented comment keep its tokens.

use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Word,
    Number,
    Mark,
    /// Brackets and separators that formatters add and drop; never part of a unit's key.
    Layout,
}

/// Bytes `start..end` of its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub start: u32,
    pub end: u32,
    /// The spelling as a number; equal spellings are equal in both snapshots.
    pub key: u32,
    pub unit: u32,
    pub class: Class,
}

/// Spellings as numbers, shared by both snapshots.
#[derive(Debug, Default)]
pub(super) struct Spellings<'a> {
    ids: HashMap<&'a str, u32>,
}

impl<'a> Spellings<'a> {
    pub(super) fn id(&mut self, text: &'a str) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(text).or_insert(next)
    }

    /// Every spelling at its number.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let mut names = vec![""; self.ids.len()];
        for (name, id) in &self.ids {
            names[*id as usize] = name;
        }
        names
    }
}

/// Appends the tokens of a text; their `unit` is still to be filled in.
pub(super) fn lex<'a>(text: &'a str, spellings: &mut Spellings<'a>, out: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let Some(first) = text[at..].chars().next() else { break };
        at += first.len_utf8();
        if first.is_whitespace() || first == '\u{feff}' {
            continue;
        }
        let class = if first.is_alphanumeric() || first == '_' {
            let rest = &text[at..];
            at += rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            if first.is_ascii_digit() { Class::Number } else { Class::Word }
        } else if matches!(first, '(' | ')' | ',' | ';' | '\\') {
            Class::Layout
        } else {
            Class::Mark
        };
        // Formatters change quotes.
        let spelling = if first == '\'' { "\"" } else { &text[start..at] };
        let key = spellings.id(spelling);
        out.push(Token { start: start as u32, end: at as u32, key, unit: 0, class });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_alike_and_brackets_are_layout() {
        let mut spellings = Spellings::default();
        let mut tokens = Vec::new();
        let text = "größe(1.5, 'a') + \"ü\"";
        lex(text, &mut spellings, &mut tokens);
        let shown: Vec<&str> = tokens.iter().map(|t| &text[t.start as usize..t.end as usize]).collect();
        assert_eq!(shown, ["größe", "(", "1", ".", "5", ",", "'", "a", "'", ")", "+", "\"", "ü", "\""]);
        assert_eq!(tokens[6].key, tokens[11].key);
        assert_eq!((tokens[0].class, tokens[1].class, tokens[2].class), (Class::Word, Class::Layout, Class::Number));
    }
}
