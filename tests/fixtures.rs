//! The sample project has exactly the diagnostics that its `diagnostics.json` lists.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sextant::base::positions::{Encoding, LineIndex, Position};
use sextant::symbols::language;
use sextant::symbols::outline::Outline;

fn tool(name: &str) -> PathBuf {
    let folder = std::env::var("SEXTANT_TOOLS").expect("SEXTANT_TOOLS is not set; make test sets it");
    let path = Path::new(&folder).join(name);
    assert!(path.exists(), "{name} is missing at {}; make tools fetches it", path.display());
    path
}

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shop")
}

/// What a tool prints as JSON when it looks at a copy of the project.
fn run(name: &str, arguments: &[&str], project: &Path) -> Value {
    let output = Command::new(tool(name)).args(arguments).current_dir(project).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{name}: {error}: {text} {}", String::from_utf8_lossy(&output.stderr));
    })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// `path::symbol tool code`, with the position looked up as a symbol.
fn line(project: &Path, file: &str, position: Position, tool: &str, code: &str) -> String {
    let file = Path::new(file).strip_prefix(project).unwrap_or(Path::new(file)).to_str().unwrap();
    let text = fs::read_to_string(project.join(file)).unwrap();
    let outline = Outline::parse(language::of_path(file).unwrap(), &text);
    let symbol = outline.at(LineIndex::new(&text).offset(&text, position, Encoding::Utf16));
    let names = symbol.map_or(String::new(), |symbol| format!("::{}", outline.path_of(symbol)));
    format!("{file}{names} {tool} {code}")
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn the_shop_has_the_diagnostics_that_it_lists() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().canonicalize().unwrap().join("shop");
    copy(&shop(), &project);
    let mut found = Vec::new();
    for one in run("basedpyright", &["--outputjson"], &project)["generalDiagnostics"].as_array().unwrap() {
        let start = &one["range"]["start"];
        let position = Position { line: number(&start["line"]), character: number(&start["character"]) };
        let code = one["rule"].as_str().unwrap();
        found.push(line(&project, one["file"].as_str().unwrap(), position, "basedpyright", code));
    }
    for one in run("ruff", &["check", "--no-cache", "--output-format", "json"], &project).as_array().unwrap() {
        let start = &one["location"];
        let position = Position { line: number(&start["row"]) - 1, character: number(&start["column"]) - 1 };
        let code = one["code"].as_str().unwrap();
        found.push(line(&project, one["filename"].as_str().unwrap(), position, "ruff", code));
    }
    found.sort();
    let listed: Value = serde_json::from_str(&fs::read_to_string(shop().join("diagnostics.json")).unwrap()).unwrap();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let mut listed: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {} {}", text(one, "symbol"), text(one, "tool"), text(one, "code")))
        .collect();
    listed.sort();
    assert_eq!(found.join("\n"), listed.join("\n"), "left: found, right: listed");
}
