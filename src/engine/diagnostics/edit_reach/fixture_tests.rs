//! The reach of edits in each language against the cases of `tests/fixtures/reach/`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{TextChange, of};
use sextant_store::workspace::root::Root;

/// One edit, the files that it breaks, and files that it does not reach.
#[derive(Default)]
struct ReachCase {
    name: String,
    files: BTreeMap<String, String>,
    edited: String,
    after: String,
    broken: Vec<String>,
    apart: Vec<String>,
}

fn cases(text: &str) -> Vec<ReachCase> {
    let mut cases: Vec<ReachCase> = Vec::new();
    let (mut path, mut is_after) = (String::new(), false);
    for line in text.lines().skip_while(|line| !line.starts_with("### ")) {
        let (mark, rest) = line.split_at(line.len().min(4));
        if mark == "### " {
            cases.push(ReachCase { name: rest.to_owned(), ..ReachCase::default() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        let rest = rest.replace("CASE", &case.name);
        match mark {
            "--- " => {
                (path, is_after) = (rest.clone(), false);
                case.files.insert(rest, String::new());
            }
            "+++ " => (case.edited, is_after) = (rest, true),
            "!!! " => case.broken.push(rest.split(' ').next().unwrap().to_owned()),
            "=== " => case.apart.push(rest),
            _ if !(case.broken.is_empty() && case.apart.is_empty()) => assert_eq!(line, "", "{}", case.name),
            _ => {
                let held = if is_after { &mut case.after } else { case.files.get_mut(&path).unwrap() };
                held.push_str(&line.replace("CASE", &case.name));
                held.push('\n');
            }
        }
    }
    cases
}

fn reach(case: &ReachCase) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in &case.files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let before = Some(case.files[&case.edited].as_str().into());
    let change = TextChange { path: case.edited.clone(), before, after: case.after.as_str().into() };
    of(&Root::new(dir.path()).unwrap(), &Arc::default(), &HashMap::new(), &[change]).files
}

fn hold(text: &str, least: usize) {
    let cases = cases(text);
    assert!(cases.len() >= least, "{} cases are read", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let found = reach(case);
        let missing: Vec<_> = case.broken.iter().filter(|file| !found.contains(file)).collect();
        let further: Vec<_> = case.apart.iter().filter(|file| found.contains(file)).collect();
        if !missing.is_empty() || !further.is_empty() {
            wrong.push(format!("{}: missing {missing:?}, too much {further:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn edits_reach_the_files_that_they_break_in_typescript() {
    hold(include_str!("../../../../tests/fixtures/reach/typescript.txt"), 30);
}

#[test]
fn edits_reach_the_files_that_import_by_an_alias_or_not_at_all() {
    hold(include_str!("../../../../tests/fixtures/reach/aliases.txt"), 2);
}

#[test]
fn edits_reach_the_files_that_they_break_in_javascript() {
    hold(include_str!("../../../../tests/fixtures/reach/javascript.txt"), 8);
}

#[test]
fn edits_reach_the_files_that_they_break_in_rust() {
    hold(include_str!("../../../../tests/fixtures/reach/rust.txt"), 20);
}

#[test]
fn edits_reach_the_files_that_they_break_in_go() {
    hold(include_str!("../../../../tests/fixtures/reach/go.txt"), 9);
}

#[test]
fn edits_reach_the_files_that_they_break_in_c() {
    hold(include_str!("../../../../tests/fixtures/reach/c.txt"), 17);
}

#[test]
fn edits_reach_the_files_that_they_break_in_lua() {
    hold(include_str!("../../../../tests/fixtures/reach/lua.txt"), 7);
}

/// The files that an edit reaches; `None` before the edit of a new file.
fn reached(files: &[(&str, &str)], edited: (&str, Option<&str>), after: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| std::fs::write(dir.path().join(path), text).unwrap());
    let (path, before) = (edited.0.to_owned(), edited.1.map(Into::into));
    let change = TextChange { path, before, after: after.into() };
    of(&Root::new(dir.path()).unwrap(), &Arc::default(), &HashMap::new(), &[change]).files
}

#[test]
fn a_new_file_reaches_the_users_of_its_global_names() {
    let apart = ("apart.ts", "export const apart = 1\n");
    for (made, text, user) in [
        ("g.d.ts", "declare const GG: string\n", "export const n: number = GG\n"),
        ("aug.ts", "import './a'\ndeclare module './a' { interface K { m: string } }\n", "import { K } from './a'\n"),
        (
            "svg.d.ts",
            "declare module '*.svg' { const path: string; export default path }\n",
            "import s from './i.svg'\n",
        ),
        ("v.ts", "interface Zed { b: number }\n", "const zed: Zed = { a: 1 }\n"),
    ] {
        assert_eq!(reached(&[("user.ts", user), apart], (made, None), text), ["user.ts"], "{made}");
    }
    let user = ("user.py", "print(reveal + 1)\n");
    let python = reached(&[user, ("apart.py", "print(1)\n")], ("__builtins__.pyi", None), "reveal: str\n");
    assert_eq!(python, ["user.py"]);
}

#[test]
fn a_member_that_a_type_of_the_library_gains_reaches_every_file() {
    let files = [
        ("shape.ts", "export interface Shape { extra?: number }\n"),
        ("user.ts", "import type { Shape } from './shape'\nexport const shape: Shape = document\n"),
    ];
    let block = |name: &str| format!("export {{}}\ndeclare global {{ interface {name} {{ extra: string }} }}\n");
    assert_eq!(reached(&files, ("g.ts", Some("export {}\n")), &block("Document")), ["shape.ts", "user.ts"]);
    assert_eq!(reached(&files, ("g.ts", Some("export {}\n")), &block("Own")), ["shape.ts"]);
    let own = "export {}\ninterface Document { extra: string }\n";
    assert!(!reached(&files, ("g.ts", Some("export {}\n")), own).contains(&"user.ts".to_owned()));
}

#[test]
fn a_name_that_goes_reaches_the_file_in_which_it_was_there_twice() {
    let b = "export const v = ''\n";
    let files = [("a.ts", "export const v = 1\n"), ("b.ts", b), ("i.ts", "export * from './a'\nexport * from './b'\n")];
    assert_eq!(reached(&files, ("b.ts", Some(b)), "export const w = 1\n"), ["i.ts"]);
}
