//! Places of real servers that are none in the text as it is: cells of notebooks.

use serde_json::json;

use crate::support::mcp::McpClient;
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
