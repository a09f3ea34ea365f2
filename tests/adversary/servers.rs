//! A language server that sends what no server should: it reaches nothing, holds nobody up, and fills no memory.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::measure::{IDLE, Most, Run, excesses_of};
use crate::sandbox::{Sandbox, turn};
use crate::seed::{Chance, cases, seed};
use crate::stop::{EACH, command, log};

/// What the command may wait for a server, and what it may take beside that.
const WAITS: &str = "[diagnostics]\ntimeout_ms = 500\nstart_timeout_ms = 1500\n";
/// No wait is longer than the 5 s for what a server offers. Beside it there are those above, for a start and for
/// diagnostics, and 1 s for the server to leave.
const LONGEST: Duration = IDLE.saturating_add(Duration::from_millis(500 + 1500 + 1000));

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
    let mut problems = excesses_of(&run, LONGEST);
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
