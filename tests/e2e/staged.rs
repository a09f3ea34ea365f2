//! Diagnostics that a compiler's earlier stage hides, held against clippy's own runs before and after an error comes.
//!
//! Every case inserts one line with an error into a function and changes nothing else, so all that is gone is hidden.
//! The other way round, all that comes is uncovered. `STAGED_FOLDER` takes the `.rs` files of a folder that compile by
//! themselves instead of the fixtures, and `STAGED_N` bounds their number of cases.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::servers::tool;

/// The lines with an error, one a stage: parse, names, types, borrows.
const ERRORS: &[&str] = &[
    "let = 1;",
    "let _q = a_name_that_nobody_defines;",
    "let _q: u32 = \"text\";",
    "let q = String::new(); drop(q); drop(q);",
];

struct Case {
    name: String,
    line: usize,
    before: String,
    after: String,
}

/// The functions' first lines, each with every error.
fn cases(name: &str, text: &str) -> Vec<Case> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let opens = line.trim_end().ends_with('{') && line.contains("fn ") && line.contains('(');
        if !opens || line.trim_start().starts_with("//") {
            continue;
        }
        for error in ERRORS {
            let mut after = lines.clone();
            after.insert(at + 1, error);
            let after = after.join("\n") + "\n";
            out.push(Case { name: format!("{name}:{} {error}", at + 1), line: at + 1, before: text.to_owned(), after });
        }
    }
    out
}

/// The diagnostics of clippy for a text, as `sextant diff --batch` takes them.
fn checked(folder: &Path, text: &str) -> Vec<Value> {
    let file = folder.join("lib.rs");
    std::fs::write(&file, text).expect("a file");
    let output = Command::new(tool("clippy-driver"))
        .args(["--error-format=json", "--emit=metadata", "--crate-type=lib", "--edition=2021", "--cap-lints=warn"])
        .args(["--out-dir".as_ref(), folder.as_os_str(), file.as_os_str()])
        .output()
        .expect("clippy-driver runs");
    let lines = String::from_utf8_lossy(&output.stderr).into_owned();
    lines.lines().filter_map(|line| diagnostic(&serde_json::from_str(line).ok()?)).collect()
}

fn diagnostic(said: &Value) -> Option<Value> {
    let span = said["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
    let place = |line: &str, column: &str| json!({"line": span[line].as_u64().unwrap_or(1) - 1, "character": span[column].as_u64().unwrap_or(1) - 1});
    let severity = if said["level"] == "error" { 1 } else { 2 };
    Some(json!({
        "file": "src/lib.rs", "severity": severity, "source": "tool:cargo",
        "code": said["code"]["code"], "message": said["message"],
        "range": {"start": place("line_start", "column_start"), "end": place("line_end", "column_end")},
    }))
}

struct Matcher {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Matcher {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sextant"))
            .args(["diff", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output }
    }

    fn answer(&mut self, texts: (&str, &str), before: &[Value], after: &[Value]) -> Value {
        let files = json!({"src/lib.rs": {"before": texts.0, "after": texts.1}});
        writeln!(self.input, "{}", json!({"id": 1, "files": files, "before": before, "after": after}))
            .expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect("JSON")
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("an end").success());
    }
}

/// The files of a folder, or the fixtures.
fn sources() -> Vec<(String, String)> {
    let folder = std::env::var_os("STAGED_FOLDER")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/staged"), PathBuf::from);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(path).ok()?))
    };
    paths.iter().filter_map(read).collect()
}

fn indices(answer: &Value, key: &str) -> Vec<usize> {
    let list = answer[key].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_u64).map(|index| usize::try_from(index).expect("an index")).collect()
}

#[test]
fn what_an_error_of_an_earlier_stage_hides_is_masked_and_what_its_end_uncovers_is_revealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut matcher = Matcher::start();
    let most: usize = std::env::var("STAGED_N").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    let (mut number, mut hidden, mut wrong) = (0, 0, Vec::new());
    for (name, text) in sources() {
        let before = checked(folder.path(), &text);
        if before.iter().any(|one| one["severity"] == 1) {
            assert!(std::env::var_os("STAGED_FOLDER").is_some(), "{name} does not compile: {before:?}");
            continue;
        }
        for case in cases(&name, &text) {
            if number == most {
                break;
            }
            let after = checked(folder.path(), &case.after);
            if !after.iter().any(|one| one["severity"] == 1) {
                continue;
            }
            number += 1;
            let ways = [
                ("fixed", "masked", matcher.answer((&case.before, &case.after), &before, &after), &before),
                ("new", "revealed", matcher.answer((&case.after, &case.before), &after, &before), &before),
            ];
            for (all, part, answer, list) in ways {
                let part = indices(&answer, part);
                for index in indices(&answer, all) {
                    hidden += 1;
                    if !part.contains(&index) {
                        wrong.push(format!("{} (line {}): {all} {}", case.name, case.line, list[index]));
                    }
                }
            }
        }
    }
    matcher.end();
    println!("{number} cases, {hidden} hidden or uncovered, {} called otherwise", wrong.len());
    assert!(number > 0 && hidden > number, "the errors hide next to nothing: {hidden} in {number}");
    assert!(wrong.len() * 100 <= hidden, "{} of {hidden}: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}
