//! Decides whether an allowed command reads whole folders, and finds the files in them that the user has not allowed.

use sextant_base::one_line::clean;
use sextant_store::workspace::root::{PathError, Root};
use sextant_store::workspace::unshown_files::{Sweep, first_below};
use sextant_store::workspace::workspace_files;

/// Programs that show or carry the content of a given folder.
const CARRIERS: &[&str] = &["tar", "bsdtar", "zip", "7z", "7za", "cpio", "cp", "mv", "diff", "colordiff", "delta"];
/// Programs that search a folder where an option asks for it.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "zgrep", "ggrep"];
/// Programs that search every folder; all but the first do so even without a named folder.
const ALWAYS: &[(&str, Sweep)] =
    &[("rgrep", Sweep::All), ("ugrep", Sweep::All), ("rg", Sweep::Listed), ("ag", Sweep::Listed), ("ack", Sweep::All)];

/// Why a command reads more than it names; `None` where it does not.
pub(crate) fn objection(root: &Root, programs: &[String], arguments: &[String]) -> Option<String> {
    let is = |known: &[&str]| programs.iter().any(|program| known.contains(&program.as_str()));
    let always = ALWAYS.iter().find(|(known, _)| is(&[known]));
    let searches = always.is_some() || is(SEARCHERS) && arguments.iter().any(|word| recurses(word));
    if !searches && !is(CARRIERS) {
        return None;
    }
    let sweep = always.map_or(Sweep::All, |(_, sweep)| *sweep);
    let sweep = if arguments.iter().any(|word| follows(programs, word)) { Sweep::Linked } else { sweep };
    let mut folders = Vec::new();
    let mut files = false;
    // The first operand of a search is its pattern, unless an option gave one. A folder of that name costs a question.
    for word in arguments.iter().filter(|word| !word.starts_with('-')) {
        match root.resolve(word) {
            Err(PathError::Directory(_)) => folders.extend(workspace_files::folder(root, word)),
            Ok(path) => files |= root.join(&path).is_file(),
            Err(_) => {}
        }
    }
    if folders.is_empty() && searches && !files {
        folders.push(String::new());
    }
    let found = folders.iter().find_map(|folder| first_below(root, folder, sweep));
    found.map(|(path, why)| format!("it reads whole folders, and {} {why}", clean(&path)))
}

/// True if an option is `-r`, alone or among others, or one of its long names, which may be shortened.
fn recurses(word: &str) -> bool {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let letters = short.chars().take_while(char::is_ascii_alphabetic);
    let long = ["--rec", "--dereference", "--dir"].iter().any(|beginning| word.starts_with(beginning));
    long || letters.into_iter().any(|letter| "rRd".contains(letter))
}

/// True if an option makes the program go through links.
fn follows(programs: &[String], word: &str) -> bool {
    let is = |known: &[&str]| programs.iter().any(|program| known.contains(&program.as_str()));
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let has = |letters: &str| short.chars().any(|letter| letters.contains(letter));
    let long = ["--deref", "--follow"].iter().any(|beginning| word.starts_with(beginning));
    long || is(SEARCHERS) && has("R")
        || is(&["tar", "bsdtar"]) && has("hL")
        || is(&["cp"]) && has("LH")
        || is(&["rg", "ag", "ugrep"]) && has("LfR")
        || is(&["diff", "colordiff"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_folder_is_read_only_where_all_of_it_may_be() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(path), text).unwrap();
        };
        put("src/a.py", "x\n");
        put("private/a.txt", "x\n");
        put(".env", "x\n");
        put(".gitignore", "private/\n");
        std::fs::create_dir(dir.path().join("away")).unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join("away/etc")).unwrap();
        let root = Root::new(dir.path()).unwrap();
        let asked = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            objection(&root, &words[..1], &words[1..])
        };
        for command in [
            "grep -rn x src",
            "grep x src/a.py",
            "grep -n x -r src/a.py",
            "rg x",
            "rg x src",
            "tar -cO src",
            "cp -r src b",
            "grep -r x away",
            "diff -r src src",
            "cat src",
        ] {
            assert_eq!(asked(command), None, "{command}");
        }
        for command in [
            "grep -rn x",
            "grep -r x .",
            "grep -Rn x away",
            "grep -d recurse x",
            "grep --recurs x .",
            "rg -L x away",
            "rgrep x",
            "tar -cOh away",
            "tar -cO private",
            "cp -r private b",
            "mv private b",
            "diff -r src private",
            "diff -r src away",
            "zip -r - private",
        ] {
            assert!(asked(command).is_some(), "{command}");
        }
    }
}
