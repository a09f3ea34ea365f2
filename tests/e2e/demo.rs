//! `make demo` says that the job was not done where it was not, and that the workspace is not what it was.

use std::path::Path;
use std::process::Command;

use crate::support::nvim::binary;
use crate::support::project::Project;
use crate::support::servers::{language_tools, tool};

/// What `make demo` runs where there is no terminal, on another project.
const RUN: &str = "import pathlib, sys
here, project, place, binary = map(pathlib.Path, sys.argv[1:5])
sys.path.insert(0, str(here))
import run
run.transcript(project, place, binary, run.DEMOS[sys.argv[5]])";

const SETTINGS: &str =
    "[project]\nname = \"project\"\nversion = \"1\"\n\n[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n";

/// The demo's file with this many diagnostics that a server offers to fix, and one that none can.
fn project(fixable: usize) -> Project {
    let imports: String = ["json", "math", "re"].iter().take(fixable).map(|name| format!("import {name}\n")).collect();
    let file = format!("{imports}\n\ndef size() -> int:\n    return \"none\"\n");
    Project::new(&[("pyproject.toml", SETTINGS), ("src/shop/report.py", &file)])
}

/// The status, and all that was printed.
fn demo(project: &Project) -> (Option<i32>, String) {
    demo_of(project, "python")
}

fn demo_of(project: &Project, language: &str) -> (Option<i32>, String) {
    tool("basedpyright-langserver");
    let ruff = tool("ruff");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/demo");
    let output = Command::new(tool("python3"))
        .args(["-B", "-c", RUN])
        .args([&here, project.root(), &project.beside("demo"), Path::new(env!("CARGO_BIN_EXE_sextant"))])
        .arg(language)
        .env("SEXTANT_NVIM", binary())
        .env("SEXTANT_TOOLS", ruff.parent().expect("a folder"))
        .output()
        .expect("python3");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_typescript_project_is_made_clean_and_is_what_it_was_after_the_undo() {
    language_tools("vtsls");
    let (status, said) = demo_of(&Project::copy_of("tests/fixtures/storefront"), "typescript");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("0 new diagnostics, 5 fixed") && said.contains("byte for byte"), "{said}");
}

#[test]
fn too_few_diagnostics_fixed_is_a_failure() {
    let (status, said) = demo(&project(1));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("demo: only 1 diagnostics were fixed"), "{said}");
    assert!(said.contains("demo: the job was not done"), "{said}");
}

#[test]
fn a_plan_that_no_server_has_a_fix_for_is_a_failure() {
    let file = "def size() -> int:\n    return missing\n";
    let project = Project::new(&[("pyproject.toml", SETTINGS), ("src/shop/report.py", file)]);
    let (status, said) = demo(&project);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains(
            "demo: no plan: # Nothing to apply\n\nNo fix that may be applied here is offered for 1 diagnostic"
        ) && said.contains("demo: the job was not done"),
        "{said}"
    );
}

#[test]
fn a_workspace_that_is_not_what_it_was_is_a_failure() {
    // Neovim takes the spaces at line ends away at every write, that of the undo too.
    let project = project(3);
    project.write(".editorconfig", "root = true\n\n[*.py]\ntrim_trailing_whitespace = true\n");
    project.write("src/shop/report.py", &project.read("src/shop/report.py").replace("-> int:", "-> int:  "));
    let (status, said) = demo(&project);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains(":AgentUndo") && said.contains("3 fixed"), "the job itself was done: {said}");
    assert!(said.contains("demo: the workspace is not what it was: src/shop/report.py\n"), "{said}");
    assert!(!said.contains("byte for byte"), "{said}");
}

#[test]
fn a_job_that_was_done_is_a_success() {
    let (status, said) = demo(&project(3));
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("The workspace is what it was, byte for byte (2 files"), "{said}");
}
