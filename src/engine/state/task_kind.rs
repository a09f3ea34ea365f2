//! The kind of a task, the key under which learnings are found again.

use sextant_model::request_kind::{self, Ask};

/// Words of a kind of task.
pub(crate) const WORDS: usize = 4;

/// Words without meaning for the kind of work (English, Spanish, German).
pub(crate) const FILLERS: &str = "a an the this that these those in of on to for at from with please file function method class and \
    el la los las este esta esto un una de del en por favor archivo fichero función y \
    der die das dieser diese dieses ein eine im bitte datei funktion und";

/// `fix reportX` for a repair of reports, else the first significant words of the request.
pub(crate) fn kind(request: &str, codes: &[String]) -> String {
    if let (Ask::Repair, Some(code)) = (request_kind::classify(request), codes.first()) {
        return format!("fix {code}");
    }
    words(request)
}

/// The kind of a task with a plan.
pub(crate) fn plan_kind(request: &str) -> String {
    format!("plan {}", words(request))
}

pub(crate) fn words(request: &str) -> String {
    let telling = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        // Names of files and symbols belong to one task and not to its kind.
        let name = word.contains(['.', '/', ':', '_', '(']) || word.chars().skip(1).any(char::is_uppercase);
        let lower = word.to_lowercase();
        let plain = !name && !lower.is_empty() && !lower.chars().any(|c| c.is_ascii_digit());
        (plain && !FILLERS.split_whitespace().any(|filler| filler == lower)).then_some(lower)
    };
    let words: Vec<String> = request.split_whitespace().filter_map(telling).take(WORDS).collect();
    if words.is_empty() { "work".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_the_code_or_the_telling_words() {
        let codes = ["reportAttributeAccessIssue".to_owned()];
        assert_eq!(kind("fix the error in Cart::total", &codes), "fix reportAttributeAccessIssue");
        assert_eq!(kind("arregla esto", &codes), "fix reportAttributeAccessIssue");
        assert_eq!(kind("rename total to sum_all in shop/cart.py", &codes), "rename total");
        assert_eq!(kind("", &[]), "work");
        assert_eq!(plan_kind("make this file type-clean"), "plan make type-clean");
        assert_eq!(plan_kind("Haz que cart.py pase los tests, por favor"), "plan haz que pase tests");
    }
}
