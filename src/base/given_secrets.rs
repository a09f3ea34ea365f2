//! Hides the secrets that a user has written, in the words themselves and in every text that repeats them.
//!
//! A model gets the user's words; a record that lives for months has no secret of them. A password has no shape, so it
//! is known by the word before it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::secrets::{MASK, mask};

/// A password as people write one: the word, a sign or a verb, and the value.
static GIVEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<before>\b(?P<word>password|passwort|passwd|passphrase|contraseña|secret|token|api[_ -]?key)",
        r#"\s*(?:=|:|\bis\b|\bist\b|\bes\b)\s*["'`]?)(?P<value>[^\s"'`,;=\[(][^\s"'`,;]{3,})"#,
    ))
    .ok()
});

/// Characters of the shortest value that is hidden outside of the user's words too.
const DISTINCT: usize = 6;

/// The secrets that a user has written: each stretch of text, and its form in a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenSecrets(Vec<(String, String)>);

impl GivenSecrets {
    /// The secrets in the user's words.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self::beside(words, [])
    }

    /// The secrets in the user's words, and the passwords in other texts that are no word of a language.
    pub fn beside<'a>(words: impl IntoIterator<Item = &'a str>, others: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found: Vec<(String, String)> = Vec::new();
        for captures in others.into_iter().flat_map(|text| GIVEN.iter().flat_map(|given| given.captures_iter(text))) {
            let value = value_of(&captures).filter(|value| is_password(&captures) && is_distinct(value));
            found.extend(value.map(|value| (value.to_owned(), MASK.to_owned())));
        }
        for captures in words.into_iter().flat_map(|text| GIVEN.iter().flat_map(|given| given.captures_iter(text))) {
            let Some(value) = value_of(&captures) else { continue };
            // One word of letters may be any word elsewhere: it goes with the words before it.
            let before = if is_distinct(value) { "" } else { &captures["before"] };
            found.push((format!("{before}{value}"), format!("{before}{MASK}")));
        }
        // The longest first: one may hold another.
        found.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        found.dedup();
        Self(found)
    }

    /// A text without tokens and without these secrets.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut hidden = mask(text);
        for (secret, without) in &self.0 {
            if hidden.contains(secret.as_str()) {
                hidden = Cow::Owned(hidden.replace(secret.as_str(), without));
            }
        }
        hidden
    }

    /// Hides them in every text of a value; the names of its fields stay.
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.hide(text) {
                    *text = hidden;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.hide_in(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The user's words without tokens and passwords.
pub fn hide_given(words: &str) -> String {
    let hidden = mask(words);
    let Some(given) = GIVEN.as_ref() else { return hidden.into_owned() };
    let without = given.replace_all(&hidden, |found: &Captures| match value_of(found) {
        Some(value) => {
            let (before, whole) = (&found["before"], &found["value"]);
            format!("{before}{}", whole.replacen(value, MASK, 1))
        }
        None => found[0].to_owned(),
    });
    without.into_owned()
}

/// The value, without the sentence's own signs behind it. Code that only speaks of a secret has none.
fn value_of<'a>(found: &Captures<'a>) -> Option<&'a str> {
    let value = found.name("value")?.as_str().trim_end_matches(['.', ',', ':', '!', '?', ')']);
    // A token or a key that is one word of letters is prose or a name.
    let is_code = value.contains(['(', '[', '{']) || value.starts_with(['$', '<', '%', '*', '[']) || is_name(value);
    (value.len() >= 4 && !is_code && (is_password(found) || is_distinct(value))).then_some(value)
}

/// Only a password has no shape at all.
fn is_password(found: &Captures<'_>) -> bool {
    found.name("word").is_some_and(|word| word.as_str().to_lowercase().starts_with(['p', 'c']))
}

/// Words that a sentence about a password or code has in the place of one.
fn is_name(value: &str) -> bool {
    const NAMES: &[&str] = &[
        "none",
        "null",
        "true",
        "false",
        "undefined",
        "empty",
        "wrong",
        "invalid",
        "required",
        "missing",
        "optional",
        "checked",
        "stored",
        "hashed",
        "never",
        "always",
        "correct",
        "expired",
        "valid",
        "given",
        "string",
        "falsch",
        "secret",
    ];
    NAMES.contains(&value.to_lowercase().as_str())
}

/// Recognizes the value of a secret wherever it stands: letters and digits, not one word of prose or code.
fn is_distinct(value: &str) -> bool {
    value.len() >= DISTINCT && value.contains(|c: char| c.is_ascii_digit()) && value.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_leave_the_user_s_words_and_what_only_speaks_of_them_stays() {
        for (words, without) in [
            ("password: hunter2Super, use it in f", "password: [secret removed], use it in f"),
            ("the password is swordfish.", "the password is [secret removed]."),
            ("la contraseña es 'abretesesamo'", "la contraseña es '[secret removed]'"),
            ("api key = k3y12345 in f", "api key = [secret removed] in f"),
            ("check token == None and password is None", "check token == None and password is None"),
            ("the token is expired", "the token is expired"),
            ("set password = os.environ['X']", "set password = os.environ['X']"),
        ] {
            assert_eq!(hide_given(words), without);
        }
    }

    #[test]
    fn a_given_secret_is_hidden_in_every_text_that_repeats_it() {
        let given = GivenSecrets::of(["password: hunter2Super, use it", "password is swordfish"]);
        let mut value =
            serde_json::json!({"said": ["I wrote \"hunter2Super\"", "password is swordfish"], "swordfish": 2});
        given.hide_in(&mut value);
        let hidden = serde_json::json!({"said": ["I wrote \"[secret removed]\"", "password is [secret removed]"], "swordfish": 2});
        assert_eq!(value, hidden);
    }
}
