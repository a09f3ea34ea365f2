//! Writes, stores and selects preferences, and chooses those that fit a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::memory;
use crate::state::agent_config::Config;
use crate::state::memory_handle::Remember;
use crate::state::notes::short;
use crate::state::task_store::TaskStore;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_store::memory::entry::Entry;
use sextant_store::memory::memory_error::MemoryError;
use sextant_store::memory::preferences::Preference;

/// Characters of a preference: it goes into every prompt.
pub(crate) const LONGEST: usize = 200;
/// Entries that an answer lists.
pub(crate) const SHOWN: usize = 10;
/// Learnings that an answer lists.
pub(crate) const LEARNINGS: usize = 15;
/// Characters of the name that is made from a preference's own words.
const NAME: usize = 48;

/// The opening of a wish to keep, to forget or to hear something (English, Spanish).
const OPENINGS: &[&str] = &[
    "please",
    "por favor",
    "remember that",
    "remember to",
    "remember",
    "recuerda que",
    "recuerda",
    "forget that",
    "forget about",
    "forget everything about",
    "forget",
    "olvida todo sobre",
    "olvida lo de",
    "olvida que",
    "olvida",
    "what do you know about",
    "what do you remember about",
    "qué sabes de",
    "qué sabes sobre",
    "qué recuerdas de",
    "about",
    "sobre",
];

/// The words before the name of a preference.
const WISHES: &[&str] = &["i prefer", "i like", "i want", "prefiero", "quiero", "my"];

/// Letters of a word that shows the subject of a preference.
const TELLING: usize = 4;

/// The wish without its opening, its quotes and its last point.
pub(crate) fn bare(text: &str) -> String {
    let mut text = text.trim();
    loop {
        let opening = OPENINGS.iter().find_map(|opening| {
            let head = text.get(..opening.len())?;
            let rest = &text[opening.len()..];
            let whole = rest.is_empty() || rest.starts_with([' ', ',', ':']);
            (head.to_lowercase() == *opening && whole).then_some(rest)
        });
        let Some(rest) = opening else { break };
        text = rest.trim_start_matches([' ', ',', ':']);
    }
    let ends = ['"', '\'', '“', '”', '«', '»', '.', '!', '?', '¿', ' '];
    text.trim_matches(ends).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `style: short` has a name; any other wish is named after its words.
pub(crate) fn named(text: &str) -> (String, String) {
    let pair = text.split_once([':', '=']).map(|(key, value)| (key.trim(), value.trim()));
    match pair {
        Some((key, value)) if !value.is_empty() && key.split_whitespace().count() <= 4 => {
            let key = key.to_lowercase();
            let rest = WISHES.iter().find_map(|wish| key.strip_prefix(wish)).map(str::trim_start);
            match rest.unwrap_or(&key) {
                "" => (own_name(text), text.to_owned()),
                key => (key.to_owned(), value.to_owned()),
            }
        }
        _ => (own_name(text), text.to_owned()),
    }
}

pub(crate) fn own_name(text: &str) -> String {
    let letters = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let name: String = text.to_lowercase().chars().map(letters).collect();
    name.split_whitespace().collect::<Vec<_>>().join("-").chars().take(NAME).collect()
}

pub(crate) fn shown(key: &str, value: &str) -> String {
    if own_name(value) == key { value.to_owned() } else { format!("{key}: {value}") }
}

pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The user's configuration, and behind it the preferences stated for this project, the newest first; a line each. A
/// stated preference replaces a configured one of the same name.
pub(crate) fn merged(configured: &[(String, String)], stated: &[Preference]) -> Vec<String> {
    let mut newest: Vec<&Preference> = stated.iter().collect();
    newest.sort_by_key(|one| std::cmp::Reverse(one.updated));
    let replaced = |key: &String| stated.iter().any(|one| one.key == *key);
    let first = configured.iter().filter(|(key, _)| !replaced(key)).map(|(key, value)| shown(key, value));
    first.chain(newest.into_iter().map(|one| shown(&one.key, &text_of(&one.value)))).collect()
}

/// Like [`merged`], for a prompt: preferences with a word in common with the request come first, whatever their age.
pub(crate) fn for_request(configured: &[(String, String)], stated: &[Preference], request: &str) -> Vec<String> {
    let telling = |text: &str| -> BTreeSet<String> {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= TELLING);
        words.map(|word| word.trim_end_matches('s').to_owned()).collect()
    };
    let wanted = telling(request);
    let mut all = merged(configured, stated);
    all.sort_by_key(|line| std::cmp::Reverse(telling(line).intersection(&wanted).count()));
    all
}

