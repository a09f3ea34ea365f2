//! A symbol that disappears behind a syntax error: the answer names the error, and the tool that repairs it.

use serde_json::json;

use super::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;

const ROW: &str = "export const Row = ({ label }: { label: string }) => (\n  <li>{label}</li>\n);\n\nexport function Total() {\n  \
                   return <b>1</b>;\n}\n";
const GREET: &str = "greet() {\n  if true; then\n    echo hi\n  fi\n}\n\nleave() {\n  echo bye\n}\n";

struct Case {
    file: &'static str,
    text: &'static str,
    name: &'static str,
    /// A replacement of the symbol that hides it.
    broken: &'static str,
    /// The wrong part of that, and the right one.
    repair: (&'static str, &'static str),
}

const CASES: [Case; 2] = [
    Case {
        file: "row.tsx",
        text: ROW,
        name: "Row",
        broken: "export const Row = ({ label }: { label: string }) => (\n  <li>{label}<li>\n);",
        repair: ("{label}<li>", "{label}</li>"),
    },
    Case {
        file: "deploy.sh",
        text: GREET,
        name: "greet",
        broken: "greet() {\n  if true; then\n    echo hi\n}",
        repair: ("echo hi\n}", "echo hi\n  fi\n}"),
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_symbol_behind_a_syntax_error_is_named_with_the_way_to_it() {
    for Case { file, text, name, broken, repair } in CASES {
        let project = Project::new(&[(file, text)]);
        let mut client = McpClient::open(&project, "codex", &["--servers", "none"]).await;
        let symbol = format!("{file}::{name}");
        let replaced = |content: &str| json!({"symbol": symbol, "action": "replace", "content": content});
        let id = client.ask("tools/call", json!({"name": "edit_symbol", "arguments": replaced(broken)})).await;
        let answer = client.answer().await;
        assert_eq!(answer["id"], json!(id));
        let words = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let hidden = format!("the new text does not parse and hides {name}: edit_file repairs it");
        assert!(words.contains(&hidden), "{file}: {answer:#}");
        let refused = client.refused("edit_symbol", replaced("anything")).await;
        let missing = format!("no single symbol {name} in {file}, which does not parse");
        assert!(refused.contains(&missing) && refused.contains("edit_file repairs its text"), "{refused}");
        let unknown = client.refused("read_symbol", json!({"symbol": format!("{file}::nowhere")})).await;
        assert!(!unknown.contains("does not parse"), "no text has the name: {unknown}");
        client.edit("edit_file", replace(file, repair.0, repair.1)).await;
        let source = client.read("read_symbol", json!({"symbol": symbol})).await;
        assert!(source.starts_with(&symbol), "{source}");
        assert!(client.end().await.success());
    }
}
