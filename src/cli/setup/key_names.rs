//! Decides if Helix reads a word of its configuration as a key.

/// The keys that Helix knows by a word.
const NAMES: &str = "backspace ret left right up down home end pageup pagedown tab del ins null esc space minus lt gt \
                     capslock scrolllock numlock printscreen pause menu keypadbegin play pausemedia playpause reverse \
                     stop fastforward rewind tracknext trackprevious record lowervolume raisevolume mutevolume \
                     leftshift leftcontrol leftalt leftsuper lefthyper leftmeta rightshift rightcontrol rightalt \
                     rightsuper righthyper rightmeta isolevel3shift isolevel5shift";

/// Each with its other names.
const MODIFIERS: &[&[&str]] = &[&["S"], &["A"], &["C"], &["Meta", "Cmd", "Win"]];

/// The highest function key.
const FUNCTIONS: u8 = 24;

/// Keys with spaces between, as Helix names them.
///
/// # Errors
/// Helix refuses its whole configuration for one of them.
pub(super) fn sequence(given: &str) -> Result<String, String> {
    const FORM: &str = "keys as Helix names them, for example \"space B\" or \"C-a\"";
    let parts: Vec<&str> = given.split_whitespace().collect();
    match parts.iter().find(|part| !is_key(part)) {
        Some(part) => Err(format!("{part} is no key of Helix; {FORM}")),
        None if parts.is_empty() => Err(FORM.to_owned()),
        None => Ok(parts.join(" ")),
    }
}

/// True for a key with its modifiers: `x`, `ret`, `C-x`, `A-F1`.
pub(in crate::cli) fn is_key(word: &str) -> bool {
    if word == "-" {
        return true;
    }
    let mut modifiers: Vec<&str> = word.split('-').collect();
    let Some(code) = modifiers.pop() else { return false };
    let places: Vec<Option<usize>> =
        modifiers.iter().map(|name| MODIFIERS.iter().position(|names| names.contains(name))).collect();
    let is_once = |at: usize| places[at].is_some() && !places[..at].contains(&places[at]);
    is_code(code) && (0..places.len()).all(is_once)
}

fn is_code(code: &str) -> bool {
    let function = || code.strip_prefix('F')?.parse::<u8>().ok();
    code.chars().count() == 1
        || NAMES.split_whitespace().any(|name| name == code)
        || function().is_some_and(|number| (1..=FUNCTIONS).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_helix_reads_as_one() {
        for keys in ["x", "space B", "ret", "C-x", "A-S-F12", "C-minus", "-", "ä", "Meta-k", "g  F24", "\""] {
            assert!(sequence(keys).is_ok(), "{keys}");
        }
        assert_eq!(sequence(" space   B ").as_deref(), Ok("space B"));
        for keys in ["", " ", "spac B", "Space B", "space ab", "F0", "F25", "C-", "C--", "X-a", "C-C-a", "Meta-Win-a"] {
            assert!(sequence(keys).is_err_and(|said| said.contains("keys as Helix names them")), "{keys}");
        }
        assert!(sequence("spac B").is_err_and(|said| said.starts_with("spac is no key of Helix")));
    }
}
