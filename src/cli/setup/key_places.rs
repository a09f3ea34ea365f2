//! Finds the owner of the keys behind a prefix in each mode, and a prefix that nobody has.

use toml_edit::DocumentMut;

use crate::cli::setup::helix_config;
use crate::cli::setup::taken_keys;

/// The modes with keys of the agent.
pub(super) const MODES: [&str; 2] = ["normal", "select"];

/// The owner of a prefix in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    Free,
    Agents,
    Users,
    /// The keys of the mode are another kind of value.
    NoTable,
}

pub(super) fn path<'a>(mode: &'a str, prefix: &'a str) -> Vec<&'a str> {
    ["keys", mode].into_iter().chain(prefix.split_whitespace()).collect()
}

pub(super) fn owner(document: &DocumentMut, mode: &str, prefix: &str) -> KeyPlace {
    let mut item = document.as_item();
    for (depth, part) in path(mode, prefix).into_iter().enumerate() {
        if !item.is_table_like() {
            return if depth > 2 { KeyPlace::Users } else { KeyPlace::NoTable };
        }
        match item.get(part) {
            Some(next) => item = next,
            None => return KeyPlace::Free,
        }
    }
    if helix_config::is_ours(item) { KeyPlace::Agents } else { KeyPlace::Users }
}

/// The words of an option that puts the agent on keys without a meaning in Helix and in the user's file.
pub(in crate::cli) fn free_option(document: &DocumentMut) -> String {
    let letters = || ('B'..='Z').chain('a'..='z');
    let candidates =
        letters().map(|letter| format!("space {letter}")).chain((2..=12).map(|number| format!("F{number}")));
    let is_free = |prefix: &String| {
        let usable = |mode: &&str| matches!(owner(document, mode, prefix), KeyPlace::Free | KeyPlace::Agents);
        !taken_keys::is_of_helix(prefix) && MODES.iter().all(usable)
    };
    candidates.into_iter().find(is_free).map_or("--keys KEYS".to_owned(), |prefix| format!("--keys \"{prefix}\""))
}

/// The sentence about modes with keys of the user's; `None` without one.
pub(super) fn taken(document: &DocumentMut, prefix: &str) -> Option<String> {
    let of = |wanted: KeyPlace| -> Vec<&str> {
        MODES.into_iter().filter(|mode| owner(document, mode, prefix) == wanted).collect()
    };
    let (users, tables) = (of(KeyPlace::Users), of(KeyPlace::NoTable));
    let (stays, way) = match (&users[..], &tables[..]) {
        ([], []) => return None,
        ([], modes) => (format!("the keys of {} mode are no table and stay", modes.join(" and ")), None),
        (modes, _) => {
            let way = format!("; `{}` puts them elsewhere", free_option(document));
            (format!("{prefix} is yours in {} mode and stays", modes.join(" and ")), Some(way))
        }
    };
    let has = match &of(KeyPlace::Agents)[..] {
        [] => "the agent has no keys in any mode".to_owned(),
        modes => format!("the agent has its keys in {} mode alone", modes.join(" and ")),
    };
    Some(format!("{stays}; {has}{}", way.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(text: &str) -> String {
        free_option(&text.parse().unwrap())
    }

    #[test]
    fn the_offered_keys_are_free_in_both_modes() {
        assert_eq!(option(""), "--keys \"space B\"");
        assert_eq!(option("[keys.select.space]\nB = \":w\"\n"), "--keys \"space H\"", "C to G are Helix's own");
        let text = "[keys.normal.space]\nB = \":w\"\n[keys.select.space]\nC = \":w\"\nH = \":w\"\n";
        assert_eq!(option(text), "--keys \"space I\"");
        assert_eq!(option("[keys.normal]\nspace = \":w\"\nF2 = \":w\"\n"), "--keys \"F3\"");
        assert_eq!(option("keys = 3\n"), "--keys KEYS");
    }

    #[test]
    fn a_taken_mode_is_named_with_the_modes_that_have_the_keys() {
        let said = |text: &str| taken(&text.parse().unwrap(), "space A").unwrap_or_default();
        assert_eq!(said("[keys.normal.space]\nB = \":w\"\n"), "");
        let one = said("[keys.select.space]\nA = \":w\"\nB = \":w\"\n");
        assert_eq!(
            one,
            "space A is yours in select mode and stays; the agent has no keys in any mode; `--keys \"space H\"` puts them \
             elsewhere"
        );
        let half = said("[keys.select.space]\nA = \":w\"\n[keys.normal.space.A]\na = \":agent.ask\"\n");
        assert!(half.contains("the agent has its keys in normal mode alone; "), "{half}");
        let all = said("[keys.normal]\nspace = \":w\"\n[keys.select.space]\nA = \":w\"\n");
        assert!(all.starts_with("space A is yours in normal and select mode and stays; "), "{all}");
        assert_eq!(
            said("keys = 3"),
            "the keys of normal and select mode are no table and stay; the agent has no keys in any mode"
        );
    }
}
