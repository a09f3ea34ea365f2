//! What a user's rule for a program lets a model run, in a shell where nobody can be asked.

use std::process::Command;

use serde_json::{Value, json};

use crate::cli::sextant;
use crate::nvim::ask::step;
use crate::support::model_server::Reply;
use crate::support::project::Project;
use crate::support::scripted::{Scripted, said};

const SECRET: &str = "orange juice";

fn git(scripted: &Scripted, arguments: &[&str]) -> String {
    let name = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let folder = scripted.project.root();
    let done = Command::new("git").current_dir(folder).args(name).args(arguments).output().expect("git");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// A repository of two commits with a secret in it, and a change that is not committed.
async fn repository(rules: &str) -> Scripted {
    let files = [("a.py", "X = 1\n"), (".env", "PLAIN_WORDS = orange juice\n"), ("package.json", "{}\n")];
    let head = format!("commands_allowed = {rules}\n[limits]\nsteps = 60\nerrors = 99\n");
    let scripted = Scripted::alone(&files, "style = \"step\"\n", &head, Vec::new()).await;
    git(&scripted, &["init", "-q"]);
    git(&scripted, &["add", "-A", "-f"]);
    git(&scripted, &["commit", "-qm", "first"]);
    git(&scripted, &["commit", "-qm", "second", "--allow-empty"]);
    scripted.project.write("a.py", "X = 2\n");
    scripted
}

/// Lets a model run these lines; how each of them went, and all that the model was sent.
fn run(scripted: &Scripted, lines: &[Vec<&str>]) -> (Vec<(bool, String)>, String) {
    for line in lines {
        scripted.model.push(step("run_command", json!({"command": line}), true));
    }
    let end = json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "ok"});
    scripted.model.push(Reply::Json(end));
    let output = scripted.run(&["ask", "try it", "--json"]);
    let shown = said(&output);
    let events = shown.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let acted = events.filter(|event| event["type"] == "acted");
    let acted: Vec<_> =
        acted.map(|event| (event["ok"] == true, event["text"].as_str().unwrap_or_default().to_owned())).collect();
    assert_eq!(acted.len(), lines.len(), "{shown}");
    let sent = scripted.model.requests().iter().map(|request| request.body.to_string()).collect();
    (acted, sent)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_for_git_or_npm_lets_through_what_reads_and_nothing_else() {
    let scripted = repository("[\"git\", \"npm\"]").await;
    let (blob, tree) = (git(&scripted, &["rev-parse", "HEAD:.env"]), git(&scripted, &["rev-parse", "HEAD^{tree}"]));
    let lines = [
        vec!["git", "rebase", "--autostash", "-x", "touch made", "HEAD~1"],
        vec!["git", "checkout", "--", "a.py"],
        vec!["git", "show", &blob],
        vec!["git", "cat-file", "-p", &blob],
        vec!["git", "show", "--raw", &tree, &blob],
        vec!["git", "grep", "--untracked", "--no-exclude-standard", "-n", "PLAIN_WORDS"],
        vec!["npm", "c", "set", "script-shell", "/bin/false"],
        vec!["npm", "pkg", "set", "scripts.test=touch made"],
    ];
    let (acted, sent) = run(&scripted, &lines);
    for (line, (ok, text)) in lines.iter().zip(&acted) {
        assert!(!ok && text.contains("nobody can be asked"), "{line:?}: {text}");
    }
    assert!(!sent.contains(SECRET), "the secret is sent");
    let project = &scripted.project;
    assert!(!project.root().join("made").exists() && !project.beside("home").join(".npmrc").exists());
    assert_eq!((project.read("a.py").as_str(), project.read("package.json").as_str()), ("X = 2\n", "{}\n"));
    let reads = [vec!["git", "ls-files"], vec!["git", "grep", "-n", "X", "--", "a.py"]];
    for (ok, text) in run(&scripted, &reads).0 {
        assert!(ok, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_looks_without_a_rule_and_leaves_secrets_out() {
    let scripted = repository("[]").await;
    let reads = [
        vec!["git", "status", "-s"],
        vec!["git", "log", "--oneline", "-p"],
        vec!["git", "diff"],
        vec!["git", "show", "HEAD:a.py"],
        vec!["git", "blame", "a.py"],
    ];
    let (acted, sent) = run(&scripted, &reads);
    for (line, (ok, text)) in reads.iter().zip(&acted) {
        assert!(*ok, "{line:?}: {text}");
    }
    assert!(!sent.contains(SECRET), "the secret is sent");
}

#[test]
fn what_a_servers_command_edits_is_confined_as_an_edit() {
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    for (path, is_taken) in [("a.py", true), ("b.py", false), (".nvim.lua", false)] {
        let project = Project::new(&[("a.py", "bad = 1\n"), ("b.py", "bad = 1\n"), (".nvim.lua", "bad = 1\n")]);
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}});
        let uri = format!("file://{}", project.root().join(path).display());
        let edit = json!({"edit": {"changes": {uri: [{"range": range, "newText": "ok"}]}}});
        let action = json!({"title": "Fix it", "kind": "quickfix", "command": {"title": "f", "command": "fix"}});
        let script = json!({
            "log": "log",
            "capabilities": {"codeActionProvider": true, "executeCommandProvider": {"commands": ["fix"]}},
            "on": {
                "textDocument/didOpen": [publish], "textDocument/didChange": [publish],
                "textDocument/codeAction": [{"reply": [action]}],
                "workspace/executeCommand": [{"ask": ["workspace/applyEdit", edit]}, {"reply": null}],
            },
        });
        let fake = crate::mcp::with_fake(&project, &script);
        sextant(&project, &["ask", "fix the errors", "--file", "a.py", "--headless"]);
        let log = std::fs::read_to_string(format!("{fake}/log")).expect("a log");
        assert!(log.contains("workspace/executeCommand"), "{path}: {log}");
        for file in ["a.py", "b.py", ".nvim.lua"] {
            let wanted = if is_taken && file == path { "ok = 1\n" } else { "bad = 1\n" };
            assert_eq!(project.read(file), wanted, "{path}: {file}");
        }
    }
}
