//! A repository that brings a record along, and a record of our own that somebody has changed.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::hostile::{Fake, done, step};
use crate::measure::{Most, Run, excesses};
use crate::plant::{Held, PLANTED, PLANTS, Planter};
use crate::sandbox::{Sandbox, turn};
use crate::seed::{Chance, cases, seed};

/// A record that the product has made: a task that edited, and a plan that waits.
pub fn template(sandbox: &Sandbox) -> tempfile::TempDir {
    let edit = step("edit_file", json!({"path": "a.py", "old_string": "return 1", "new_string": "return 11"}), false);
    let plan = json!({"title": "Change g", "reason": "asked", "confidence": 1, "steps": [
        {"title": "change g", "symbols": ["a.py::g"], "because": "asked", "expect": "changed"},
        {"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"}]});
    let model = Fake::script([edit, plan]);
    let ran = sandbox.run(&model.arguments(&["ask", "let f return 11", "--file", "a.py"]));
    assert_eq!(ran.status, Some(0), "{}", ran.text());
    let planned = sandbox.run(&model.arguments(&["plan", "change f and g", "--file", "a.py"]));
    assert_eq!(planned.status, Some(0), "{}", planned.text());
    let record = sandbox.record().expect("a record");
    let kept = tempfile::tempdir().unwrap();
    copy(&record, kept.path());
    kept
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Everything that an ordinary user types. `{}` is where the model goes.
const COMMANDS: &[&[&str]] = &[
    &["ask", "explain f", "--file", "a.py", "{}"],
    &["ask", "fix the errors", "--file", "a.py"],
    &["plan", "fix the errors", "--file", "a.py"],
    &["resume", "{}"],
    &["resume", "--approve", "--json", "{}"],
    &["undo"],
    &["undo", "step"],
    &["undo", "f"],
    &["stats"],
    &["stats", "--json"],
];

/// What went wrong in one case, and how much its commands used at most.
#[derive(Default)]
struct Findings {
    problems: Vec<String>,
    most: Most,
}

impl Findings {
    fn note(&mut self, run: &Run) {
        self.most.note(run);
        let first = run.arguments[..2.min(run.arguments.len())].join(" ");
        self.problems.extend(excesses(run).into_iter().map(|what| format!("{what} ({first})")));
    }
}

struct Case<'a> {
    number: usize,
    sandbox: &'a Sandbox,
    template: &'a Path,
    /// Where the product keeps this project's record.
    own: &'a Path,
    in_workspace: bool,
}

impl Case<'_> {
    fn name(&self) -> String {
        format!("case {}, {}", self.number, PLANTS[self.number % PLANTS.len()].0)
    }

    fn run(&self) -> Findings {
        let sandbox = self.sandbox;
        sandbox.reset();
        let in_workspace = self.in_workspace;
        let folder = if in_workspace { sandbox.project.join(".sextant") } else { self.own.to_owned() };
        copy(self.template, &folder);
        let chance = Chance::of_case(self.number);
        let mut planter = Planter { sandbox, folder, chance, held: Held::default() };
        PLANTS[self.number % PLANTS.len()].1(&mut planter);
        // What some kinds put beside it is not what the commands make.
        let read = sandbox.unread();
        let before = sandbox.snapshot(in_workspace);
        let unread = sandbox.unread();
        assert_eq!(read.len(), unread.len());

        let mut findings = Findings::default();
        let model = Fake::always(done("nothing to do"));
        for command in COMMANDS {
            let arguments = fill(command, &model);
            let run = sandbox.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            findings.note(&run);
            if run.killed {
                break;
            }
        }
        findings.problems.extend(sandbox.reads(&unread));
        findings.problems.extend(before.changes(&sandbox.snapshot(in_workspace)));
        findings.problems.extend(sandbox.ran());
        if in_workspace && model.asked().iter().any(|body| body.contains(PLANTED)) {
            findings.problems.push("planted text in a prompt".to_owned());
        }
        findings
    }
}

fn fill(command: &[&str], model: &Fake) -> Vec<String> {
    let with = model.arguments(&[]);
    let part = |part: &&str| {
        if *part == "{}" { with.iter().map(ToString::to_string).collect() } else { vec![(*part).to_owned()] }
    };
    command.iter().flat_map(part).collect()
}

/// Holds so many cases against what a record may do.
fn all_hold(in_workspace: bool, count: usize) {
    let _turn = turn();
    let next = AtomicUsize::new(0);
    let all = Mutex::new((Vec::new(), Most::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sandbox = Sandbox::new();
                let template = template(&sandbox);
                let own = sandbox.record().expect("a record");
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= count {
                        return;
                    }
                    let case = Case { number, sandbox: &sandbox, template: template.path(), own: &own, in_workspace };
                    let findings = case.run();
                    let mut all = all.lock().unwrap();
                    if !findings.problems.is_empty() {
                        all.0.push(format!("{}:\n    {}", case.name(), findings.problems.join("\n    ")));
                    }
                    all.1.join(&findings.most);
                }
            });
        }
    });
    let (mut problems, most) = all.into_inner().unwrap();
    println!("records: seed {}, {count} cases, {} with problems; {most}", seed(), problems.len());
    problems.sort();
    assert!(problems.is_empty(), "seed {}:\n{}", seed(), problems.join("\n"));
}

#[test]
fn a_record_that_a_repository_brings_along_is_nobody_s() {
    all_hold(true, cases(100));
}

#[test]
fn a_record_of_ours_that_was_altered_reaches_nothing() {
    all_hold(false, cases(100));
}
