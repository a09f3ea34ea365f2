//! Puts the new diagnostics beside the lines of a diff that they are about.

use std::fmt::Write;

use crate::editor::event::QuickfixEntry;
use sextant_text::edits::edited_diff::NOTE;

/// The diff with a note behind each line that has a new diagnostic, and the diagnostics of other lines.
pub(crate) fn noted(diff: &str, entries: &[QuickfixEntry]) -> (String, Vec<String>) {
    let mut out = String::with_capacity(diff.len());
    let (mut path, mut number) = ("", 0_u32);
    let mut placed = vec![false; entries.len()];
    for line in diff.lines() {
        out.push_str(line);
        out.push('\n');
        if let Some(file) = line.strip_prefix("+++ b/") {
            (path, number) = (file, 0);
        } else if let Some(first) = line.strip_prefix("@@ ").and_then(first_line) {
            number = first;
        } else if number > 0 && line.starts_with([' ', '+']) {
            for (index, entry) in entries.iter().enumerate() {
                if entry.path == path && entry.line == number && !placed[index] {
                    placed[index] = true;
                    // A text takes every write.
                    let _ = writeln!(out, "{NOTE}new {}: {}", word(&entry.kind), entry.text);
                }
            }
            number += 1;
        }
    }
    let others = entries.iter().zip(&placed).filter(|(_, placed)| !**placed);
    let line = |(entry, _): (&QuickfixEntry, &bool)| {
        format!("{}:{}: new {}: {}", entry.path, entry.line, word(&entry.kind), entry.text)
    };
    (out, others.map(line).collect())
}

fn first_line(head: &str) -> Option<u32> {
    head.split_whitespace().find_map(|word| word.strip_prefix('+'))?.split(',').next()?.parse().ok()
}

fn word(kind: &str) -> &'static str {
    match kind {
        "E" => "error",
        "W" => "warning",
        "I" => "information",
        _ => "hint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stands_behind_its_line_and_the_rest_is_elsewhere() {
        let entry = |path: &str, line| QuickfixEntry {
            path: path.into(),
            line,
            column: 1,
            kind: "E".into(),
            text: "f: wrong [code]".into(),
            sources: Vec::new(),
        };
        let diff = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n one\n-two\n+too\n+more\n";
        let (text, others) = noted(diff, &[entry("a.py", 2), entry("b.py", 2), entry("a.py", 9)]);
        assert_eq!(text, diff.replace("+too\n", "+too\n! new error: f: wrong [code]\n"));
        assert_eq!(others, ["b.py:2: new error: f: wrong [code]", "a.py:9: new error: f: wrong [code]"]);
    }
}
