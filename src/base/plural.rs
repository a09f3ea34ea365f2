//! The English words for a number of things: `1 file`, `2 files`.

/// Nouns whose plural takes more than an `s`.
fn plural(noun: &str) -> String {
    let before = |count: usize| noun.chars().rev().nth(count - 1);
    let ends = |ending: &str| noun.ends_with(ending);
    if ends("x") || ends("ch") || ends("sh") || ends("ss") {
        format!("{noun}es")
    } else if ends("y") && before(2).is_some_and(|c| !"aeiou".contains(c)) {
        format!("{}ies", &noun[..noun.len() - 1])
    } else {
        format!("{noun}s")
    }
}

/// A number with the thing it counts, whose last word is the noun: `counted(2, "new diagnostic")`.
pub fn counted(count: impl TryInto<u64>, what: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {what}"),
        count => format!("{count} {}", plural(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_of_it_has_no_ending() {
        let shown: Vec<String> = [(0, "file"), (1, "file"), (2, "offered fix"), (3, "entry"), (2, "key"), (1, "match")]
            .into_iter()
            .map(|(count, what): (usize, &str)| counted(count, what))
            .collect();
        assert_eq!(shown, ["0 files", "1 file", "2 offered fixes", "3 entries", "2 keys", "1 match"]);
    }
}