pub(crate) fn failure(error: &MemoryError) -> Failure {
    Failure::new(FailureKind::Internal, error.to_string(), Hint::from("try again").and(HintCode::Memory))
}

pub(crate) fn line_of(entry: &Entry) -> String {
    format!("- [{}] {}", entry.entry.kind.name(), short(&entry.entry.content, 160))
}

/// The preferences of the user's configuration, as text.
pub(crate) fn configured_preferences(config: &Config) -> Vec<(String, String)> {
    config.preferences.iter().map(|(key, value)| (key.clone(), short(value, LONGEST))).collect()
}

/// The user's preferences here, by name: for references of a plan.
pub(crate) async fn preferences(store: &TaskStore) -> BTreeMap<String, Value> {
    let mut all: BTreeMap<String, Value> =
        store.config.preferences.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    if let Some(remember) = memory::remember(store).await {
        let project = remember.project;
        let stored = remember.run(move |memory| memory.preferences(Some(project))).await.unwrap_or_default();
        all.extend(stored.into_iter().map(|one| (one.key, one.value)));
    }
    all
}

pub(crate) async fn needs_memory(store: &TaskStore) -> Result<Arc<Remember>, Failure> {
    memory::remember(store).await.ok_or_else(|| {
        Failure::user("there is no memory here", "it is turned off (memory.enabled), or its file cannot be made")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_read_without_its_opening() {
        for (text, wanted) in [
            ("remember that I prefer short answers.", "I prefer short answers"),
            ("Recuerda que prefiero respuestas cortas", "prefiero respuestas cortas"),
            ("forget everything about “b.py”", "b.py"),
            ("please, remember: style = short", "style = short"),
            ("Olvida lo de Cart", "Cart"),
            ("I prefer tabs", "I prefer tabs"),
            ("forgetful code", "forgetful code"),
            ("forget", ""),
        ] {
            assert_eq!(bare(text), wanted);
        }
    }

    #[test]
    fn a_preference_has_a_name_of_its_own_or_its_words() {
        assert_eq!(named("Style: short"), ("style".into(), "short".into()));
        assert_eq!(named("I prefer detail: brief"), ("detail".into(), "brief".into()));
        assert_eq!(named("prefiero: tabs").1, "prefiero: tabs");
        let (key, value) = named("I prefer f-strings");
        assert_eq!((key.as_str(), shown(&key, &value).as_str()), ("i-prefer-f-strings", "I prefer f-strings"));
        assert_eq!(shown("style", "short"), "style: short");
    }

    #[test]
    fn what_was_said_here_outweighs_the_configuration_and_the_newest_comes_first() {
        let stated = |key: &str, updated| Preference {
            key: key.into(),
            value: json!("long"),
            project: None,
            inferred: false,
            updated,
        };
        let configured = [("style".to_owned(), "short".to_owned()), ("tests".to_owned(), "pytest".to_owned())];
        let all = [stated("apples", 1), stated("style", 2), stated("zebras", 3)];
        assert_eq!(merged(&configured, &all), ["tests: pytest", "zebras: long", "style: long", "apples: long"]);
        let asked = for_request(&configured, &all, "Count the apples, with a test");
        assert_eq!(asked, ["tests: pytest", "apples: long", "zebras: long", "style: long"]);
    }
}
