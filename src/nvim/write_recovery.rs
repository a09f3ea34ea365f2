//! Restores a file that Neovim was writing when it was killed, from the old one that it had set aside.

use std::path::Path;

use sextant_engine::api::HalfDone;
use sextant_headless::file_format::decode;
use sextant_store::workspace::open_beneath::{Folders, OpenFolder};

/// Neovim keeps the old file beside the new one while it writes (`'writebackup'`, `'backupext'`).
const BACKUP: &str = "~";

/// Restores the backup where it has the text from before, and the file is gone or the beginning of the new text. The
/// backup keeps its line ends, its mark and its permissions. Any other file is left alone, and the answer is false.
pub(super) fn bring_back(root: &Path, file: &HalfDone) -> bool {
    let (Some(before), Some(after)) = (&file.before, &file.after) else { return false };
    let Ok(place) = Folders::new(root).and_then(|mut folders| folders.place(&file.path, false)) else { return false };
    let text = |place: &OpenFolder| place.read().ok().and_then(|found| decode(&found.bytes)).map(|(text, _)| text);
    let mut name = place.name().to_owned();
    name.push(BACKUP);
    let backup = place.beside(name);
    if text(&backup).as_deref() != Some(before) {
        return false;
    }
    let torn = match text(&place) {
        Some(now) => *now != **before && *now != **after && after.starts_with(&*now),
        None => !place.exists(),
    };
    if !torn {
        return false;
    }
    let back = backup.rename_to(&place);
    if let Err(error) = &back {
        tracing::warn!(path = file.path, %error, "the backup could not take its place");
    }
    back.is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_backup_of_a_write_that_was_cut_off_takes_its_place_and_nothing_else_does() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let file = HalfDone { path: "a".into(), before: Some("old\n1\n".into()), after: Some("new\n1\n".into()) };
        let old = "\u{feff}old\r\n1\r\n";
        for (now, backup, then) in [
            (Some(""), Some(old), Some(old)),
            (Some("new\n"), Some(old), Some(old)),
            (None, Some(old), Some(old)),
            (Some("new\n1\n"), Some(old), Some("new\n1\n")),
            (Some("mine"), Some(old), Some("mine")),
            (Some(""), Some("another old one"), Some("")),
            (Some(""), None, Some("")),
        ] {
            for (name, text) in [("a", now), ("a~", backup)] {
                match text {
                    Some(text) => fs::write(at(name), text).unwrap(),
                    None => drop(fs::remove_file(at(name))),
                }
            }
            bring_back(root.path(), &file);
            assert_eq!(fs::read_to_string(at("a")).ok().as_deref(), then, "{now:?} {backup:?}");
        }
    }
}
