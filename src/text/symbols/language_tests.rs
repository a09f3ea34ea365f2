//! Every language against its fixtures in `tests/languages/`: outlines, paths both ways, places, and symbol edits.
//!
//! A fixture is a list of sections. `== outline FILE` has a text and, behind `-- symbols`, a line a symbol: its path,
//! its kind, its first and its last line. `== source FILE` is the text of the edits behind it: `== replace PATH`,
//! `before`, `after` and `delete`, each with its content and, behind `-- changes`, the lines that go and come.

use std::collections::BTreeMap;

use crate::edits::apply_text::apply;
use crate::edits::edit_zones::{EditScope, check};
use crate::edits::symbol::{SymbolAction, SymbolEditError, edit};
use crate::symbols::imports::{imports, only_imports_differ};
use crate::symbols::language::{self, LANGUAGES, Language};
use crate::symbols::outline::Outline;
use crate::symbols::path_spelling;

struct Section {
    head: String,
    /// The lines before and behind the first line that starts with `-- `.
    body: String,
    expected: String,
}

/// A file of fixtures.
struct Fixture {
    name: String,
    text: String,
}

fn fixtures() -> Vec<Fixture> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/languages");
    let more = cfg!(feature = "lang-more").then(|| folder.join("more"));
    let files =
        [Some(folder), more].into_iter().flatten().flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let texts = files.filter(|file| file.file_type().unwrap().is_file());
    let read = |file: std::fs::DirEntry| Fixture {
        name: file.file_name().into_string().unwrap(),
        text: std::fs::read_to_string(file.path()).unwrap(),
    };
    texts.map(read).collect()
}

fn sections(text: &str) -> Vec<Section> {
    let mut out: Vec<Section> = Vec::new();
    let mut behind = false;
    for line in text.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("== ") {
            out.push(Section { head: head.trim().to_owned(), body: String::new(), expected: String::new() });
            behind = false;
        } else if line == "-- symbols\n" || line == "-- changes\n" {
            behind = true;
        } else if let Some(last) = out.last_mut() {
            if behind { &mut last.expected } else { &mut last.body }.push_str(line);
        }
    }
    out
}

fn shown(text: &str, outline: &Outline) -> String {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let one = |symbol: &crate::symbols::outline::Symbol| {
        let (first, last) = (line(symbol.extent.start), line(symbol.extent.end));
        format!("{} {} {first}-{last}\n", symbol.path(), symbol.kind.name())
    };
    outline.symbols.iter().map(one).collect()
}

/// The lines that go and come.
fn changes(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let lines = |mark: char, lines: &[&str]| lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
    lines('-', &old[same..old.len() - end]) + &lines('+', &new[same..new.len() - end])
}

fn edited(
    language: &Language,
    text: &str,
    symbol: usize,
    action: SymbolAction,
    content: &str,
) -> Result<String, SymbolEditError> {
    let outline = Outline::parse(language, text);
    let one = edit(text, language, &outline, symbol, action, content)?;
    let scope = EditScope::Symbols(vec![symbol]);
    let checked = check(text, &outline, &scope, std::slice::from_ref(&one));
    let after = apply(text, &[one]).unwrap();
    checked.unwrap_or_else(|error| panic!("{} {action}: {error}\n{}", outline.path_of(symbol), changes(text, &after)));
    Ok(after)
}

/// How often each symbol is there, numbers left out.
fn names(outline: &Outline) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for symbol in &outline.symbols {
        let owners = path_spelling::parts(&symbol.owner).into_iter().map(|owner| path_spelling::part(owner).0);
        let bare = owners.chain([symbol.name.as_str()]).collect::<Vec<_>>().join("::");
        *out.entry(bare).or_default() += 1;
    }
    out
}

#[test]
fn every_language_has_its_fixtures() {
    for language in LANGUAGES {
        let texts = fixtures().into_iter().map(|file| file.text);
        let is_of = |section: &Section| {
            let file = section.head.split(' ').nth(1).unwrap_or_default();
            language::of_path(file).is_some_and(|found| found.name == language.name)
        };
        let found = texts.flat_map(|text| sections(&text)).filter(is_of).count();
        assert!(found > 0, "{} has no fixture in tests/languages", language.name);
    }
}

