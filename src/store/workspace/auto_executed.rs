//! Lists the files that run code by being there: when a folder is entered, opened, built, tested, committed or pushed.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;

use crate::workspace::auto_executed::lists::{
    AT_THE_TOP, BEGINNINGS, CONFIG_ENDINGS, CONFIGURED, DATA, EDITOR, ENDINGS, FOR_PEOPLE, HARMLESS, MORE,
    MORE_FOLDERS, PROGRAMS, PROSE, ROWS, SPHINX_FOLDERS, SPHINX_PAGES,
};
use crate::workspace::hard_links::OtherName;
use crate::workspace::root::Root;
use crate::workspace::{bare_names, git_folders, hard_links};
use sextant_text::symbols::language;

mod lists;

/// Names the program that runs a file of this path; `None` if no known program runs it. Some program reads every file
/// with a leading dot by itself.
pub fn runs_code(path: &str) -> Option<&'static str> {
    let path = bare_names::folded(path);
    listed(&path).or_else(|| hidden(&path))
}

/// As [`runs_code`], for a file on disk with the texts that it has and may get: it may be marked as a program, have
/// another name, or run because of its text or of the files beside it.
pub fn runs(root: &Root, path: &str, texts: [&str; 2]) -> Option<&'static str> {
    runs_code(path)
        .or_else(|| runs_in_place(root, path))
        .or_else(|| texts.into_iter().find_map(|text| runs_by_text(path, text)))
        .or_else(|| texts.into_iter().find_map(|text| is_program(root, path, text)))
        .or_else(|| runs_under_another_name(root, path))
}

/// As [`runs_code`], for the files beside a file: git takes a folder with certain files for a repository, and Sphinx
/// runs the `conf.py` beside the first page.
fn runs_in_place(root: &Root, path: &str) -> Option<&'static str> {
    if git_folders::holds(root.path(), path) {
        return Some("git takes its folder for a repository and runs what that names");
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let has_page = || SPHINX_PAGES.iter().any(|page| root.join(folder).join(page).is_file());
    (bare_names::folded(name) == "conf.py" && has_page()).then_some("Sphinx runs it")
}

/// As [`runs_code`], for the text of a file whose name does not show it: many packages have a module `tasks.py`.
fn runs_by_text(path: &str, text: &str) -> Option<&'static str> {
    let name = bare_names::folded(path);
    let imports = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.next().is_some_and(|word| ["from", "import"].contains(&word)) && words.any(|word| word == "invoke")
    };
    (name.ends_with("/tasks.py") && text.lines().any(imports)).then_some("invoke runs it")
}

/// As [`runs_code`], for the other names of a file that has several.
fn runs_under_another_name(root: &Root, path: &str) -> Option<&'static str> {
    let file = root.join(path).symlink_metadata().ok()?;
    match hard_links::find_name(root.path(), &file, |name| runs_code(name).or_else(|| runs_in_place(root, name))) {
        OtherName::Found(runs) => Some(runs),
        OtherName::Nothing => None,
        OtherName::Unknown => Some("it has other names, among more files than are looked at"),
    }
}

/// Names what runs a file that the disk marks as a program. A module of a language that is read as symbols is source of
/// the project, even if it is executable: published packages have many. A script of a shell is a program.
fn is_program(root: &Root, path: &str, text: &str) -> Option<&'static str> {
    let mode = root.join(path).symlink_metadata().ok().filter(Metadata::is_file)?.permissions().mode();
    if language::of_path(path).is_some_and(|language| !language.is_shell) {
        return None;
    }
    // Some disks mark every file as a program.
    let name = path.rsplit('/').next().unwrap_or(path);
    let shebang = text.strip_prefix('\u{feff}').unwrap_or(text).starts_with("#!");
    let script = shebang || !name.contains('.') || PROGRAMS.iter().any(|ending| name.ends_with(ending));
    (mode & 0o111 != 0 && script).then_some("it can be run as a program")
}

/// Files with a dot in front of their name, or of a folder on their way.
fn hidden(path: &str) -> Option<&'static str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut dotted = folders.split('/').filter(|folder| folder.starts_with('.') && !["", ".", ".."].contains(folder));
    let within = dotted.clone().next().is_some();
    let prose = PROSE.iter().any(|ending| name.ends_with(ending)) && dotted.all(|folder| FOR_PEOPLE.contains(&folder));
    let own = name.starts_with('.') && !(HARMLESS.contains(&name) || name.ends_with("ignore"));
    (within && !prose || own).then_some("a program may read it by itself")
}

/// Files that a list knows.
fn listed(path: &str) -> Option<&'static str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders = format!("/{folders}/");
    let row = ROWS.iter().find(|row| {
        row.names.iter().any(|known| known.eq_ignore_ascii_case(name))
            || row.folders.iter().any(|folder| inside(&folders, folder))
    });
    let by = |list: &[(&str, &'static str)], fits: fn(&str, &str) -> bool| {
        list.iter().find(|(part, _)| fits(name, &part.to_ascii_lowercase())).map(|(_, runs)| *runs)
    };
    let more = MORE
        .iter()
        .find(|(_, names)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name)))
        .or_else(|| MORE_FOLDERS.iter().find(|(_, known)| known.split(' ').any(|folder| inside(&folders, folder))));
    let sphinx = name == "conf.py" && SPHINX_FOLDERS.iter().any(|folder| inside(&folders, folder));
    let known = row
        .map(|row| row.runs)
        .or(more.map(|more| more.0))
        .or_else(|| AT_THE_TOP.iter().find(|(known, _)| *known == path).map(|(_, runs)| *runs))
        .or(sphinx.then_some("Sphinx runs it"));
    let is_read = PROSE.iter().any(|ending| name.ends_with(ending));
    if is_read && known.is_none() {
        return None;
    }
    let data = DATA.iter().any(|ending| name.ends_with(ending));
    let configures = data && CONFIGURED.iter().any(|beginning| name.starts_with(beginning));
    let script = name.ends_with(".vim") || name.ends_with(".lua") || name.ends_with(".el");
    let edits = script && EDITOR.iter().any(|folder| inside(&folders, folder));
    known
        .or_else(|| by(ENDINGS, |name, ending| name.ends_with(ending)))
        .or_else(|| by(BEGINNINGS, |name, beginning| name.starts_with(beginning)))
        .or_else(|| CONFIG_ENDINGS.iter().any(|ending| name.ends_with(ending)).then_some("a build runs it"))
        .or_else(|| configures.then_some("a build runs it"))
        .or_else(|| edits.then_some("an editor runs it"))
}

/// True if a folder is on the way. `hooks` alone is many things, so only a hook's folder at the top counts.
fn inside(folders: &str, folder: &str) -> bool {
    let found = format!("/{folder}/");
    if folder == "hooks" { folders == found } else { folders.contains(&found) }
}

#[cfg(test)]
mod tests;
