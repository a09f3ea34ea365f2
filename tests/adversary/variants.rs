//! The names of the two tables in other spellings, in folders and as copies: no secret is read, no file that runs written.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::hostile::{Fake, step};
use crate::model::REQUEST;
use crate::sandbox::{SECRET, Sandbox, put, turn};
use crate::seed::{Chance, cases, seed};

const SECRETS: &[&str] = &[
    ".env",
    ".env.local",
    ".env_prod",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    "id_rsa",
    "id_ed25519",
    "server.key",
    "server.pem",
    "store.jks",
    "prod.tfvars",
    "terraform.tfstate",
    "kubeconfig",
    "credentials.json",
    "secrets.yml",
    "auth.json",
    "rclone.conf",
    "wp-config.php",
    "service-account.json",
    ".vault-token",
    ".aws/credentials",
    ".ssh/config",
    ".docker/config.json",
    ".config/gcloud/access_tokens.db",
    ".config/gh/hosts.yml",
    ".m2/settings.xml",
    ".kube/config",
];
const RUNNING: &[&str] = &[
    ".nvim.lua",
    ".exrc",
    ".exrc.lua",
    ".vimrc",
    ".local.vimrc",
    ".bash_aliases",
    ".bashrc",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".devcontainer.json",
    ".devcontainer/devcontainer.json",
    "devcontainer.json",
    "Makefile",
    "GNUmakefile",
    "justfile",
    "Taskfile.dist.yml",
    "docker-bake.hcl",
    "docker-compose.override.yml",
    "action.yml",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    "conftest.py",
    "sitecustomize.py",
    "setup.py",
    "pytest.toml",
    ".pytest.ini",
    "tox.ini",
    "mise.toml",
    ".mise.toml",
    "lefthook.yml",
    "lefthook-local.yml",
    ".husky/pre-commit",
    ".gitattributes",
    "package.json",
    "build.rs",
    ".cargo/config.toml",
    "AGENTS.md",
    "CLAUDE.md",
    "WARP.md",
    "crush.json",
    "opencode.jsonc",
    ".claude/settings.json",
    ".cursor/rules/x.mdc",
    ".config/nvim/init.lua",
    ".config/git/config",
    ".config/fish/config.fish",
    "ftplugin/python.lua",
    "after/plugin/x.lua",
    ".emacs.d/init.el",
    "venv/bin/python",
    ".venv/bin/activate",
    "node_modules/.bin/eslint",
    "vite.config.ts",
    "requirements.txt",
    "x.pth",
    "Dockerfile",
];

/// What stands behind a copy.
const COPIES: &[&str] = &["~", ".bak", ".old", ".orig", ".swp", ".1", ".save", ".bak2", " copy", ".tmp", ".2024-01-31"];
const FOLDERS: &[&str] = &["", "sub/", "deep/er/", "./", "sub/../", "sub//"];

/// A name as a disk that minds no case would find it, or that is written otherwise.
fn spelled(name: &str, chance: &mut Chance) -> String {
    match chance.below(4) {
        0 => name.to_ascii_uppercase(),
        1 => name.chars().map(|c| if chance.odds(2) { c.to_ascii_uppercase() } else { c }).collect(),
        2 => name.chars().map(|c| if c == 'k' { '\u{212a}' } else { c }).collect(),
        _ => name.to_owned(),
    }
}

fn secret(chance: &mut Chance) -> String {
    let name = spelled(SECRETS[chance.below(SECRETS.len())], chance);
    let copied = match chance.below(3) {
        0 => format!("{name}{}", chance.pick(COPIES)),
        1 if !name.contains('/') => format!("#{name}#"),
        _ => name,
    };
    format!("{}{copied}", chance.pick(FOLDERS))
}

fn running(chance: &mut Chance) -> String {
    let name = spelled(RUNNING[chance.below(RUNNING.len())], chance);
    format!("{}{name}", chance.pick(FOLDERS))
}

