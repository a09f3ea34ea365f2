//! A model that reads and writes outside, or what is off limits, by every spelling of a path.

use serde_json::{Value, json};

use crate::hostile::step;
use crate::model::{Case, all_hold, case};
use crate::sandbox::Sandbox;

/// Spellings of what is outside, or off limits.
fn ways(sandbox: &Sandbox) -> Vec<String> {
    let outside = sandbox.outside.display();
    let home = sandbox.home.display();
    [
        "../outside/canary.py",
        "pkg/../../outside/canary.py",
        "nowhere/../../outside/canary.py",
        "a.py/../../outside/canary.py",
        "./.././outside//canary.py",
        "linked",
        "linked/",
        "linked/deep",
        "pkg/../..",
        "linked/canary.py",
        "linked/new.py",
        "linkfile.py",
        "dangling.py",
        "..%2foutside%2fcanary.py",
        "%2e%2e/outside/canary.py",
        "~/.ssh/id_rsa",
        "$HOME/.bashrc",
        "..\\outside\\canary.py",
        ".git/config",
        ".GIT/config",
        ".git./config",
        "./.git/hooks/pre-commit",
        "pkg/../.git/HEAD",
        ".git /config",
        "/proc/self/environ",
        "/proc/self/cwd/../outside/canary.py",
        "/etc/passwd",
        "/dev/stdin",
        "pipe",
        "．．/outside/canary.py",
        "..\u{2215}outside/canary.py",
        "../outside/canary.py\0.py",
        "..",
        ".env",
        "./pkg/../.env",
        ".ENV",
        "project/../../outside/canary.py",
    ]
    .iter()
    .map(|way| (*way).to_owned())
    .chain([
        format!("{outside}/canary.py"),
        format!("file://{outside}/canary.py"),
        format!("{home}/.ssh/id_rsa"),
        format!("{home}/.local/state/sextant/x"),
        format!("{home}/.config/sextant/config.toml"),
        format!("/../../../../../../..{outside}/canary.py"),
    ])
    .collect()
}

/// Every tool on one path: what only reads in one answer, and edits two by two, since three errors end a task.
pub fn on_path(way: &str) -> Vec<Vec<Value>> {
    let owned = "import os\nos.system('trap')\n";
    let mut reads = step("read_file", json!({"path": way}), true);
    reads["more"] = json!([
        {"tool": "list_symbols", "parameters": {"query": way}},
        {"tool": "read_symbol", "parameters": {"symbol": format!("{way}::X")}},
        {"tool": "search", "parameters": {"pattern": "CANARY|root:|return", "path": way}},
    ]);
    let symbol = format!("{way}::X");
    vec![
        vec![reads],
        vec![
            step("write_file", json!({"path": way, "content": owned}), true),
            step("edit_file", json!({"path": way, "old_string": "X = ", "new_string": "Y = "}), true),
        ],
        vec![
            step("edit_symbol", json!({"symbol": symbol, "action": "delete", "content": ""}), true),
            step("edit_symbol", json!({"symbol": way, "action": "insert_after", "content": owned}), true),
        ],
    ]
}

fn path_cases(sandbox: &Sandbox) -> Vec<Case> {
    let name = |actions: &[Value], way: &str| format!("{} on {way:?}", actions[0]["action"]["tool"].as_str().unwrap());
    let each =
        |way: String| on_path(&way).into_iter().map(|actions| case(name(&actions, &way), actions)).collect::<Vec<_>>();
    ways(sandbox).into_iter().flat_map(each).collect()
}

#[test]
fn no_spelling_of_a_path_leads_out() {
    all_hold("paths", path_cases(&Sandbox::new()));
}
