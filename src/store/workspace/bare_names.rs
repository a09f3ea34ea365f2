//! Reduces a file's name to its plain form: without spellings that a disk takes for the same, and without the marks of
//! a copy.

/// Characters that some file systems ignore in a name.
fn is_passed_over(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

/// A path as a disk would look it up that ignores case and invisible characters.
pub(crate) fn folded(path: &str) -> String {
    let seen = path.chars().filter(|c| !is_passed_over(*c));
    let lower: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let parts = lower.split('/').map(|part| {
        let ended = part.trim_end_matches(['.', ' ']);
        if ended.is_empty() { part } else { ended }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Endings that editors, tools and people add to the name of a copy.
const BEHIND: &[&str] = &[
    "~",
    ".bak",
    ".backup",
    ".back",
    ".old",
    ".orig",
    ".original",
    ".save",
    ".saved",
    ".sav",
    ".swp",
    ".swo",
    ".swn",
    ".tmp",
    ".temp",
    ".copy",
    "_bak",
    "-bak",
    "_old",
    "-old",
    "_backup",
    "-backup",
    "_copy",
    "-copy",
    " copy",
    " - copy",
    ".rpmsave",
    ".rpmnew",
    ".rpmorig",
    ".dpkg-old",
    ".dpkg-new",
    ".dpkg-dist",
    ".ucf-old",
    ".ucf-dist",
    ".disabled",
    ".off",
    ".mine",
    ".prev",
    ".previous",
    ".new",
    ".bkp",
    ".rej",
    ".part",
    ".partial",
    ".local",
    ".enc",
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".zip",
    ",v",
    "_backup_",
    "_base_",
    "_local_",
    "_remote_",
    "%",
    "#",
];
/// Beginnings that they add.
const BEFORE: &[&str] = &["#", ".#", "~$", "copy of ", "backup of ", "backup-", "backup_", "bak-", "old-"];

/// The name, in small letters, of which another may be a copy: `.env` for `.env~`, `#.env#` and `.env.bak.2`.
pub(crate) fn original(name: &str) -> &str {
    let mut name = name;
    while let Some(shorter) = without_mark(name).filter(|shorter| !shorter.trim_matches('.').is_empty()) {
        name = shorter.trim_end_matches('.');
    }
    name
}

fn without_mark(name: &str) -> Option<&str> {
    // vim names the files of its one folder after their whole paths.
    if let Some((_, own)) = name.rsplit_once('%').filter(|(_, own)| !own.is_empty()) {
        return Some(own);
    }
    let mark = |name| BEHIND.iter().find_map(|mark| str::strip_suffix(name, mark));
    let cut = name.trim_end_matches(|c: char| c.is_ascii_digit());
    mark(name)
        .or_else(|| mark(cut).filter(|_| cut.len() < name.len()))
        // `.env.1`, `.env.2024-01-31`, `.env (1)`, `.env.~1~`.
        .or_else(|| dated(name))
        .or_else(|| BEFORE.iter().find_map(|mark| name.strip_prefix(mark)))
}

fn dated(name: &str) -> Option<&str> {
    if let Some((own, number)) = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        return number.bytes().all(|byte| byte.is_ascii_digit()).then_some(own);
    }
    let cut = name.trim_end_matches(|c: char| c.is_ascii_digit() || "-_~".contains(c));
    cut.strip_suffix('.').filter(|own| cut.len() < name.len() && !own.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_its_marks() {
        for copy in [
            ".env~",
            ".env.bak",
            "#.env#",
            ".#.env",
            ".env.swp",
            ".env.old.1",
            ".env.~3~",
            ".env (2)",
            ".env copy",
            ".env.bak2",
            ".env-old",
            "%home%me%.env",
            ".env.2024-01-31",
            ".env.save~",
            "backup_.env",
            ".env.orig.gz",
            ".env,v",
            ".env.zst",
            ".env_backup_123",
        ] {
            assert_eq!(original(copy), ".env", "{copy}");
        }
        for own in ["a.py", ".env", "~", ".bak", "v1.2", "notes.md", "python3", "x86-64"] {
            assert!(original(own).len() + 2 >= own.len() && !original(own).is_empty(), "{own}: {}", original(own));
        }
        assert_eq!((original("a.py"), original("~"), original("x86-64")), ("a.py", "~", "x86-64"));
    }

    #[test]
    fn spellings_that_a_disk_takes_for_one_are_one() {
        for spelled in [".ENV", ".e\u{200c}nv", ".env.", ".env ", ".Env\u{feff}"] {
            assert_eq!(folded(spelled), ".env", "{spelled:?}");
        }
        assert_eq!(
            (folded("MA\u{212a}EFILE").as_str(), folded("../\u{17f}etup.py").as_str()),
            ("makefile", "../setup.py")
        );
    }
}
