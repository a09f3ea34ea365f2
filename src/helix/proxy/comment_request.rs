//! Reads the comment at a place as the words of a request.

use std::sync::TryLockError;

use serde_json::{Value, json};

use crate::link::{ACTION_KIND, OwnAction};
use crate::proxy::proxy_state::{AskedActions, ProxyState, key};
use sextant_base::path;
use sextant_text::symbols::language::{self, Language};

/// The action that asks for what the comment at a place says; `None` where no line comment is.
pub(super) fn action(shared: &ProxyState, asked: &AskedActions) -> Option<OwnAction> {
    // The caller holds the table, which is locked after the texts elsewhere: this must not wait for them.
    let texts = match shared.texts.try_lock() {
        Ok(texts) => texts,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let text = &texts.open.get(&key(&asked.uri))?.text;
    let language = language::of_path(path::from_uri(&asked.uri)?.to_str()?)?;
    let (words, first, last) = comment(text, language, usize::try_from(asked.range.start.line).ok()?)?;
    Some(OwnAction {
        range: None,
        title: "Sextant: do what this comment asks".to_owned(),
        kind: ACTION_KIND.to_owned(),
        is_preferred: false,
        command: "agent.ask".to_owned(),
        arguments: vec![Value::String(words), json!({"file": asked.uri, "lines": [first + 1, last + 1]})],
    })
}

/// The words of the line comments around a line, with their first and last line. Lines count from 0.
fn comment(text: &str, language: &Language, line: usize) -> Option<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let words = |line: &str| {
        let line = line.trim();
        let mark =
            language.line_comments.iter().filter(|mark| line.starts_with(**mark)).max_by_key(|mark| mark.len())?;
        Some(line[mark.len()..].trim_start_matches(['/', '!', '#', '-']).trim().to_owned())
    };
    let around = words(lines.get(line)?).map(|_| line)?;
    let first = (0..around).rev().take_while(|at| words(lines[*at]).is_some()).last().unwrap_or(around);
    let last = (around..lines.len()).take_while(|at| words(lines[*at]).is_some()).last().unwrap_or(around);
    let said: Vec<String> = lines[first..=last].iter().filter_map(|line| words(line)).collect();
    let said = said.join(" ").trim().to_owned();
    (!said.is_empty()).then_some((said, first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_around_a_line_is_read_without_its_marks() {
        let python = language::of_path("a.py").unwrap();
        let text = "x = 1\n\n# Add a test\n#   for this.\ndef f(): ...\n#\n";
        let found = Some(("Add a test for this.".to_owned(), 2, 3));
        assert_eq!(comment(text, python, 2), found);
        assert_eq!(comment(text, python, 3), found);
        for line in [0, 1, 4, 5, 9] {
            assert_eq!(comment(text, python, line), None, "{line}");
        }
        let rust = language::of_path("a.rs").unwrap();
        assert_eq!(comment("    /// Sorts them.\n", rust, 0), Some(("Sorts them.".to_owned(), 0, 0)));
    }
}
