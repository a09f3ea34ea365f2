//! Shell scripts beside an edit, with the real bash-language-server and shellcheck: it looks at a text only when it gets
//! it.

use serde_json::{Value, json};

use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::language_tools;

/// A library, a script that sources it, and one that sources nothing.
pub(crate) const FILES: [(&str, &str); 3] = [
    ("lib.sh", "#!/usr/bin/env bash\nname=world\nexport name\ngreet() {\n  echo \"hi\"\n}\n"),
    (
        "other.sh",
        "#!/usr/bin/env bash\n# shellcheck source=lib.sh\nsource ./lib.sh\nleave() {\n  echo \"bye $name\"\n}\nleave\n",
    ),
    ("main.sh", "#!/usr/bin/env bash\nrun() {\n  echo \"run\"\n}\nrun\n"),
];

/// An edit that the answer knows everything about.
async fn complete(client: &mut McpClient, edit: Value) -> Value {
    let answer = client.edit("edit_file", edit).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer:#}");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_were_asked_about_are_known_after_each_edit_of_another_one() {
    let project = Project::new(&FILES);
    let folder = language_tools("bash-language-server").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "60000"]).await;
    let uses = client.read("find_references", json!({"symbol": "other.sh::leave"})).await;
    assert!(uses.contains("other.sh"), "{uses}");
    for (old, new) in [("\"run\"", "\"ran\""), ("\"ran\"", "\"run\"")] {
        let answer = complete(&mut client, replace("main.sh", old, new)).await;
        assert_eq!(answer["new_diagnostics"], json!([]), "{answer:#}");
    }
    let broken = complete(&mut client, replace("lib.sh", "name=world\nexport name\n", "")).await;
    let new = broken["new_diagnostics"].as_array().expect("a list");
    assert!(new.len() == 1 && new[0]["path"] == "other.sh" && new[0]["code"] == "SC2154", "{broken:#}");
    let repaired = complete(&mut client, replace("lib.sh", "greet() {", "name=world\nexport name\ngreet() {")).await;
    assert_eq!(repaired["fixed"], 1, "{repaired:#}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_call_a_removed_function_are_named_as_not_known() {
    let project = Project::new(&[
        ("lib.sh", "#!/bin/sh\ngreet() {\n  echo \"hi\"\n}\nleave() {\n  echo \"bye\"\n}\n"),
        ("main.sh", "#!/bin/sh\n. ./lib.sh\ngreet\nleave\n"),
        ("sub/other.sh", "#!/bin/bash\nHERE=$(dirname \"$0\")\nsource \"$HERE/../lib.sh\"\ngreet\n"),
        ("bin/tool", "#!/usr/bin/env bash\n. \"$LIB\"\ngreet\n"),
        ("own.sh", "#!/bin/sh\ngreet() {\n  echo \"own\"\n}\ngreet\n"),
    ]);
    let folder = language_tools("bash-language-server").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "60000"]).await;
    complete(&mut client, replace("lib.sh", "\"hi\"", "\"hello\"")).await;
    let renamed = client.edit("edit_file", replace("lib.sh", "greet()", "welcome()")).await;
    assert_eq!(renamed["diagnostics_status"], "partial", "{renamed:#}");
    let pending = renamed["pending"].to_string();
    for (script, is_named) in [("main.sh", true), ("sub/other.sh", true), ("bin/tool", true), ("own.sh", false)] {
        assert_eq!(pending.contains(&format!("{script} (may use")), is_named, "{script}: {renamed:#}");
    }
    assert!(client.end().await.success());
}
