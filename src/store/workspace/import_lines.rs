//! The words of the import lines of a text, and the names by which other files import it.

use std::collections::BTreeSet;

use crate::workspace::root::Root;
use crate::workspace::source_text;
use sextant_text::symbols::interface::{EVERYTHING, identifiers};
use sextant_text::symbols::language::{self, ImportForm, LANGUAGES, Language};

/// The most lines of one import.
const LONGEST: usize = 200;
/// Letters and digits of the longest escape.
const LONGEST_ESCAPE: usize = 10;
/// Folders that hold the sources of a package: others import their first file by the package's name.
const SOURCES: &[&str] = &["", "src", "lib", "source", "dist"];

/// The name by which others import a file: that of its folder if the file stands for the folder.
pub(super) fn module_name(path: &str) -> &str {
    let (folder, stem) = split(path);
    if stands_for_folder(path, stem) { package_name(folder.rsplit('/').next().unwrap_or(folder)) } else { stem }
}

/// The names by which others may import a file; `None` if it may be any name.
pub(super) fn module_names(path: &str) -> Option<Vec<&str>> {
    let (_, stem) = split(path);
    let is_by_path = language::of_path(path).is_none_or(|language| language.import_form == ImportForm::Statement);
    let name = module_name(path);
    // No word stands for a name of signs alone.
    identifiers(name).next()?;
    if is_by_path || !stands_for_folder(path, stem) {
        return Some(vec![name]);
    }
    (!SOURCES.contains(&name)).then(|| vec![name, stem])
}

/// The words by which lines that import a file name it; none where leading dots may stand for it.
pub fn module_words(path: &str) -> Vec<String> {
    let is_named = language::of_path(path).is_some_and(|language| language.import_form != ImportForm::Statement);
    let names = if is_named { module_names(path).unwrap_or_default() } else { Vec::new() };
    names.into_iter().flat_map(identifiers).map(str::to_owned).collect()
}

/// True if these words may name a file.
pub(super) fn names_module(path: &str, has: &dyn Fn(&str) -> bool) -> bool {
    let has_all = |name: &&str| identifiers(name).next().is_some() && identifiers(name).all(has);
    module_names(path).is_none_or(|names| names.iter().any(has_all))
}

fn split(path: &str) -> (&str, &str) {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    (folder, file.split('.').next().unwrap_or(file))
}

fn stands_for_folder(path: &str, stem: &str) -> bool {
    let stands = |files: &[&str]| files.contains(&stem) || files.contains(&EVERYTHING);
    language::of_path(path).is_some_and(|language| stands(language.folder_files))
}

/// The name of a package by its folder: stubs of other packages lie in folders that say so.
fn package_name(folder: &str) -> &str {
    folder.strip_suffix("-stubs").unwrap_or(folder)
}

/// The names of files that every other one imports, where this file is the settings of a compiler that say so. They
/// only widen a look.
pub(super) fn forced_imports(root: &Root, path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let all = LANGUAGES.iter().flat_map(|language| language.forced_imports);
    let Some((_, option)) = all.into_iter().find(|(file, _)| *file == name) else { return Vec::new() };
    let text = source_text::of(root, path).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | ',' | '\'' | '\\');
    let values = text.split(option).skip(1).filter(|rest| !rest.starts_with('-'));
    let files = values.filter_map(|rest| rest.trim_start_matches(ends).split(ends).next());
    files.map(|file| file.rsplit('/').next().unwrap_or(file).to_owned()).collect()
}

/// The words of a file's imports. Leading dots count as the folders that they stand for.
pub(super) fn import_words(language: &Language, path: &str, text: &str) -> BTreeSet<String> {
    match language.import_form {
        ImportForm::Statement => statement_words(language, path, text),
        ImportForm::Line | ImportForm::Whole => line_words(language, path, text),
    }
}

/// The words of the lines that have an import word, with the brackets that they open or close.
fn line_words(language: &Language, path: &str, text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let (lines, comments): (Vec<&str>, Vec<bool>) = lines_of_code(language, text).unzip();
    let mut next = 0;
    for (at, line) in lines.iter().enumerate() {
        let is_import = identifiers(line).any(|word| language.import_words.contains(&word));
        if at < next || !is_import || comments[at] {
            continue;
        }
        // The names of a long list come before the module.
        let is_end = line.trim_start().starts_with('}');
        let list = lines[..at].iter().rev().take(LONGEST).take_while(|line| is_end && !line.contains('{'));
        list.for_each(|line| take_words(line, &mut words));
        let (mut open, mut count, mut goes_on) = (0, 0, true);
        for line in lines[at..].iter().take(LONGEST) {
            take_words(line, &mut words);
            words.extend(dotted_folders(path, line));
            let code = without_comments(language, line);
            (open, count) = (open + depth(code), count + 1);
            if !code.trim().is_empty() {
                goes_on = line.trim_end().ends_with('\\') || ends_with_import_word(language, code);
            }
            if open <= 0 && !goes_on {
                break;
            }
        }
        next = at + count;
    }
    words
}

/// The lines of a text, each with true if it is a line of a comment.
pub(super) fn lines_of_code<'a>(language: &Language, text: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
    let mut is_inside = false;
    text.lines().map(move |line| {
        let is_comment = is_comment(language, line, is_inside);
        is_inside = ends_inside(language, line, is_inside);
        (line, is_comment)
    })
}

