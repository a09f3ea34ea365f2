//! The shell scripts whose diagnostics depend on other files: those that source one.

/// True if a script may source another file. Recognizes more than the shell does: a string, or a comment for shellcheck.
pub(super) fn sources_others(text: &str) -> bool {
    let is_dot = |word: &str| word.strip_suffix('.').is_some_and(|rest| !rest.ends_with(char::is_alphanumeric));
    text.split_whitespace().any(|word| word.contains("source") || is_dot(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_commands_are_found_wherever_they_stand() {
        for text in [". ./lib.sh\n", "f() { source lib.sh; }\n", "x=$(. lib.sh)\n", "true &&. lib.sh", "\\. lib.sh"] {
            assert!(sources_others(text), "{text}");
        }
        assert!(sources_others("# shellcheck source=lib.sh\n"));
        assert!(!sources_others("# The end.\n./run.sh\necho a.b ...c\n"));
    }
}
