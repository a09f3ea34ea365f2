//! The marks that silence the checkers of all languages, and other signs in a text without a grammar.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex};

use regex::Regex;

use crate::policy::silencing_edits::{Things, note};
use sextant_base::lock::lock;
use sextant_base::suppressions;
use sextant_text::symbols::language::{self, LANGUAGES, Language};

/// Code that makes tests skip, and errors that are caught and dropped.
static SKIPPED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:it|test|describe|suite|context)\.(?:skip|todo|failing)\b|\bx(?:it|test|describe|context)\s*\(",
        r"|#\[\s*ignore\b|\bt\.Skip\w*\(|@(?:Disabled|Ignore)\b|GTEST_SKIP|DISABLED_\w+|\bXCTSkip\b",
    ))
    .ok()
});
static SWALLOWED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}").ok());
static CHECK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:debug_|static_)?assert\w*\s*[!(]|\b(?:ensure|bail)!\s*\(|\breturn\s+Err\s*\(|\bexpect\s*\(|\bpanic!?\s*\(|\bthrow\s|\brequire(?:NotNull)?\s*\(|\bt\.(?:Error|Fatal)\w*\(").ok()
});

/// Languages in which these have the searched form.
const CODE: &[&str] = &[
    "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "rs", "go", "c", "cc", "cpp", "cxx", "h",
    "hpp", "java", "kt", "kts", "scala", "cs", "swift", "php", "dart", "zig",
];

/// The suppressions in a comment: each mark with its target, `*` for everything.
pub(super) fn suppressions(things: &mut Things, comment: &str) {
    let found = suppressions::marks(comment);
    for (at, one) in found.iter().enumerate() {
        let end = found.get(at + 1).map_or(comment.len(), |next| next.start);
        let name: String = comment[one.clone()].to_lowercase().split_whitespace().collect();
        let name = name.replace(':', "-").trim_end_matches(['(', '[']).to_owned();
        let codes = codes(&comment[one.end..end]);
        if codes.is_empty() {
            note(things, "suppression_comment", format!("{name}:*"));
        }
        for code in codes {
            note(things, "suppression_comment", format!("{name}:{code}"));
        }
    }
}

/// `: F401, E501 why` and `[a, b]` and `(a, b)]` give the names in the list.
fn codes(rest: &str) -> Vec<String> {
    let rest = rest.trim_start();
    let list = rest.trim_start_matches([':', '[', '(', '=', ' ']);
    let listed =
        rest.starts_with([':', '[', '(', '=']) || !rest.is_empty() && !rest.starts_with(['#', '-', '/', '*', ']', ')']);
    if !listed {
        return Vec::new();
    }
    let list = list.split([']', ')', '#', '\n']).next().unwrap_or_default();
    let codes = list.split(',').filter_map(|part| part.split_whitespace().next());
    let plain = codes.map(|code| code.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_')).to_lowercase());
    plain.filter(|code| !code.is_empty()).collect()
}

pub(super) fn things(path: &str, text: &str) -> Things {
    let mut things = Things::new();
    let language = language::of_path(path);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let row = language.or_else(|| LANGUAGES.iter().find(|row| row.embedded_in.contains(&ending)));
    let strings = language.filter(|_| suppressions::lines(text) > 0).map(|row| strings(row, text)).unwrap_or_default();
    for line in text.split_inclusive('\n') {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let is_said = |mark: &Range<usize>| strings.iter().any(|string| string.contains(&(start + mark.start)));
        if !suppressions::marks(line).iter().any(is_said) {
            suppressions(&mut things, line.trim_end());
        }
    }
    for (rule, pattern) in row.iter().flat_map(|row| row.cheats) {
        for found in compiled(pattern).iter().flat_map(|pattern| pattern.find_iter(text)) {
            note(&mut things, rule, found.as_str());
        }
    }
    if !CODE.contains(&ending) {
        return things;
    }
    let mut count = |rule: &'static str, pattern: &LazyLock<Option<Regex>>| {
        for found in pattern.as_ref().iter().flat_map(|pattern| pattern.find_iter(text)) {
            note(&mut things, rule, found.as_str());
        }
    };
    count("test_skipped", &SKIPPED);
    count("error_swallowed", &SWALLOWED);
    count("check_removed", &CHECK);
    things
}

/// The strings of a text. A mark in one silences nothing.
fn strings(language: &Language, text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let Some(tree) = language.tree(text) else { return out };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_string = language.strings.contains(&node.kind()) || language.exact_strings.contains(&node.kind());
        if is_string {
            out.push(node.byte_range());
        }
        if (!is_string && cursor.goto_first_child()) || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return out;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// A pattern of a row, compiled once.
fn compiled(pattern: &'static str) -> Option<Regex> {
    static KNOWN: LazyLock<Mutex<HashMap<&'static str, Option<Regex>>>> = LazyLock::new(Mutex::default);
    let mut known = lock(&KNOWN);
    known.entry(pattern).or_insert_with(|| Regex::new(pattern).ok()).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::silencing_edits::RULES;

    #[test]
    fn patterns_are_valid() {
        for pattern in [&SKIPPED, &SWALLOWED, &CHECK] {
            assert!(pattern.is_some());
        }
        for (rule, pattern) in LANGUAGES.iter().flat_map(|row| row.cheats) {
            assert!(compiled(pattern).is_some() && RULES.iter().any(|known| known.name == *rule), "{rule}: {pattern}");
        }
    }
}
