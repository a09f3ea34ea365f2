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

/// The first line that stands for code left out and is not in the old text.
pub(crate) fn elided(new: &str, old: &str) -> Option<String> {
    let had = |line: &str| old.lines().any(|known| known.trim() == line);
    new.lines().map(str::trim).find(|line| stands_for_more(line) && !had(line)).map(str::to_owned)
}

fn stands_for_more(line: &str) -> bool {
    if matches!(line, "..." | "…") {
        return true;
    }
    let comment = ["#", "//", "--", "/*"].iter().find_map(|mark| line.strip_prefix(mark));
    let Some(comment) = comment.map(|text| text.trim_matches(['#', '/', '*', '-', ' ']).to_lowercase()) else {
        return false;
    };
    let dots = comment.starts_with("...") || comment.starts_with('…');
    dots || PHRASES.iter().any(|phrase| comment.starts_with(phrase) || comment.contains(&format!("the {phrase}")))
        || comment.ends_with("...") && PHRASES.iter().any(|phrase| comment.contains(phrase))
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
        ] {
            assert!(elided(&format!("def f():\n    {line}\n"), "").is_some(), "{line}");
        }
        for line in
            ["return [...]", "# adds the rest to the sum", "x = 1  # as before", "class E(Exception): ...", "--count;"]
        {
            assert_eq!(elided(&format!("def f():\n    {line}\n"), ""), None, "{line}");
        }
        assert_eq!(elided("def f():\n    ...\n", "def f():\n        ...\n"), None);
    }
}
