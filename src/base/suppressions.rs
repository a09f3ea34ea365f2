//! Suppressions of diagnostics: the comments that silence a checker, the words that name them, the titles of fixes that add
//! them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

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

/// Parts of words that name a suppression.
const NAMES: &[&str] = &[
    "noqa",
    "nolint",
    "nosec",
    "eslint-disable",
    "ts-ignore",
    "ts-expect-error",
    "type:",
    "pylint:",
    "pyright:",
    "mypy:",
    "ruff:",
    "suppression",
    "supresión",
    "suppresswarnings",
    "allow(",
    "pragma",
    "biome-ignore",
    "rubocop:",
];

/// Parts of a fix's title that only a suppression has.
const TITLES: &[&str] = &[
    "ignore",
    "noqa",
    "suppress",
    "nolint",
    "for this line",
    "for this file",
    "for entire file",
    "for the entire file",
    "on this line",
    "in this file",
    "current line diagnostic",
    // rustc and TypeScript, for a name that is not used.
    "with an underscore",
    "disable diagnostic",
    "disable rule",
];

/// The marks in a comment, in bytes of it.
pub fn marks(comment: &str) -> Vec<Range<usize>> {
    MARK.as_ref().map_or_else(Vec::new, |mark| mark.find_iter(comment).map(|found| found.range()).collect())
}

/// The lines of a text with a mark in them.
pub fn lines(text: &str) -> usize {
    MARK.as_ref().map_or(0, |mark| text.lines().filter(|line| mark.is_match(line)).count())
}

/// True if a word of a request names a suppression.
pub fn is_named(word: &str) -> bool {
    let word = word.to_lowercase();
    NAMES.iter().any(|part| word.contains(part))
}

/// True if a fix with this title only silences the message: it hides the cause instead of fixing it.
pub fn is_title(title: &str) -> bool {
    let title = title.to_lowercase();
    TITLES.iter().any(|part| title.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_each_language_is_found() {
        let marked = "x = 1  # noqa: F401\n// eslint-disable-next-line\n#[allow(dead_code)]\nx = 2\n# type: ignore\n";
        assert_eq!((lines(marked), lines("x = noqa_count\ny = 1\n")), (4, 1));
        assert_eq!(marks("# noqa: F401").len(), 1);
        assert!(is_named("noqa") && is_named("eslint-disable-line") && !is_named("total"));
        assert!(is_title("Ignore 'F401' for this line") && !is_title("Remove unused import"));
        for title in [
            "Disable diagnostics on this line (undefined-global).",
            "Disable no-unused-vars for the entire file",
            "Suppress rule lint/style/useConst",
            "Disable ShellCheck rule SC2086 for this line",
            "Add '@ts-ignore' to all error messages",
            "Disable current line diagnostic (unused)",
            "if this is intentional, prefix it with an underscore: `_extra`",
            "Prefix 'extra' with an underscore",
        ] {
            assert!(is_title(title), "{title}");
        }
    }
}