#[test]
fn the_fixtures_hold() {
    let only = std::env::var("LANGUAGE").unwrap_or_default();
    let mut cases = 0;
    let mut problems = Vec::new();
    for Fixture { name, text } in fixtures() {
        if !name.starts_with(&only) {
            continue;
        }
        let mut source = ("", String::new());
        let parts = sections(&text);
        for section in &parts {
            let (word, rest) = section.head.split_once(' ').unwrap_or((&section.head, ""));
            match word {
                "outline" => {
                    let language = language::of_path(rest).unwrap();
                    let found = shown(&section.body, &Outline::parse(language, &section.body));
                    if found != section.expected {
                        problems.push(format!("{name} {rest}:\n{found}"));
                    }
                    cases += found.lines().count();
                }
                "source" => source = (rest, section.body.clone()),
                action => {
                    let found = edit_of(source.0, &source.1, action, rest, &section.body);
                    if found != section.expected {
                        problems.push(format!("{name} {}:\n{found}", section.head));
                    }
                    cases += 1;
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} of {cases} cases:\n{}", problems.len(), problems.join("\n"));
}

fn edit_of(file: &str, text: &str, action: &str, path: &str, content: &str) -> String {
    let language = language::of_path(file).unwrap();
    let action = match action {
        "replace" => SymbolAction::Replace,
        "before" => SymbolAction::InsertBefore,
        "after" => SymbolAction::InsertAfter,
        _ => SymbolAction::Delete,
    };
    let Ok(symbol) = Outline::parse(language, text).find(path) else { return format!("no {path}") };
    match edited(language, text, symbol, action, content) {
        Ok(after) => changes(text, &after),
        Err(error) => format!("{error}\n"),
    }
}

/// A file, an import in it, and a line without one.
const IMPORTS: &[[&str; 3]] = &[
    ["a.rs", "use std::fmt;\n", "fn f() {}\n"],
    ["a.ts", "import { a } from './a';\n", "const x = 1;\n"],
    ["a.tsx", "import A from './a';\n", "f();\n"],
    ["a.js", "const a = require('./a');\n", "const b = load('./a');\n"],
    ["a.go", "import \"fmt\"\n", "var x int\n"],
    ["a.c", "#include <stdio.h>\n", "int x;\n"],
    ["a.hpp", "#include \"a.h\"\n", "#define X 1\n"],
    ["A.java", "import a.B;\n", "class C {}\n"],
    ["a.lua", "local a = require('a')\n", "local b = load('a')\n"],
    ["a.sh", "source a.sh\n", "echo a\n"],
];

const MORE_IMPORTS: &[[&str; 3]] = &[
    ["a.rb", "require_relative 'a'\n", "puts 'a'\n"],
    ["a.php", "use A\\B;\n", "function f() {}\n"],
    ["a.cs", "using A.B;\n", "class C { }\n"],
    ["a.kt", "import a.B\n", "val x = 1\n"],
    ["a.zig", "const a = @import(\"a.zig\");\n", "const b = 1;\n"],
];

#[test]
fn imports_are_known_where_a_language_has_some() {
    let more = if cfg!(feature = "lang-more") { MORE_IMPORTS } else { &[] };
    for [file, import, other] in IMPORTS.iter().chain(more) {
        let language = language::of_path(file).unwrap();
        let opening = if *file == "a.php" { "<?php\n" } else { "" };
        let (text, other) = (format!("{opening}{import}{other}"), format!("{opening}{other}"));
        assert_eq!(imports(language, &text), [import.trim_end()], "{file}");
        assert!(
            only_imports_differ(language, &text, &other) && !only_imports_differ(language, &text, import),
            "{file}"
        );
    }
}

#[test]
fn every_symbol_of_the_fixtures_can_be_found_kept_copied_and_deleted() {
    let mut problems = Vec::new();
    for Fixture { text, .. } in fixtures() {
        for section in sections(&text).into_iter().filter(|section| section.head.starts_with("outline ")) {
            let name = section.head.split(' ').nth(1).unwrap_or_default();
            let language = language::of_path(name).unwrap();
            hold(language, name, &section.body, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn hold(language: &Language, name: &str, text: &str, problems: &mut Vec<String>) {
    let outline = Outline::parse(language, text);
    let all: Vec<usize> = (0..outline.symbols.len()).collect();
    // Nothing may stand behind the value of a module of Lua, and no other one before it.
    for (index, symbol) in outline.symbols.iter().enumerate().filter(|(_, symbol)| symbol.name != "return") {
        let path = outline.exact_path_of(index, &all);
        let mut is = |holds: bool, what: &str| {
            if !holds {
                problems.push(format!("{name}::{path}: {what}"));
            }
        };
        is(outline.find(&path) == Ok(index), "its path finds another");
        let is_inside = |offset: usize| {
            let mut at = outline.at(offset);
            while let Some(found) = at.filter(|found| *found != index) {
                at = outline.symbols[found].parent;
            }
            at.is_some()
        };
        is(symbol.extent.clone().all(is_inside), "a byte of it is in no symbol of its own");
        let content = &text[symbol.extent.clone()];
        let same = edited(language, text, index, SymbolAction::Replace, content);
        is(same == Err(SymbolEditError::NoChange), &format!("replaced by itself it gives {same:?}"));
        let inside = |other: &&crate::symbols::outline::Symbol| {
            other.extent.start >= symbol.extent.start && other.extent.end <= symbol.extent.end
        };
        let own = Outline { symbols: outline.symbols.iter().filter(inside).cloned().collect(), has_errors: false };
        let (before, own) = (names(&outline), names(&own));
        for action in [SymbolAction::InsertBefore, SymbolAction::InsertAfter, SymbolAction::Delete] {
            let content = if action == SymbolAction::Delete { "" } else { content };
            let after = match edited(language, text, index, action, content) {
                Ok(after) => after,
                Err(error) => {
                    is(false, &format!("{action}: {error}"));
                    continue;
                }
            };
            let parsed = Outline::parse(language, &after);
            is(
                !parsed.has_errors || outline.has_errors,
                &format!("{action} gives a text that does not parse:\n{}", changes(text, &after)),
            );
            let mut wanted = before.clone();
            for (name, count) in &own {
                let entry = wanted.entry(name.clone()).or_default();
                *entry = if action == SymbolAction::Delete { entry.saturating_sub(*count) } else { *entry + count };
            }
            wanted.retain(|_, count| *count > 0);
            let found = names(&parsed);
            let differs: Vec<_> = wanted.iter().filter(|(name, count)| found.get(*name) != Some(count)).collect();
            let more: Vec<_> = found.keys().filter(|name| !wanted.contains_key(*name)).collect();
            is(
                differs.is_empty() && more.is_empty(),
                &format!("{action} leaves {differs:?} and {more:?}:\n{}", changes(text, &after)),
            );
        }
    }
}
