//! A language server that sends what no server should: it reaches nothing, holds nobody up, and fills no memory.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::hostile::{Fake, step};
use crate::measure::{IDLE, Most, Run, excesses};
use crate::sandbox::{Sandbox, TEXT, turn};
use crate::seed::{Chance, cases, seed};
use crate::stop::{EACH, command, log};
use crate::support::servers::fake_config;

/// What the command may wait for a server, and what it may take beside that.
const WAITS: &str = "[diagnostics]\ntimeout_ms = 500\nstart_timeout_ms = 1000\n";

/// How many messages a case has sent, and what was wrong with it.
fn run_case(sandbox: &Sandbox, number: usize) -> (usize, Run, Vec<String>) {
    sandbox.reset();
    fs::create_dir_all(sandbox.home.join(".local")).unwrap();
    let servers = json!([{"name": "hostile", "command": command(sandbox, number, EACH)}]);
    let command = servers[0]["command"].to_string();
    sandbox.configure(&format!("{WAITS}[[servers]]\nname = \"hostile\"\ncommand = {command}\n"));
    let before = sandbox.snapshot(false);
    let unread = sandbox.unread();
    let commands: &[&[&str]] = &[
        &["ask", "fix the errors", "--file", "a.py"],
        &["plan", "fix the errors", "--file", "a.py", "--approve"],
        &["ask", "fix the errors"],
    ];
    let chosen = *Chance::of_case(number).pick(commands);
    let run = sandbox.run(chosen);
    let mut problems = excesses(&run);
    problems.extend(sandbox.reads(&unread));
    problems.extend(before.changes(&sandbox.snapshot(false)));
    problems.extend(sandbox.ran());
    let sent = fs::read_to_string(log(sandbox)).unwrap_or_default();
    if !problems.is_empty() {
        problems.push(format!("{}, sent: {}", run.arguments.join(" "), sent.lines().collect::<Vec<_>>().join(", ")));
    }
    (sent.lines().count(), run, problems)
}

#[test]
fn a_hostile_server_reaches_nothing() {
    let _turn = turn();
    let wanted = cases(500);
    let (next, sent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found = Mutex::new((Vec::new(), Most::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sandbox = Sandbox::new();
                while sent.load(Ordering::SeqCst) < wanted && next.load(Ordering::SeqCst) < wanted {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let (count, run, problems) = run_case(&sandbox, number);
                    sent.fetch_add(count, Ordering::SeqCst);
                    let mut found = found.lock().unwrap();
                    found.1.note(&run);
                    if !problems.is_empty() {
                        found.0.push(format!("server {number}:\n    {}", problems.join("\n    ")));
                    }
                }
            });
        }
    });
    let (found, most) = found.into_inner().unwrap();
    let sent = sent.into_inner();
    println!(
        "servers: seed {}, {sent} messages of {} servers, {} with problems; {most}",
        seed(),
        next.into_inner(),
        found.len()
    );
    assert!(sent >= wanted, "{sent} messages");
    assert!(found.is_empty(), "seed {}:\n{}", seed(), found.join("\n"));
}

/// Servers that stop answering somewhere; a question without steps is never answered. They go by the name of one that
/// is known to publish once, so that what they publish counts.
fn mute_servers() -> Vec<(&'static str, Value)> {
    let unused = json!([{"range": {"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 9}},
        "severity": 1, "code": "F401", "message": "`os` imported but unused"}]);
    let publish = json!([{"publish": {"items": unused}}]);
    let capabilities = json!({"textDocumentSync": 1, "codeActionProvider": true});
    let pulled = json!({"textDocumentSync": 1, "codeActionProvider": true,
        "diagnosticProvider": {"interFileDependencies": true, "workspaceDiagnostics": false}});
    let (silent, once) = (json!([]), json!([publish, []]));
    let with = |on: Value| json!({"capabilities": capabilities, "on": on});
    vec![
        ("never answers initialize", with(json!({"initialize": silent, "shutdown": silent}))),
        (
            "answers initialize alone",
            json!({"capabilities": pulled, "on": {"textDocument/diagnostic": silent, "textDocument/codeAction": silent,
                "shutdown": silent}}),
        ),
        (
            "answers no code actions",
            with(json!({"textDocument/didOpen": publish, "textDocument/didChange": publish,
                "textDocument/codeAction": silent})),
        ),
        (
            "answers one file and then nothing",
            with(json!({"textDocument/didOpen": once, "textDocument/didChange": silent,
                "textDocument/codeAction": silent, "shutdown": silent})),
        ),
        (
            "answers no shutdown",
            with(json!({"textDocument/didOpen": publish, "textDocument/didChange": publish,
                "textDocument/codeAction": [{"reply": []}], "shutdown": silent})),
        ),
    ]
}

/// The whole time of a command by the clock. Beside it the same one runs without a server: what the machine, the
/// process and the model take is no server's doing, and what is above that is waiting for it.
#[test]
fn a_mute_server_holds_no_command_up() {
    let _turn = turn();
    let sandbox = Sandbox::new();
    let edit =
        |old: &str, new: &str| step("edit_file", json!({"path": "a.py", "old_string": old, "new_string": new}), true);
    let model =
        || Fake::script([edit("return 1", "return 3"), edit("return 3", "return 4"), edit("return 4", "return 5")]);
    let commands: &[&[&str]] = &[
        &["ask", "fix the errors", "--file", "a.py"],
        &["ask", "fix the errors"],
        &["plan", "fix the errors", "--file", "a.py", "--approve"],
        &["ask", "let f return 5", "--file", "a.py"],
    ];
    let (mut slow, mut edits) = (Vec::new(), 0);
    for (name, script) in mute_servers() {
        for command in commands {
            let run = |with: Option<&Value>| {
                sandbox.reset();
                let server = with.map(|script| json!(fake_config(&sandbox.outside, script).command));
                let server = server.map(|command| format!("[[servers]]\nname = \"pylsp\"\ncommand = {command}\n"));
                sandbox
                    .configure(&server.map_or(format!("servers = []\n{WAITS}"), |server| WAITS.to_owned() + &server));
                let model = model();
                let is_model = command[1].starts_with("let");
                let run = sandbox.run(&if is_model { model.arguments(command) } else { command.to_vec() });
                let text = fs::read_to_string(sandbox.project.join("a.py")).unwrap();
                let came = sandbox.outside.join("runs").is_file();
                assert_eq!(came, with.is_some(), "{name}: the server was not started: {run:?}");
                (run, is_model && text == TEXT.replace("return 1", "return 5"))
            };
            let bare = run(None).0;
            let (with, edited) = run(Some(&script));
            edits += usize::from(edited);
            let more = with.took.saturating_sub(bare.took);
            println!("{name}, {}: {:?}, without it {:?}", command.join(" "), with.took, bare.took);
            if more > IDLE || with.idle > IDLE {
                slow.push(format!("{name}, {}: {with:?}", command.join(" ")));
            }
        }
    }
    assert_eq!(edits, mute_servers().len(), "a model's edits go on beside a mute server");
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
