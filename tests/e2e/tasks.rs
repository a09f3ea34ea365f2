//! The harness of `make tasks` itself, on three tasks: one a mode, judged by its own check from outside.

use std::path::Path;
use std::process::Command;

use crate::support::servers::tool;

/// Runs the harness with the binary and the tools of this test; its words, and whether all went as it must.
pub fn harness(arguments: &[&str]) -> (String, bool) {
    let tools = tool("ruff").parent().expect("a folder").to_owned();
    tool("basedpyright");
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tasks/run.py"))
        .args(arguments)
        .env("SEXTANT_BINARY", env!("CARGO_BIN_EXE_sextant"))
        .env("SEXTANT_TOOLS", tools)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3");
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (words(&output.stdout) + &words(&output.stderr), output.status.success())
}

#[test]
fn one_task_a_mode_is_done_by_the_harness_s_own_check() {
    let (said, ok) = harness(&["--part", "quick"]);
    assert!(ok && said.contains("3 tasks") && said.contains("0 not as they must be"), "{said}");
    for words in ["simple     offline", "planner    scripted", "supervised scripted", "1. go on with the next step"] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
}
