//! Places of real servers that are none in the text as it is: cells of notebooks, lines that end in a `\r`.

use std::process::Command;

use serde_json::json;

use crate::support::mcp::{McpClient, servers};
use crate::support::project::Project;

const CART: &str = "def total() -> int:\n    return 1\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_that_reaches_into_a_notebook_changes_nothing() {
    let cell = |lines: &[&str]| json!({"cell_type": "code", "source": lines, "metadata": {}, "outputs": [], "execution_count": null});
    let cells = [cell(&["import cart\n", "x = cart.total()\n"]), cell(&["y = cart.total()\n"])];
    let notebook = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string();
    let project = Project::new(&[("cart.py", CART), ("n.ipynb", &notebook)]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let rename = json!({"symbol": "cart.py::total", "new_name": "amount"});
    let refused = client.refused("rename_symbol", rename).await;
    assert!(refused.contains("n.ipynb") && refused.contains("by hand"), "{refused}");
    assert_eq!((project.read("n.ipynb"), project.read("cart.py").as_str()), (notebook, CART));
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_server_changes_a_text_whose_lines_it_counts_otherwise() {
    let use_of = "from cart import total\r\rprint(total())\r";
    let project = Project::new(&[("cart.py", CART), ("cr.py", use_of)]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let rename = json!({"symbol": "cart.py::total", "new_name": "amount"});
    let refused = client.refused("rename_symbol", rename).await;
    assert!(refused.contains("cr.py") && refused.contains("carriage return"), "{refused}");
    assert_eq!((project.read("cr.py").as_str(), project.read("cart.py").as_str()), (use_of, CART));
    assert!(client.end().await.success());

    let text = "import os\r\r\nimport sys\r\r\n\r\r\nprint(f\"x\")\r\r\nprint(sys.path)\r\r\n";
    let project = Project::new(&[("a.py", text)]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.args(["ask", "fix the ruff warnings", "--file", "a.py", "--servers", &servers()]);
    command.args(["--timeout-ms", "120000"]).current_dir(project.root());
    command.env("XDG_CONFIG_HOME", project.beside("config")).env("XDG_STATE_HOME", project.state_home());
    let output = tokio::task::block_in_place(|| command.output()).expect("the binary");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(project.read("a.py"), text, "{said}");
    assert!(!output.status.success() && said.contains("carriage return"), "{said}");
}