/// True if the end of a line is in a block comment. A mark in a string counts as one.
fn ends_inside(language: &Language, line: &str, mut is_inside: bool) -> bool {
    let mut rest = line;
    for (open, close) in language.block_comments.iter().take(1) {
        while let Some((before, behind)) = rest.split_once(if is_inside { close } else { open }) {
            if !is_inside && language.line_comments.iter().any(|mark| before.contains(mark)) {
                break;
            }
            (rest, is_inside) = (behind, !is_inside);
        }
    }
    is_inside
}

/// A line without a line comment, and without a block comment that goes on behind it.
fn without_comments<'a>(language: &Language, line: &'a str) -> &'a str {
    let code = language.without_comment(line);
    let cut = |code: &'a str, (open, close): &(&str, &str)| match code.rfind(open) {
        Some(at) if !code[at..].contains(close) => &code[..at],
        _ => code,
    };
    language.block_comments.iter().fold(code, cut)
}

/// A line of a comment that imports nothing, in a language with comments of C: an example of use in a documentation.
/// A comment of JavaScript may import a type.
fn is_comment(language: &Language, line: &str, is_inside: bool) -> bool {
    let line = line.trim_start();
    let Some((open, close)) = language.block_comments.iter().find(|(open, _)| *open == "/*") else { return false };
    let is_text = |rest: &str| is_inside && !rest.trim_start().starts_with("as ");
    let is_block = line.starts_with(open) || line.strip_prefix('*').is_some_and(is_text);
    let is_line = language.line_comments.iter().any(|mark| line.starts_with(mark));
    let imports = ["import(", "@import"].iter().any(|mark| line.contains(mark));
    !imports && (is_line || is_block && !line.contains(close))
}

/// True if the module that a line imports is named in the next one.
fn ends_with_import_word(language: &Language, code: &str) -> bool {
    let code = code.trim_end();
    identifiers(code).last().is_some_and(|word| code.ends_with(word) && language.import_words.contains(&word))
}

/// How many more brackets a line opens than it closes.
fn depth(line: &str) -> i32 {
    line.chars().map(|c| i32::from(matches!(c, '(' | '{' | '[')) - i32::from(matches!(c, ')' | '}' | ']'))).sum()
}

/// The folders that the strings of a line name by dots alone: `'..'`.
fn dotted_folders<'a>(path: &'a str, line: &str) -> impl Iterator<Item = String> + use<'a> {
    let strings = line.split(['"', '\'', '`']).filter(|text| text.starts_with('.'));
    let dots = strings.filter(|text| text.chars().all(|c| matches!(c, '.' | '/')));
    let ups: Vec<usize> = dots.map(|text| text.split('/').filter(|part| *part == "..").count() + 1).collect();
    ups.into_iter().filter_map(|ups| ancestor(path, ups).map(str::to_owned))
}

/// The words of a file's import statements.
fn statement_words(language: &Language, path: &str, text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let (_, stem) = split(path);
    // The names that a package lists as its own may be those of its files.
    let list = language.list_name.filter(|_| stands_for_folder(path, stem));
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let listed = list.filter(|list| line.trim_start().starts_with(*list)).map(|_| line);
        let Some(mut rest) = imports_of(language, line).next().or(listed) else { continue };
        // A list of names goes on to its closing bracket.
        let mut open = 0;
        loop {
            words.extend(imports_of(language, rest).filter_map(|import| folder_of_dots(path, import)));
            // A mark in front of an import may stand in a string.
            let statement = language.without_comment(rest);
            take_words(statement, &mut words);
            open += depth(statement);
            let goes_on = open > 0 || statement.trim_end().ends_with('\\');
            let Some(next) = goes_on.then(|| lines.next()).flatten() else { break };
            rest = next;
        }
    }
    words
}

/// The folder that the leading dots of an import stand for.
fn folder_of_dots(path: &str, import: &str) -> Option<String> {
    let first = import.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let dots = import[first.len()..].trim_start().chars().take_while(|c| *c == '.').count();
    ancestor(path, dots).map(str::to_owned)
}

/// The parts of a line that begin with an import word: the line, or statements behind others on it.
fn imports_of<'a>(language: &Language, line: &'a str) -> impl Iterator<Item = &'a str> {
    let begins = move |at: usize| {
        let rest = line[at..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let first = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        language.import_words.contains(&first).then_some(rest)
    };
    let behind = line.match_indices([';', ':']).map(|(at, _)| at + 1);
    std::iter::once(0).chain(behind).filter_map(begins)
}

fn take_words(import: &str, words: &mut BTreeSet<String>) {
    words.extend(identifiers(import).map(str::to_owned));
    // A word begins somewhere behind an escape of a sign: `.\u002fshop`.
    for word in import.split('\\').skip(1).filter_map(|behind| identifiers(behind).next()) {
        words.extend(word.char_indices().skip(1).take(LONGEST_ESCAPE).map(|(at, _)| word[at..].to_owned()));
    }
    if import.contains(EVERYTHING) {
        words.insert(EVERYTHING.to_owned());
    }
}

/// The name of the folder that so many leading dots stand for.
fn ancestor(path: &str, dots: usize) -> Option<&str> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut folders = folder.rsplit('/');
    dots.checked_sub(1).map(|up| package_name(folders.nth(up).unwrap_or_default()))
}