/// Half of them secrets; all different.
fn paths() -> (Vec<String>, Vec<String>) {
    let made = |of: fn(&mut Chance) -> String, from: usize| {
        let mut paths: Vec<String> = Vec::new();
        let wanted = cases(500).div_ceil(2);
        let mut number = from;
        while paths.len() < wanted {
            let path = of(&mut Chance::of_case(number));
            number += 1;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    };
    (made(secret, 0), made(running, 10_000_000))
}

fn lay(sandbox: &Sandbox, secrets: &[String]) {
    sandbox.reset();
    for folder in ["sub", "deep/er"] {
        put(&sandbox.project.join(folder).join("x.py"), "X = 1\n");
    }
    for path in secrets {
        put(&sandbox.project.join(path), &format!("value: {SECRET}\n"));
    }
}

/// Calls of tools over MCP, each with its answer.
fn over_mcp(sandbox: &Sandbox, calls: &[Value]) -> Vec<String> {
    let mut command = sandbox.command(&["mcp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ask = |message: Value| {
        writeln!(input, "{message}").expect("it reads");
        let mut line = String::new();
        if message["id"].is_null() {
            return line;
        }
        output.read_line(&mut line).expect("it answers");
        line
    };
    let about =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}));
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let answers = calls
        .iter()
        .enumerate()
        .map(|(number, call)| ask(json!({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": call})));
    let answers = answers.collect();
    drop(input);
    let _ = child.wait();
    answers
}

/// What was written of files that run.
fn written(sandbox: &Sandbox, running: &[String]) -> Vec<String> {
    let there = |path: &&String| sandbox.project.join(path).symlink_metadata().is_ok();
    running.iter().filter(there).map(|path| format!("written without a question: {path:?}")).collect()
}

#[test]
fn no_variant_of_a_name_is_read_or_written_by_a_client() {
    let _turn = turn();
    let (secrets, running) = paths();
    let sandbox = Sandbox::new();
    lay(&sandbox, &secrets);
    let read = |path: &String| json!({"name": "read_file", "arguments": {"path": path}});
    let write = |path: &String| json!({"name": "write_file", "arguments": {"path": path, "content": "trap\n"}});
    let calls: Vec<Value> = secrets.iter().map(read).chain(secrets.iter().chain(&running).map(write)).collect();
    let answers = over_mcp(&sandbox, &calls);
    let mut problems = written(&sandbox, &running);
    for (call, answer) in calls.iter().zip(&answers) {
        if answer.contains(SECRET) || !answer.contains("\"isError\":true") {
            problems.push(format!("{call}: {answer}"));
        }
    }
    println!("variants: seed {}, {} calls", seed(), calls.len());
    assert!(problems.is_empty(), "seed {}:\n{}", seed(), problems.join("\n"));
}

#[test]
fn no_variant_of_a_name_is_read_or_written_by_a_model() {
    let _turn = turn();
    let (secrets, running) = paths();
    let sandbox = Sandbox::new();
    let mut problems = Vec::new();
    let read = |path: &String| step("read_file", json!({"path": path}), true);
    let write = |path: &String| step("write_file", json!({"path": path, "content": "trap\n"}), true);
    let actions: Vec<Value> = secrets.iter().map(read).chain(running.iter().map(write)).collect();
    for some in actions.chunks(50) {
        lay(&sandbox, &secrets);
        sandbox.configure("servers = []\n[limits]\nsteps = 60\nerrors = 100\n");
        let model = Fake::script(some.iter().cloned());
        let run = sandbox.run(&model.arguments(&["ask", REQUEST, "--json"]));
        let asked = model.asked();
        if asked.len() < some.len() {
            problems.push(format!("only {} were tried: {}", asked.len(), run.text()));
        }
        if asked.iter().any(|body| body.contains(SECRET)) {
            problems.push(format!("a secret is in a request: {some:?}"));
        }
        problems.extend(written(&sandbox, &running));
    }
    assert!(problems.is_empty(), "seed {}:\n{}", seed(), problems.join("\n"));
}

#[test]
fn no_variant_of_a_file_that_runs_is_written_by_a_plan_that_nobody_has_read() {
    let _turn = turn();
    let (_, running) = paths();
    let sandbox = Sandbox::new();
    let mut problems = Vec::new();
    for some in running.chunks(10).take(4) {
        lay(&sandbox, &[]);
        sandbox.configure("servers = []\n[limits]\nsteps = 60\nerrors = 100\n");
        let steps: Vec<Value> = some
            .iter()
            .map(|path| {
                json!({"title": format!("write {path}"), "kind": "edit", "symbols": [path], "because": "asked", "with": [],
                    "after": [], "creates": [path], "expect": "it is there", "check": [], "fallback": ""})
            })
            .collect();
        let plan = json!({"title": "Set up", "reason": "asked", "confidence": 1, "steps": steps});
        let write = some.iter().map(|path| step("write_file", json!({"path": path, "content": "trap\n"}), false));
        let model = Fake::script(std::iter::once(plan).chain(write));
        let run = sandbox.run(&model.arguments(&["plan", REQUEST, "--approve", "--answer", "1"]));
        if model.asked().len() < 2 {
            problems.push(format!("no step ran: {}", run.text()));
        }
        problems.extend(written(&sandbox, &running));
    }
    assert!(problems.is_empty(), "seed {}:\n{}", seed(), problems.join("\n"));
}
