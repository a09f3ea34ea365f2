//! Finds the lines of the workspace with a name, and names the parts that were not searched.

use std::collections::HashMap;
use std::sync::Arc;

use regex::Regex;

use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};

/// Most places and files that are named.
pub(super) const NAMED: usize = 8;

/// The lines with a name.
#[derive(Debug, Default)]
pub(super) struct NameOccurrences {
    /// Paths with one-based lines, sorted.
    pub(super) lines: Vec<(String, usize)>,
    /// The listed files that cannot be read: too large, or gone.
    unread: Vec<String>,
    /// Hidden and ignored files and folders, links and secrets.
    left_out: Vec<String>,
    /// True if there are more files than are searched.
    more: bool,
}

impl NameOccurrences {
    /// Searches the listed files, or those that `is_wanted` chooses. These texts go before the disk. Blocks.
    pub(super) fn of(
        root: &Root,
        texts: &HashMap<String, Arc<str>>,
        name: &str,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let word = Regex::new(&format!(r"\b{}\b", regex::escape(name))).ok()?;
        let listing = workspace_files::list(root, "", MOST_FILES);
        let left_out = workspace_files::left_out(root);
        let mut found = Self { left_out, more: listing.more, ..Self::default() };
        for path in listing.files.into_iter().filter(|path| is_wanted(path)) {
            let known = texts.get(&path).map(Arc::clone);
            // A name in another encoding is found as well.
            let Some(text) = known.or_else(|| workspace_files::lossy_text(root, &path).map(Arc::from)) else {
                found.unread.push(path);
                continue;
            };
            let lines = text.lines().enumerate().filter(|(_, line)| word.is_match(line));
            found.lines.extend(lines.map(|(number, _)| (path.clone(), number + 1)));
        }
        Some(found)
    }

    /// The parts of the workspace that were not searched, in words; `None` if all of it was.
    pub(super) fn not_searched(&self) -> Option<String> {
        let list = |files: &[String], why: &str| {
            let mut names: Vec<String> = files.iter().take(NAMED).map(|path| clean(path)).collect();
            let rest = files.len().saturating_sub(NAMED);
            names.extend((rest > 0).then(|| format!("{rest} more")));
            (!files.is_empty()).then(|| format!("{} ({why})", names.join(", ")))
        };
        let parts = [
            list(&self.left_out, "hidden, ignored or linked"),
            list(&self.unread, "too large or not readable"),
            self.more.then(|| format!("files behind the first {MOST_FILES}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The number of lines, and the first of them.
    pub(super) fn counted(&self) -> (String, String) {
        let first = self.lines.iter().take(NAMED).map(|(path, line)| format!("{}:{line}", clean(path)));
        let first = first.collect::<Vec<_>>().join(", ");
        let more = self.lines.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (counted(self.lines.len(), "line"), format!("{first}{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &[u8])]) -> NameOccurrences {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        NameOccurrences::of(&Root::new(dir.path()).unwrap(), &HashMap::new(), "f", |_| true).unwrap()
    }

    #[test]
    fn the_parts_that_were_not_searched_are_named() {
        let all = found(&[("a.py", b"f()\n\nf\n"), ("latin.py", b"# \xe9\nf\n"), (".git/config", b"f\n")]);
        let lines: Vec<(&str, usize)> = all.lines.iter().map(|(path, line)| (path.as_str(), *line)).collect();
        assert_eq!((lines.as_slice(), all.not_searched()), (&[("a.py", 1), ("a.py", 3), ("latin.py", 2)][..], None));
        let files: [(&str, &[u8]); 5] = [
            ("a.py", b"ff()\n"),
            (".gitignore", b"made/\n"),
            ("made/b.py", b"f\n"),
            (".github/c.py", b"f\n"),
            ("in/.env", b"f\n"),
        ];
        let some = found(&files);
        let words = ".github/, .gitignore, in/.env, made/ (hidden, ignored or linked)";
        assert_eq!((some.lines.len(), some.not_searched().as_deref()), (0, Some(words)));
    }
}
