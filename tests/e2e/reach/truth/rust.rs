//! The truth about Rust: cargo's own run over every target, as far as each can be compiled.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use sextant::diagnostics::model::{Diagnostic, Severity};

use crate::reach::language::Checker;
use crate::reach::truth::Said;
use crate::support::servers::tool;

/// The statuses of a run that was not cut short.
const RAN: [Option<i32>; 2] = [Some(0), Some(101)];

/// `None` if cargo reads no manifest or the compiler crashes.
pub async fn of(checker: Checker, root: &Path) -> Option<Vec<Diagnostic>> {
    let verb = if checker == Checker::Clippy { "clippy" } else { "check" };
    let mut run = tokio::process::Command::new(tool("cargo"));
    // Without the last one, a target is compiled or not as the others happen to end.
    run.args([verb, "--workspace", "--all-targets", "--quiet", "--message-format", "json", "--keep-going"]);
    let output = run.env_remove("CARGO_TARGET_DIR").current_dir(root).output().await.expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_whole = RAN.contains(&output.status.code())
        && messages.iter().any(|message| message["reason"] == "build-finished")
        && !messages.iter().any(|message| message["message"]["level"] == "error: internal compiler error");
    let mut found: Vec<Diagnostic> = Vec::new();
    for one in messages.iter().filter_map(diagnostic) {
        // A file is compiled for the library, and again for its tests.
        if !found.contains(&one) {
            found.push(one);
        }
    }
    is_whole.then_some(found)
}

/// The files that the compiler has read in the runs so far, as it notes them beside what it makes.
pub fn read(root: &Path) -> BTreeSet<String> {
    let notes = std::fs::read_dir(root.join("target/debug/deps")).expect("a folder").flatten();
    let is_note = |path: &Path| path.extension().is_some_and(|ending| ending == "d");
    let texts = notes.filter(|note| is_note(&note.path())).filter_map(|note| std::fs::read_to_string(note.path()).ok());
    // Each file is a line that ends with a colon.
    let files =
        |text: String| text.lines().filter_map(|line| Some(line.strip_suffix(':')?.to_owned())).collect::<Vec<_>>();
    texts.flat_map(files).collect()
}

fn diagnostic(line: &Value) -> Option<Diagnostic> {
    let message = &line["message"];
    let severity = match message["level"].as_str()? {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let spans = message["spans"].as_array()?;
    let mut span = spans.iter().find(|span| span["is_primary"] == true)?;
    // A place in a macro of another crate is told where the macro is used.
    while span["file_name"].as_str().is_some_and(|file| file.starts_with('/')) {
        span = span.get("expansion")?.get("span")?;
    }
    let number = |name: &str| u32::try_from(span[name].as_u64().unwrap_or_default()).unwrap_or_default();
    let place = |line: &str, column: &str| (number(line).saturating_sub(1), number(column).saturating_sub(1));
    let said = Said {
        file: span["file_name"].as_str()?,
        start: place("line_start", "column_start"),
        end: place("line_end", "column_end"),
        severity,
        code: message["code"]["code"].as_str(),
        message: message["message"].as_str().unwrap_or_default(),
    };
    Some(said.diagnostic("tool:cargo"))
}
