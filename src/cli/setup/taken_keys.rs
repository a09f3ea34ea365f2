//! Names the keys of Helix's own that a prefix of the user's choice takes.

/// Helix's keys of normal mode that begin others, with their names.
const MODES: &[(&str, &str)] = &[
    ("g", "goto mode"),
    ("m", "match mode"),
    ("z", "view mode"),
    ("Z", "sticky view mode"),
    ("space", "space mode"),
    ("C-w", "window mode"),
    ("[", "the previous thing of a kind"),
    ("]", "the next thing of a kind"),
    ("\"", "the choice of a register"),
];

/// Its other keys of normal mode, and its keys behind `space`.
const COMMANDS: &str = "h j k l w b e W B E t f T F r R ~ ` i I a A o O d c s S x X y p P q Q u U v : / ? n N * > < = J K C \
                        G & _ ( ) , ; % | ! $ C-a C-x C-b C-f C-u C-d C-c C-i C-o C-s C-z tab home end esc";
const IN_SPACE: &str = "f F e E b j s S d D g G h a r \' w c C y Y p P R / k ?";

/// A note on the keys of Helix's own that are behind a prefix from now on; `None` for keys without a meaning there.
/// `free` is the option that takes none.
pub(super) fn note(prefix: &str, free: &str) -> Option<String> {
    let what = meaning(prefix)?;
    Some(format!("{prefix} is {what} in Helix and is the agent's from now on; `{free}` takes nothing"))
}

/// True if Helix has a meaning for these keys.
pub(super) fn is_of_helix(prefix: &str) -> bool {
    meaning(prefix).is_some()
}

fn meaning(prefix: &str) -> Option<&'static str> {
    let (first, rest) = prefix.split_once(' ').map_or((prefix, None), |(first, rest)| (first, Some(rest)));
    let is_one = |keys: &str, key: &str| keys.split_whitespace().any(|known| known == key);
    let mode = MODES.iter().find(|(key, _)| *key == first).map(|(_, name)| *name);
    match (first, rest) {
        ("space", Some(rest)) => {
            is_one(IN_SPACE, rest.split(' ').next().unwrap_or(rest)).then_some("a key of space mode")
        }
        // Keys behind a mode stay beside those of the mode.
        (_, Some(_)) if mode.is_some() => None,
        _ => mode.or_else(|| is_one(COMMANDS, first).then_some("a command")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::setup::helix_config::PREFIX;

    #[test]
    fn a_key_of_helix_that_is_taken_is_named() {
        for (prefix, what) in [
            ("Z", "Z is sticky view mode in Helix"),
            ("g", "goto mode"),
            ("x", "a command"),
            ("C-a", "a command"),
            ("x A", "a command"),
            ("space a", "a key of space mode"),
        ] {
            let note = note(prefix, "--keys \"space C\"").unwrap_or_default();
            assert!(note.contains(what) && note.contains("`--keys \"space C\"` takes nothing"), "{prefix}: {note}");
        }
        for prefix in [PREFIX, "space B", "C-g", "g A", "Z A", "F5"] {
            assert_eq!(note(prefix, ""), None, "{prefix}");
        }
    }
}
