//! The marks that silence the checkers of all languages, and other signs in a text without a grammar.

use std::sync::LazyLock;

use regex::Regex;

use crate::policy::repair::{Things, note};

/// From the manuals of the checkers. A mark that makes a checker stricter does not count.
const MARKS: &str = concat!(
    // Python
    r"(?:ruff|flake8)\s*:\s*(?:noqa|ignore|disable)|noqa|type\s*:\s*ignore\b|(?:based)?pyright\s*:\s*(?:ignore|basic|standard|off)\b",
    r"|(?:based)?pyright\s*:[^#\n]*=\s*(?:false|none|information|warning)|mypy\s*:\s*(?:ignore|disable|allow|no)[\w-]*",
    r"|mypy\s*:[^#\n]*=\s*false|(?:ty|pyrefly|pyre|zuban)\s*:\s*ignore\b|pyre-(?:ignore|fixme|unsafe)[\w-]*",
    r"|pylint\s*:\s*(?:disable|skip)[\w-]*|pytype\s*:\s*(?:disable|skip)[\w-]*|nosec\b|pragma\s*:\s*no\s*\w+|lint\s*:\s*ignore",
    // JavaScript, TypeScript, CSS
    r"|eslint-disable[\w-]*|@ts-(?:ignore|nocheck|expect-error)|biome-ignore[\w-]*|oxlint-disable[\w-]*|tslint\s*:\s*disable[\w-]*",
    r"|deno-lint-ignore[\w-]*|stylelint-disable[\w-]*|\$Flow(?:FixMe|Ignore|Issue)|@noflow|(?:istanbul|v8|c8)\s+ignore",
    // Rust, Go, C, C++
    r"|#!?\[\s*(?:allow|expect)\s*\(|#!?\[\s*cfg_attr\([^)]*(?:allow|expect)\s*\(|//\s*nolint|//\s*lint:(?:ignore|file-ignore)|revive:disable",
    r"|NOLINT\w*|#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored|#\s*pragma\s+warning\s*\(?\s*disable|cppcheck-suppress|coverity\[",
    // Java, Kotlin, Scala, C#, Swift
    r"|@(?:file:)?Suppress(?:Warnings|Lint|FBWarnings)?\b|//\s*noinspection|NOPMD|NOSONAR|CHECKSTYLE\s*:\s*OFF|@nowarn|SuppressMessage\(",
    r"|#\s*nullable\s+disable|swiftlint:disable[\w:]*",
    // Ruby, PHP, Lua, shell, Elixir, Haskell, and the rest
    r"|rubocop\s*:\s*(?:disable|todo)|steep\s*:\s*ignore|@phpstan-ignore[\w-]*|@psalm-suppress|phpcs\s*:\s*(?:ignore|disable)\w*",
    r"|luacheck\s*:\s*(?:ignore|no|globals)|@diagnostic\s+disable[\w-]*|selene\s*:\s*allow|shellcheck\s+disable|credo\s*:\s*disable[\w-]*",
    r"|OPTIONS_GHC\s+-(?:Wno|w)[\w-]*|HLINT\s+ignore|hadolint\s+ignore|yamllint\s+disable[\w-]*|markdownlint-disable[\w-]*",
    r"|(?:tflint|tfsec|checkov|semgrep|nosemgrep|trivy)[-:]?(?:ignore|skip|nosemgrep)|sqlfluff\s*:\s*disable|codespell\s*:\s*ignore",
);

static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("(?i)(?:{MARKS})")).ok());

/// Code that makes tests skip, and errors that are caught and dropped.
static SKIPPED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:it|test|describe|suite|context)\.(?:skip|todo|failing)\b|\bx(?:it|test|describe|context)\s*\(",
        r"|#\[\s*ignore\b|\bt\.Skip\w*\(|@(?:Disabled|Ignore)\b|GTEST_SKIP|DISABLED_\w+|\bXCTSkip\b",
    ))
    .ok()
});
static SWALLOWED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}").ok());
static ANY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bas\s+(?:any|never)\b|:\s*any\b|<any>|\bas\s+unknown\s+as\b").ok());
static CHECK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:debug_)?assert\w*\s*[!(]|\bexpect\s*\(|\bpanic!?\s*\(|\bthrow\s|\brequire(?:NotNull)?\s*\(|\bt\.(?:Error|Fatal)\w*\(").ok()
});

/// Languages in which these have the searched form.
const CODE: &[&str] = &[
    "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "rs", "go", "c", "cc", "cpp", "cxx", "h",
    "hpp", "java", "kt", "kts", "scala", "cs", "swift", "php", "dart", "zig",
];

/// The suppressions in a comment: each mark with its target, `*` for everything.
pub(super) fn suppressions(things: &mut Things, comment: &str) {
    let Some(mark) = MARK.as_ref() else { return };
    let found: Vec<_> = mark.find_iter(comment).collect();
    for (at, one) in found.iter().enumerate() {
        let end = found.get(at + 1).map_or(comment.len(), |next| next.start());
        let name: String = one.as_str().to_lowercase().split_whitespace().collect();
        let name = name.replace(':', "-").trim_end_matches(['(', '[']).to_owned();
        let codes = codes(&comment[one.end()..end]);
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
    for line in text.lines() {
        suppressions(&mut things, line);
    }
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
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
    if ["ts", "tsx", "mts", "cts", "vue", "svelte"].contains(&ending) {
        count("any_annotation", &ANY);
    }
    things
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_valid() {
        for pattern in [&MARK, &SKIPPED, &SWALLOWED, &ANY, &CHECK] {
            assert!(pattern.is_some());
        }
    }
}
