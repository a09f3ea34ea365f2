//! A process on the same machine that swaps a folder for a link, again and again, while a command reads and writes in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::hostile::{Fake, step};
use crate::measure::excesses;
use crate::sandbox::{Sandbox, turn};

const ROUNDS: usize = 12;

/// Swaps `pkg` and a link to what is outside until it is told to end; how often.
fn swap(sandbox: &Sandbox, end: &AtomicBool) -> usize {
    let (folder, link) = (sandbox.project.join("pkg"), sandbox.project.join("other"));
    symlink(&sandbox.outside, &link).expect("a link");
    let (at, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
    let mut swaps = 0;
    while !end.load(Ordering::Relaxed) {
        rustix::fs::renameat_with(at, &folder, at, &link, flags).expect("swapped");
        swaps += 1;
    }
    swaps
}

#[test]
fn a_folder_that_is_swapped_while_a_command_writes_leads_nowhere() {
    let _turn = turn();
    let sandbox = Sandbox::new();
    let (mut problems, mut swaps) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        sandbox.reset();
        let before = sandbox.snapshot(false);
        let unread = sandbox.unread();
        // Files that are there on one side only, and one that both have.
        fs::write(sandbox.project.join("pkg/canary.py"), "X = 1\n").expect("a file");
        let mut actions = Vec::new();
        for n in 0..6 {
            let path = format!("pkg/new{n}/made.py");
            actions.push(step("write_file", json!({"path": path, "content": "Y = 1\n"}), true));
            actions.push(step("read_file", json!({"path": "pkg/canary.py"}), true));
            let content = format!("X = {n}\n");
            actions.push(step("write_file", json!({"path": "pkg/canary.py", "content": content}), true));
        }
        let model = Fake::script(actions);
        let end = AtomicBool::new(false);
        let runs = thread::scope(|scope| {
            let swapper = scope.spawn(|| swap(&sandbox, &end));
            let runs = [&["ask", "simplify the code of this project"][..], &["undo"]]
                .map(|first| sandbox.run(&if first.len() > 1 { model.arguments(first) } else { first.to_vec() }));
            end.store(true, Ordering::Relaxed);
            swaps += swapper.join().expect("it ends");
            runs
        });
        problems.extend(runs.iter().flat_map(excesses));
        problems.extend(sandbox.reads(&unread));
        problems.extend(before.changes(&sandbox.snapshot(false)));
        if model.asked().len() < 2 {
            problems.push(format!("round {round}: too little was tried: {}", runs[0].text()));
        }
    }
    println!("swaps: {swaps} in {ROUNDS} rounds, {} problems", problems.len());
    assert!(swaps > 100 * ROUNDS, "{swaps} swaps");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
