//! Files with an example of use in a comment, beside the one that does use what an edit changes.

use std::collections::BTreeSet;

use serde_json::json;

use crate::closed::shapes::reported;
use crate::reach::doors::binary;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::language_tools;

const STRICT: &str = "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"types\": []}}\n";
const ITEM: &str = "export function item(): number {\n  return 1;\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_example_in_a_comment_is_no_use_of_a_changed_name() {
    let project = Project::new(&[
        ("tsconfig.json", STRICT),
        ("src/item.ts", ITEM),
        ("src/user.ts", "import { item } from './item';\n\nexport const two = item() * 2;\n"),
    ]);
    // More than an edit looks at.
    for number in 0..40 {
        let example = "/**\n * import { item } from 'item';\n * item();\n */\n";
        let text = format!("{example}export const at{number} = {number};\n");
        project.write(&format!("src/at{number}.ts"), &text);
    }
    let folder = language_tools("vtsls").display().to_string();
    let options = ["--servers", &folder, "--timeout-ms", "120000"];
    let mut client = McpClient::start_binary(&project, &binary(), project.root(), &options);
    client.begin("codex").await;
    let renamed = json!({"path": "src/item.ts", "content": ITEM.replace("item()", "items()")});
    let answer = client.edit("write_file", renamed).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
    assert_eq!(reported(&answer).len(), 1, "{answer}");
    assert!(
        reported(&answer).is_subset(&BTreeSet::from(["2305", "2724"].map(|code| ("src/user.ts".into(), code.into()))))
    );
    assert!(client.end().await.success());
}
