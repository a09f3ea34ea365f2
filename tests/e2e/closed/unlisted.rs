//! What an edit breaks in files that a listing leaves out: tracked ones that git ignores, hidden ones, links.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;

const SHOP: &str = "def total() -> int:\n    return 1\n";
const SETTINGS: &str = "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\ninclude = [\".\", \".scripts\"]\n";

fn project(user: &str, module: &str) -> Project {
    let text = format!("from {module} import total\n\nprice: int = total()\n");
    Project::new(&[("pyproject.toml", SETTINGS), (".gitignore", "gen/\n"), ("a/shop.py", SHOP), (user, &text)])
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// The answer to an edit after which the user of the function has an error.
async fn edited(project: &Project) -> Value {
    let mut client = McpClient::with_servers(project, "codex").await;
    let broken = replace("a/shop.py", "int:\n    return 1", "str:\n    return \"1\"");
    let edited = client.edit("edit_file", broken).await;
    assert!(client.end().await.success());
    edited
}

#[tokio::test]
async fn a_tracked_file_is_looked_at_though_git_ignores_its_folder_and_a_hidden_one_too() {
    for user in ["gen/use.py", ".scripts/use.py"] {
        let project = project(user, "a.shop");
        git(project.root(), &["init", "-q"]);
        git(project.root(), &["add", "-f", "."]);
        let edited = edited(&project).await;
        assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
        assert!(edited["new_diagnostics"].to_string().contains(user), "{edited}");
    }
}

#[tokio::test]
async fn an_ignored_file_and_one_behind_a_link_leave_the_answer_partial_with_the_reason() {
    type Link = (&'static str, &'static str);
    let cases: [(&str, &str, Option<Link>, &str); 4] = [
        ("gen/use.py", "a.shop", None, "git ignores it"),
        ("use.py", "old", Some(("old.py", "a/shop.py")), "by a link"),
        ("use.py", "old.shop", Some(("old", "a")), "by a link"),
        ("other/use.py.txt", "a.shop", Some(("use.py", "other/use.py.txt")), "it is a link"),
    ];
    for (user, module, link, why) in cases {
        let project = project(user, module);
        if let Some((link, target)) = link {
            symlink(target, project.root().join(link)).expect("a link");
        }
        git(project.root(), &["init", "-q"]);
        let edited = edited(&project).await;
        assert_eq!(edited["diagnostics_status"], "partial", "{user}: {edited}");
        assert!(edited["pending"].to_string().contains(why), "{user}: {edited}");
    }
}
