//! Withholds the output of a command about secret files. The names in its own lines find them: parts of a diff, hits of
//! a search.

use std::collections::BTreeSet;
use std::sync::Mutex;

use sextant_base::lock::lock;
use sextant_store::workspace::secret_files::is_secret;

/// Openings of a file's part in a diff.
const HEADERS: &[&str] = &["diff --git ", "diff --cc ", "diff --combined ", "diff -"];
/// Programs whose lines begin with the name of their file.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "ugrep", "ack"];
/// Most bytes of a line that are searched for its file's name.
const NAME: usize = 400;

/// Looks at an output line by line, as it comes.
#[derive(Debug, Default)]
pub(crate) struct Withheld {
    searches: bool,
    /// True if a log draws a graph in front of its lines.
    graph: bool,
    seen: Mutex<WithheldCheck>,
}

#[derive(Debug, Default)]
struct WithheldCheck {
    /// True if the present part of a diff is withheld.
    within: bool,
    files: BTreeSet<String>,
}

impl Withheld {
    pub(crate) fn of(command: &[String]) -> Self {
        let searches = command.iter().take(3).any(|word| SEARCHERS.contains(&word.rsplit('/').next().unwrap_or(word)));
        let graph = command.iter().any(|word| word.starts_with("--gra"));
        Self { searches, graph, ..Self::default() }
    }

    /// True if a line may be kept.
    pub(crate) fn keeps(&self, line: &str) -> bool {
        let mut seen = lock(&self.seen);
        if self.searches
            && let Some(file) = found_in(line)
        {
            seen.files.insert(file);
            return false;
        }
        let (front, rest) = if self.graph { behind_graph(line) } else { ("", line) };
        if let Some(header) = HEADERS.iter().find_map(|header| rest.strip_prefix(header)) {
            let secret = named(header);
            seen.within = secret.is_some();
            seen.files.extend(secret);
        } else if seen.within {
            seen.within = !((front.is_empty() || front.contains('*')) && begins_commit(rest));
        } else if let Some(secret) = ["--- ", "+++ "].iter().find_map(|mark| named(rest.strip_prefix(mark)?)) {
            seen.within = true;
            seen.files.insert(secret);
        }
        !seen.within
    }

    /// The files with withheld lines.
    pub(crate) fn files(&self) -> Vec<String> {
        lock(&self.seen).files.iter().cloned().collect()
    }
}

/// A line without the graph that a log draws in front of it, which is blank beside the first commit.
fn behind_graph(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches([' ', '|', '/', '\\', '*', '_']);
    (&line[..line.len() - rest.len()], rest)
}

/// The secret file that a header names, with or without git's `a/` in front. A name may have spaces, and nothing marks
/// where the first of two names ends. So each beginning and each end of the header at a space counts as a name.
fn named(header: &str) -> Option<String> {
    let header = header.trim_end_matches(['\t', '\r']);
    let spaces: Vec<usize> = header.match_indices([' ', '\t']).map(|(at, _)| at).collect();
    let ends = spaces.iter().rev().map(|at| &header[at + 1..]);
    let names = ends.chain([header]).chain(spaces.iter().map(|at| &header[..*at]));
    let words = header.split_whitespace().rev();
    let secret = words.chain(names).map(unquoted).find(|name| is_secret(name))?;
    let own = secret.split_once('/').filter(|(side, rest)| side.len() == 1 && !rest.is_empty());
    Some(own.map_or(secret.as_str(), |(_, rest)| rest).to_owned())
}

