//! What a shell changes on disk between two edits: settings of checkers, and files that others import. The next edit is
//! judged by the new state, and nothing that comes from it is blamed on the edit.

use serde_json::{Value, json};

use super::{configure, replace};
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::{language_tools, tool};

fn codes(answer: &Value) -> Vec<&str> {
    let new = answer["new_diagnostics"].as_array().expect("a list");
    let mut codes: Vec<&str> = new.iter().filter_map(|one| one["code"].as_str()).collect();
    codes.sort_unstable();
    codes
}

#[track_caller]
fn is_clean(answer: &Value) {
    assert_eq!((codes(answer), answer["diagnostics_status"].as_str()), (Vec::new(), Some("complete")), "{answer:#}");
}

async fn clangd(files: &[(&str, &str)]) -> (Project, McpClient) {
    let project = Project::new(files);
    let folder = language_tools("clangd").display().to_string();
    let client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    (project, client)
}

const PLAIN: &str = "def f(x: int) -> int:\n    return x\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_judged_by_the_settings_of_checkers_that_a_shell_has_written() {
    let loose = "[tool.basedpyright]\ntypeCheckingMode = \"basic\"\n";
    for (path, settings) in [
        ("pyproject.toml", "[tool.basedpyright]\ntypeCheckingMode = \"strict\"\n"),
        ("pyrightconfig.json", "{\"typeCheckingMode\": \"strict\"}\n"),
        ("ruff.toml", "lint.select = [\"ANN\"]\n"),
    ] {
        let project =
            Project::new(&[("pyproject.toml", loose), ("a.py", PLAIN), ("b.py", "def g(y):\n    return y\n")]);
        let mut client = McpClient::with_servers(&project, "codex").await;
        is_clean(&client.edit("edit_file", replace("b.py", "    return y\n", "    return y\n\n\nn = 1\n")).await);
        is_clean(&client.edit("edit_file", replace("a.py", "return x", "return x + 1")).await);
        project.write(path, settings);
        let answer =
            client.edit("edit_file", replace("a.py", "return x + 1", "return x\n\n\ndef q(y):\n    return y")).await;
        let is_new = codes(&answer).iter().any(|code| *code == "ANN001" || *code == "reportMissingParameterType");
        assert!(is_new && answer["diagnostics_status"] == "complete", "{path}: {answer:#}");
        // The errors that the settings have brought are no edit's.
        is_clean(&client.edit("edit_file", replace("b.py", "n = 1", "n = 2")).await);
        assert!(client.end().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_c_is_judged_by_the_flags_that_a_shell_has_written() {
    let (project, mut client) =
        clangd(&[("compile_flags.txt", "-std=c++20\n"), ("u.cpp", "int z() { return 1; }\n")]).await;
    is_clean(&client.edit("edit_file", replace("u.cpp", "return 1", "return 2")).await);
    project.write("compile_flags.txt", "-std=c++11\n");
    let answer = client.edit("edit_file", replace("u.cpp", "int z()", "auto z()")).await;
    assert_eq!(codes(&answer), ["auto_missing_trailing_return"], "{answer:#}");
    is_clean(&client.edit("edit_file", replace("u.cpp", "return 2", "return 3")).await);
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_not_blamed_for_a_module_that_a_shell_has_removed() {
    let user = "from a import f\n\nprint(f(1) + 1)\n";
    let project = Project::new(&[("a.py", PLAIN), ("u.py", user)]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    is_clean(&client.edit("edit_file", replace("u.py", "+ 1", "+ 2")).await);
    std::fs::remove_file(project.root().join("a.py")).expect("a file");
    is_clean(&client.edit("edit_file", replace("u.py", "+ 2", "+ 3")).await);
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_not_blamed_for_a_header_that_a_shell_has_changed() {
    let (project, mut client) = clangd(&[
        ("compile_flags.txt", "-std=c++20\n"),
        ("a.h", "#pragma once\nint f(int);\n"),
        ("u.cpp", "#include \"a.h\"\nint q = f(1);\n"),
    ])
    .await;
    is_clean(&client.edit("edit_file", replace("u.cpp", "f(1)", "f(2)")).await);
    project.write("a.h", "#pragma once\nint f(const char *);\n");
    is_clean(&client.edit("edit_file", replace("u.cpp", "f(2)", "f(3)")).await);
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_not_blamed_for_the_settings_of_cargo() {
    tool("cargo");
    let manifest = "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let library = "pub async fn z() -> i32 {\n    1\n}\n\n#[cfg(zed)]\npub fn q() -> i32 {\n    \"\"\n}\n";
    let flags = "[build]\nrustflags = [\"--cfg\", \"zed\"]\n";
    for (path, settings) in [("Cargo.toml", manifest.replace("2021", "2015")), (".cargo/config.toml", flags.to_owned())]
    {
        let project = Project::new(&[("Cargo.toml", manifest), (".cargo/empty", ""), ("src/lib.rs", library)]);
        configure(&project, "commands = [\"cargo\"]\n");
        let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
        client.edit("edit_file", replace("src/lib.rs", "    1\n", "    2\n")).await;
        project.write(path, &settings);
        let answer = client.edit("edit_file", replace("src/lib.rs", "    2\n", "    3\n")).await;
        assert_eq!(answer["new_diagnostics"], json!([]), "{path}: {answer:#}");
        assert!(client.end().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_a_new_module_brings_is_new_though_an_import_hid_it() {
    let project = Project::new(&[("o.py", "x = 1\n"), ("use.py", "from a import f\n\nprint(f(1))\n")]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    client.edit("edit_file", replace("o.py", "1", "2")).await;
    let text = "def f(x: str) -> int:\n    return len(x)\n";
    let answer = client.edit("write_file", json!({"path": "a.py", "content": text})).await;
    assert_eq!(codes(&answer), ["reportArgumentType"], "{answer:#}");
    assert!(client.end().await.success());
}
