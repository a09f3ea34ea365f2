//! Finds a name in a text as a whole word.

/// True if a text contains this name with no letter, digit or underscore beside it.
pub fn holds_word(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, found)| !text[..at].ends_with(word) && !text[at + found.len()..].starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_longer_word_is_not_the_word() {
        assert!(holds_word("a.total()", "total") && holds_word("total", "total") && holds_word("x(#total)", "#total"));
        assert!(!holds_word("subtotal totals _total größetotal", "total") && !holds_word("", "total"));
    }
}
