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

#[tokio::test(flavor = "multi_thread")]
async fn an_error_elsewhere_in_the_text_hides_no_symbol_that_is_known() {
    // The grammar does not know the macro; the rest is read.
    let text = "FOO_BEGIN(x) {\n\nint helper_one(int a) { return a; }\n";
    let project = Project::new(&[("macro.cpp", text)]);
    let mut client = McpClient::open(&project, "codex", &["--servers", "none"]).await;
    let refused = client.refused("read_symbol", json!({"symbol": "macro.cpp::Box::helper_one"})).await;
    assert!(refused.contains("helper_one") && !refused.contains("does not parse"), "{refused}");
    let renamed = json!({"symbol": "macro.cpp::helper_one", "action": "replace",
        "content": "int helper_two(int a) { return a; }"});
    let answer = client.edit("edit_symbol", renamed).await;
    assert!(!answer["notes"].to_string().contains("does not parse"), "{answer:#}");
    assert!(client.end().await.success());
}
