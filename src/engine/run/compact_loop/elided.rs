//! Detects a text that leaves out code that it was to give in full.

/// Wordings of comments that stand for code left out.
const PHRASES: &[&str] = &[
    "rest of",
    "existing code",
    "remaining code",
    "remains unchanged",
    "remains the same",
    "unchanged code",
    "same as before",
    "as before",
    "code omitted",
    "your code here",
    "implementation here",
    "resto del",
    "resto de la",
    "sin cambios",
    "código existente",
    "igual que antes",
];

/// Words of a comment that says nothing but that code was left out.
const VOCABULARY: &str = "rest of the your this all other code body method methods function functions class logic \
    implementation part parts unchanged unmodified untouched same as is it was were before above earlier keep kept \
    keeps leave leaves stay stays remain remains existing current present previous original remaining here goes snip \
    snipped omitted elided truncated for brevity no change changes changed needed everything else etc and with in";

/// One of these words is among them.
const KEYS: &str = "unchanged unmodified untouched omitted elided truncated snip snipped";

/// One of these words is among several.
const KEYS_OF_SEVERAL: &str = "rest same existing previous original remaining other stays remains";

/// The first line that stands for code left out and is not in the old text.
pub(crate) fn elided(new: &str, old: &str) -> Option<String> {
    let had = |line: &str| old.lines().any(|known| known.trim() == line);
    new.lines().map(str::trim).find(|line| stands_for_more(line) && !had(line)).map(str::to_owned)
}

fn stands_for_more(line: &str) -> bool {
    if matches!(line, "..." | "…") {
        return true;
    }
    // A statement that does nothing may stand before the comment.
    let line =
        ["pass ", "... ", "…", "{"].iter().find_map(|empty| line.strip_prefix(empty)).unwrap_or(line).trim_start();
    let comment = ["#", "//", "--", "/*", "<!--"].iter().find_map(|mark| line.strip_prefix(mark));
    let Some(comment) = comment.map(|text| text.trim_matches(is_mark).to_lowercase()) else {
        return false;
    };
    let dots = comment.starts_with("...") || comment.starts_with('…');
    dots || PHRASES.iter().any(|phrase| comment.starts_with(phrase) || comment.contains(&format!("the {phrase}")))
        || comment.ends_with("...") && PHRASES.iter().any(|phrase| comment.contains(phrase))
        || says_only_that(&comment)
}

/// The marks of comments, and brackets around all of one.
fn is_mark(c: char) -> bool {
    matches!(c, '#' | '/' | '!' | '*' | '-' | '>' | '}' | ' ' | '(' | ')' | '[' | ']' | '<')
}

fn says_only_that(comment: &str) -> bool {
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let words: Vec<&str> = comment.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |keys: &str| words.iter().any(|word| is_in(keys, word));
    words.iter().all(|word| is_in(VOCABULARY, word)) && (has(KEYS) || words.len() > 1 && has(KEYS_OF_SEVERAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_comments_that_stand_for_code_are_seen_and_those_of_the_old_text_are_not() {
        for line in [
            "...",
            "# ...",
            "    # ... rest of the method",
            "# The rest of the code stays",
            "# existing code",
            "-- ... rest of the code",
            "/* existing code */",
            "# rest unchanged",
            "# unchanged",
            "# (same as before)",
            "# same as above",
            "# [rest of the method]",
            "# keep the existing implementation",
            "# other code",
            "# previous code",
            "# snip",
            "# -- snip --",
            "# … unchanged …",
            "// Unchanged.",
            "/* other methods unchanged */",
            "-- no changes here: same as before",
            "<!-- unchanged -->",
            "{/* unchanged */}",
            "/// (rest of the body)",
            "pass  # unchanged",
        ] {
            assert!(elided(&format!("def f():\n    {line}\n"), "").is_some(), "{line}");
        }
        for line in [
            "# other names",
            "# unchanged rows are skipped",
            "# the same key as in the cache",
            "# previous page",
            "# rest",
            "# keep the existing order",
            "# leave early",
            "pass",
            "#",
            "# ---",
            "return [...]",
            "# adds the rest to the sum",
            "x = 1  # as before",
            "class E(Exception): ...",
            "--count;",
        ] {
            assert_eq!(elided(&format!("def f():\n    {line}\n"), ""), None, "{line}");
        }
        assert_eq!(elided("def f():\n    ...\n", "def f():\n        ...\n"), None);
        assert_eq!(elided("def f():\n    # unchanged\n", "def f():\n        # unchanged\n    pass\n"), None);
    }
}