/// A name as it is: git writes the bytes of an unusual one as `\303\241`, in quotes.
fn unquoted(name: &str) -> String {
    let Some(quoted) = name.strip_prefix('"') else { return name.to_owned() };
    let mut rest = quoted.strip_suffix('"').unwrap_or(quoted).bytes();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next() } else { None };
        bytes.push(match escaped {
            None => byte,
            Some(first @ b'0'..=b'7') => {
                let digits = [Some(first), rest.next(), rest.next()].into_iter().flatten();
                digits.fold(0, |sum: u8, digit| sum.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0')))
            }
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(other) => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn begins_commit(line: &str) -> bool {
    let hash = line.strip_prefix("commit ").and_then(|rest| rest.split_whitespace().next());
    hash.is_some_and(|hash| hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The secret file whose line this is: `.env:3:TOKEN`, `HEAD:.env:TOKEN`, and `.env-2-TOKEN` beside a hit.
fn found_in(line: &str) -> Option<String> {
    let ends = line.char_indices().take_while(|(at, _)| *at < NAME).filter(|(_, c)| ":-=\0".contains(*c));
    let names = ends.flat_map(|(at, _)| [line[..at].split_once(':').map(|(_, file)| file), Some(&line[..at])]);
    names.flatten().chain([line]).map(unquoted).find(|name| is_secret(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(command: &str, output: &str) -> (String, Vec<String>) {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let withheld = Withheld::of(&words);
        let lines: Vec<&str> = output.lines().filter(|line| withheld.keeps(line)).collect();
        (lines.join("\n"), withheld.files())
    }

    const OF_ENV: &str = "index 1..2 100644\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-TOKEN=old\n+TOKEN=new\n+diff --git a/x.py b/x.py\n+commit 0123456789\n";
    const OF_SECRET: &str = "@@ -1 +1 @@\n-TOKEN=old\n+TOKEN=new\n+diff --git a/x.py b/x.py\n+commit 0123456789\n";
    const OF_CODE: &str = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n";

    #[test]
    fn the_part_of_a_secret_file_is_left_out_of_every_form_of_a_diff() {
        for header in [
            "diff --git a/.env b/.env",
            "diff --git .env .env",
            "diff --git i/.env w/.env",
            "diff --git \"a/\\303\\241/.env\" \"b/\\303\\241/.env\"",
            "diff --cc .env",
            "diff --combined .env",
            "diff --git a/notes.txt b/.env",
            "diff -ru old/.env new/.env",
            "diff --git a/passwords list.txt b/passwords list.txt",
            "diff --git a/passwords (1).txt b/passwords (1).txt",
            "diff --git a/service account prod.json b/service account prod.json",
            "diff --git passwords list.txt passwords list.txt",
            "diff --git a/notes b.txt b/passwords list.txt",
            "diff --git a/passwords list.txt b/notes b.txt",
            "diff --git \"a/passwords f\\303\\274r alle.txt\" \"b/passwords f\\303\\274r alle.txt\"",
            "diff --git \"a/n\\303\\274.txt\" b/passwords list.txt",
            "diff --git a/passwords list.txt \"b/n\\303\\274.txt\"",
            "diff --cc passwords list.txt",
        ] {
            let output = format!("{OF_CODE}{header}\n{OF_SECRET}{OF_CODE}");
            let (text, files) = kept("git diff", &output);
            assert_eq!((text.contains("TOKEN"), text.matches("+x = 2").count(), files.len()), (false, 2, 1), "{text}");
        }
        let graph: String =
            format!("diff --git a/.env b/.env\n{OF_ENV}{OF_CODE}").lines().map(|l| format!("| {l}\n")).collect();
        let (text, files) = kept("git log -p --graph", &graph);
        assert!(!text.contains("TOKEN") && text.contains("+x = 2"), "{text}");
        assert_eq!(files, [".env"]);
        let first = graph.replace("| ", "  ");
        assert!(!kept("git log -p --graph", &first).0.contains("TOKEN"));
    }

    #[test]
    fn a_log_goes_on_with_the_next_commit() {
        let commit = "commit 0123456789abcdef0123456789abcdef01234567\nAuthor: A\n\n    say it\n\n";
        let (text, _) = kept("git log -p", &format!("{commit}diff --git a/.env b/.env\n{OF_ENV}{commit}{OF_CODE}"));
        assert!(!text.contains("TOKEN") && text.matches("say it").count() == 2 && text.contains("+x = 2"), "{text}");
    }

    #[test]
    fn the_lines_of_a_secret_file_are_left_out_of_a_search() {
        let lines = ".env:TOKEN=a\n.env:3:TOKEN=b\nHEAD:.env:TOKEN=c\nHEAD~1:sub/.env:4:TOKEN=d\n.env-5-TOKEN=e\n.env\nTOKEN.py:1:TOKEN=f";
        let (text, files) = kept("git grep -n TOKEN", lines);
        assert_eq!((text.as_str(), files), ("TOKEN.py:1:TOKEN=f", vec![".env".to_owned(), "sub/.env".to_owned()]));
        assert_eq!(kept("git status", "\tmodified:   .env").0, "\tmodified:   .env");
        assert_eq!(kept("git diff --stat", " .env | 2 +-\n a.py | 2 +-").1, Vec::<String>::new());
    }
}
