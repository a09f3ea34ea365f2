//! Finds text in files by a regular expression, with answers that stay small.

use regex::RegexBuilder;

use crate::workspace::root::Root;
use crate::workspace::workspace_files;
use sextant_base::failure::{Failure, FailureKind};

/// One line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// Path relative to the root.
    pub path: String,
    /// One-based.
    pub line: usize,
    /// Byte offset of the match in the file, for finding the symbol around it.
    pub offset: usize,
    /// The line without its indentation; a long one is cut around the match.
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    pub hits: Vec<SearchHit>,
    /// True if there were more matches than the limit.
    pub more: bool,
    /// Files that are larger than what is read, in their order.
    pub too_large: Vec<String>,
    /// Other skipped files: unreadable, or not UTF-8 text.
    pub skipped: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern has {0} KB, and patterns of up to 16 KB are searched for")]
    TooLong(usize),
    #[error("the pattern is not a regular expression: {0}")]
    BadPattern(String),
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        let hint = match &error {
            SearchError::Empty => "give a regular expression",
            SearchError::TooLong(_) => "search for a part of it",
            SearchError::BadPattern(_) => r"put \ before ( ) [ ] { } . * + ? ^ $ | to find the character itself",
        };
        Self::new(FailureKind::User, error.to_string(), hint)
    }
}

/// Bytes of the longest pattern: compiling one takes a hundred times its size.
const LONGEST: usize = 16 << 10;
/// Characters of a line that are shown.
const SHOWN: usize = 200;
/// Bytes of the largest file that is read among others: sources are smaller, data is not searched.
pub const LARGEST: u64 = 2 << 20;

/// The size of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Lines that are found.
    pub lines: usize,
    /// Bytes of the largest file that is read.
    pub largest: u64,
}

/// Searches the given files (relative paths, in their order) line by line.
pub fn search(root: &Root, files: &[String], pattern: &str, limits: SearchLimits) -> Result<Hits, SearchError> {
    if pattern.is_empty() {
        return Err(SearchError::Empty);
    }
    if pattern.len() > LONGEST {
        return Err(SearchError::TooLong(pattern.len() >> 10));
    }
    let regex = RegexBuilder::new(pattern).multi_line(true).crlf(true).build().map_err(|error| {
        // The full text draws the pattern over several lines; its last line names the error.
        let text = error.to_string();
        SearchError::BadPattern(text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
    })?;
    let mut out = Hits::default();
    for path in files {
        let Some(text) = read(root, path, limits.largest) else {
            if workspace_files::size(root, path) > limits.largest {
                out.too_large.push(path.clone());
            } else {
                out.skipped += 1;
            }
            continue;
        };
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let bare = line.trim_end_matches(['\n', '\r']);
            if let Some(found) = regex.find(bare) {
                if out.hits.len() == limits.lines {
                    out.more = true;
                    return Ok(out);
                }
                let text = shown(bare, found.start());
                out.hits.push(SearchHit { path: path.clone(), line: number + 1, offset: start + found.start(), text });
            }
            start += line.len();
        }
    }
    Ok(out)
}

/// The text of a file without the secrets in it; `None` if it is too large, binary or gone.
fn read(root: &Root, path: &str, largest: u64) -> Option<String> {
    workspace_files::text_up_to(root, path, largest).filter(|text| !text.contains('\0'))
}

/// The part of a line that shows the match.
fn shown(line: &str, at: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    let line = line.get(indent..).unwrap_or(line).trim_end();
    if line.chars().count() <= SHOWN {
        return line.to_owned();
    }
    let before = line.get(..at.saturating_sub(indent)).map_or(0, |before| before.chars().count());
    let from = before.saturating_sub(SHOWN / 4);
    let part: String = line.chars().skip(from).take(SHOWN).collect();
    let (head, tail) = (if from > 0 { "…" } else { "" }, if line.ends_with(&part) { "" } else { "…" });
    format!("{head}{part}{tail}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn up_to(lines: usize) -> SearchLimits {
        SearchLimits { lines, largest: LARGEST }
    }

    fn workspace(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Root, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            fs::write(dir.path().join(path), bytes).unwrap();
        }
        let root = Root::new(dir.path()).unwrap();
        (dir, root, files.iter().map(|(path, _)| (*path).to_owned()).collect())
    }

    #[test]
    fn lines_are_found_with_their_places() {
        let (_dir, root, files) = workspace(&[("a.py", b"import os\r\n  total = 1\n"), ("b.py", b"x\ntotal()\n")]);
        let found = search(&root, &files, r"^\s*total\b", up_to(10)).unwrap();
        let lines: Vec<_> = found.hits.iter().map(|hit| (hit.path.as_str(), hit.line, hit.text.as_str())).collect();
        assert_eq!(lines, vec![("a.py", 2, "total = 1"), ("b.py", 2, "total()")]);
        assert_eq!(found.hits[1].offset, 2);
        assert_eq!(
            search(&root, &files, "os$", up_to(10)).unwrap().hits.len(),
            1,
            "a carriage return is part of the line end"
        );
        let one = search(&root, &files, "total", up_to(1)).unwrap();
        assert_eq!((one.hits.len(), one.more), (1, true));
    }

    #[test]
    fn what_is_no_text_is_counted_and_not_shown() {
        let (_dir, root, mut files) = workspace(&[("a", b"total\0"), ("b", b"\xff total"), ("c", b"total")]);
        files.push("gone".into());
        let found = search(&root, &files, "total", up_to(10)).unwrap();
        assert_eq!((found.hits.len(), found.skipped), (1, 3));
    }

    #[test]
    fn a_file_that_is_too_large_is_named() {
        let (_dir, root, files) = workspace(&[("a", b"total and more\n"), ("b", b"total\n"), ("c", b"\xff more\n")]);
        let found = search(&root, &files, "total", SearchLimits { lines: 10, largest: 6 }).unwrap();
        assert_eq!((found.hits.len(), found.too_large, found.skipped), (1, vec!["a".to_owned(), "c".to_owned()], 0));
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let long = format!("{}total{}", "ü".repeat(500), "b".repeat(500));
        let (_dir, root, files) = workspace(&[("a", long.as_bytes())]);
        let hit = &search(&root, &files, "total", up_to(10)).unwrap().hits[0];
        assert!(hit.text.contains("total") && hit.text.chars().count() <= SHOWN + 2, "{}", hit.text);
    }

    #[test]
    fn a_bad_pattern_says_what_is_wrong() {
        let (_dir, root, files) = workspace(&[("a", b"")]);
        let error = search(&root, &files, "total(", up_to(10)).unwrap_err();
        assert_eq!(error, SearchError::BadPattern("unclosed group".into()));
        assert_eq!(search(&root, &files, "", up_to(10)).unwrap_err(), SearchError::Empty);
        assert_eq!(search(&root, &files, &"x".repeat(1 << 20), up_to(10)).unwrap_err(), SearchError::TooLong(1024));
    }
}
