//! Reads the names of the files that git tracks from the index of a repository, without git.
//!
//! A file that was added with force is tracked though a rule of `.gitignore` names it, and then the rule does not count.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root::Root;

/// Bytes before the first entry, and bytes of an entry before its flags.
const HEADER: usize = 12;
const FIXED: usize = 60;
/// The flag of an entry that has two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// Entries are filled up to a multiple of this, before version 4.
const ALIGNED: usize = 8;

/// The tracked files below a root; empty without a repository, or with an index that cannot be read.
pub(crate) fn of(root: &Root) -> BTreeSet<String> {
    read(root.path()).unwrap_or_default()
}

fn read(root: &Path) -> Option<BTreeSet<String>> {
    let top = root.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let below = root.strip_prefix(top).ok()?.to_str()?.to_owned();
    let below = if below.is_empty() { below } else { format!("{below}/") };
    let names = entries(&fs::read(folder(&top.join(".git"))?.join("index")).ok()?)?;
    Some(names.into_iter().filter_map(|name| name.strip_prefix(&below).map(str::to_owned)).collect())
}

/// The folder of a repository; in a further work tree a file names it.
fn folder(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = fs::read_to_string(git).ok()?;
    Some(git.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The names in an index of version 2, 3 or 4.
fn entries(bytes: &[u8]) -> Option<Vec<String>> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if !bytes.starts_with(b"DIRC") {
        return None;
    }
    let (version, count) = (number(4)?, number(8)?);
    let (mut at, mut names, mut before) = (HEADER, Vec::new(), Vec::new());
    for _ in 0..count {
        let begin = at;
        let flags = u16::from_be_bytes(bytes.get(at + FIXED..at + FIXED + 2)?.try_into().ok()?);
        at += FIXED + 2 + if version >= 3 && flags & EXTENDED != 0 { 2 } else { 0 };
        if version == 4 {
            let kept = kept_bytes(bytes, &mut at)?;
            before.truncate(before.len().checked_sub(kept)?);
        } else {
            before.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        before.extend_from_slice(&bytes[at..at + length]);
        at += length + 1;
        if version < 4 {
            at = begin + (at - begin).next_multiple_of(ALIGNED);
        }
        names.extend(String::from_utf8(before.clone()).ok());
    }
    Some(names)
}

/// The number of bytes at the end of the name before that this name does not share (version 4).
fn kept_bytes(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut byte = *bytes.get(*at)?;
    let mut value = usize::from(byte & 127);
    *at += 1;
    while byte & 128 != 0 {
        byte = *bytes.get(*at)?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 127);
        *at += 1;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    #[test]
    fn tracked_names_are_read_from_an_index_of_each_version() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        git(&top, &["init", "-q"]);
        let names = ["a.py", "gen/long_name_of_a_file.py", "gen/long_name_of_another.py", "p/b.py", "p/sub/é.py"];
        for name in names {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), name).unwrap();
        }
        fs::write(top.join(".gitignore"), "gen/\n").unwrap();
        fs::write(top.join("untracked.py"), "").unwrap();
        git(&top, &["add", "-f", "a.py", "gen", "p"]);
        git(&top, &["add", "--intent-to-add", ".gitignore"]);
        let all: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).chain([".gitignore".into()]).collect();
        for version in ["2", "3", "4"] {
            git(&top, &["update-index", "--index-version", version]);
            assert_eq!(of(&Root::new(&top).unwrap()), all, "{version}");
            let below = of(&Root::new(&top.join("p")).unwrap());
            assert_eq!(below, BTreeSet::from(["b.py".to_owned(), "sub/é.py".to_owned()]), "{version}");
        }
        fs::write(top.join(".git/index"), b"DIRC\0\0\0\x02\0\0\0\x09cut").unwrap();
        assert!(of(&Root::new(&top).unwrap()).is_empty());
    }
}
