//! Covers the reading of targets, the hunks that each has, and the plan after an undo.

use crate::editor::Marks;
use crate::plan::{SKIPPED_BY_USER, Step, StepResult};
use crate::state::journal::RolledBack;
use crate::state::undo_target::*;

const BEFORE: &str = "class Cart:\n    def total(self):\n        return 1\n\n    def add(self):\n        return 2\n";

fn edit(id: &str, step: usize, path: &str, change: (&str, &str), symbols: &[&str]) -> Checkpoint {
    let after = BEFORE.replace(change.0, change.1);
    let (marks_before, marks_after) = (Marks::Null, Marks::Null);
    let file = FileChange {
        path: path.into(),
        before: Some(BEFORE.into()),
        after: Some(after.into()),
        marks_before,
        marks_after,
    };
    let symbols = symbols.iter().map(|symbol| (*symbol).to_owned()).collect();
    Checkpoint { id: id.into(), step, symbols, files: vec![file], ..Checkpoint::default() }
}

fn journal() -> Journal {
    let checkpoints = vec![
        edit("c1", 1, "a.py", ("return 1", "return 11"), &["a.py::Cart::total"]),
        Checkpoint { kind: CheckpointKind::Replan, ..Checkpoint::default() },
        edit("c2", 2, "a.py", ("return", "return -"), &["a.py::Cart::total", "a.py::Cart::add"]),
        edit("c3", 2, "b.py", ("return 2", "return 22"), &["b.py::Cart::add"]),
    ];
    Journal { checkpoints, ..Journal::new("t", "fix") }
}

fn lines(task: &str, edit: &str, first: usize, last: usize) -> Target {
    Target::Lines(ChangedLines { task: task.into(), edit: edit.into(), file: 0, first, last })
}

#[test]
fn of_an_edit_the_named_hunks_alone_are_taken_and_once() {
    let mut journal = journal();
    let chosen = choose(&journal, &lines("t", "c2", 1, 1)).unwrap();
    assert_eq!((chosen.edits(), chosen.picks[0].hunks.clone()), (vec!["c2".to_owned()], BTreeSet::from([1])));
    let row = undone(&journal, "lines:t:c2:0:1:1");
    journal.checkpoints.push(row);
    for gone in [lines("t", "c2", 1, 1), lines("t", "c9", 0, 0), lines("t", "c2", 7, 3)] {
        assert!(choose(&journal, &gone).unwrap_err().message.contains("already"), "{gone}");
    }
    assert_eq!(choose(&journal, &lines("t", "c2", 0, 1)).unwrap().picks[0].hunks, BTreeSet::from([0]));
}

fn undone(journal: &Journal, text: &str) -> Checkpoint {
    let chosen = choose(journal, &Target::parse(text)).unwrap();
    let taken = |pick: &Pick<'_>| RolledBack {
        edit: pick.edit.id.clone(),
        path: pick.file.path.clone(),
        hunks: pick.hunks.iter().copied().collect(),
        over: Vec::new(),
    };
    Checkpoint {
        kind: CheckpointKind::Rollback,
        takes: chosen.picks.iter().map(taken).collect(),
        ..Checkpoint::default()
    }
}

#[test]
fn a_target_is_read_as_it_is_written() {
    for (text, target) in [
        ("", Target::Task),
        ("step", Target::Step(None)),
        ("2", Target::Step(Some(2))),
        ("from 2", Target::From(2)),
        ("Cart::total", Target::Symbol("Cart::total".into())),
        ("lines:a:b:c2:0:1:3", lines("a:b", "c2", 1, 3)),
        ("lines:c2:0:1", Target::Symbol("lines:c2:0:1".into())),
    ] {
        assert_eq!(Target::parse(text), target);
        assert_eq!(target.to_string(), text);
    }
    assert_eq!((Target::parse("step 3"), Target::parse("task")), (Target::Step(Some(3)), Target::Task));
    let because = |text: &str| Target::parse_because(text);
    assert_eq!(because("2 because it broke the tests"), (Target::Step(Some(2)), "it broke the tests".into()));
    assert_eq!(because("Because it is wrong"), (Target::Task, "it is wrong".into()));
    assert_eq!(because("Cart::total"), (Target::Symbol("Cart::total".into()), String::new()));
}

#[test]
fn a_target_finds_its_edits_or_says_what_there_is() {
    let journal = journal();
    let count = |text: &str| choose(&journal, &Target::parse(text)).map(|chosen| chosen.picks.len());
    assert_eq!((count(""), count("1"), count("2"), count("step")), (Ok(3), Ok(1), Ok(2), Ok(2)));
    assert_eq!((count("from 1"), count("from 2"), count("from 3").is_err()), (Ok(3), Ok(2), true));
    let chosen = choose(&journal, &Target::parse("total")).unwrap();
    assert_eq!((chosen.target.to_string().as_str(), chosen.picks.len()), ("a.py::Cart::total", 2));
    assert_eq!(chosen.picks[1].hunks.len(), 1, "not what the same edit did in add");
    assert!(count("add").unwrap_err().hint.text().contains("b.py::Cart::add"), "two of that name");
    assert!(count("nobody").unwrap_err().hint.text().contains("a.py::Cart::total"));
    assert!(count("7").unwrap_err().hint.text().ends_with("1, 2"));
    let never = count("from 3").unwrap_err();
    assert_eq!(never.message, "the steps from 3 on changed nothing");
    assert!(never.hint.text().ends_with("1, 2"), "{}", never.hint.text());
}

#[test]
fn what_was_taken_back_is_not_taken_back_again() {
    let mut journal = journal();
    journal.checkpoints.push(undone(&journal, "total"));
    let step = choose(&journal, &Target::parse("2")).unwrap();
    assert_eq!(step.picks.iter().map(|pick| pick.hunks.len()).collect::<Vec<_>>(), [1, 1], "what is left of it");
    assert!(choose(&journal, &Target::parse("1")).unwrap_err().message.contains("already"), "it was all in total");
    journal.checkpoints.push(undone(&journal, "2"));
    assert!(choose(&journal, &Target::parse("2")).unwrap_err().message.contains("already"));
    let again = edit("c9", 2, "a.py", ("return 2", "return 3"), &["a.py::Cart::add"]);
    journal.checkpoints.push(again);
    assert_eq!(choose(&journal, &Target::parse("2")).unwrap().edits(), ["c9"], "done again, once");
    journal.checkpoints.push(undone(&journal, ""));
    for text in ["", "1", "2", "step", "total"] {
        assert!(choose(&journal, &Target::parse(text)).unwrap_err().message.contains("already"), "{text}");
    }
    let message = choose(&journal, &Target::From(2)).unwrap_err().message;
    assert_eq!(message, "the steps from 2 on were taken back already");
    // Without the undo of `total` its edit is applied again.
    journal.checkpoints.remove(4);
    assert_eq!(choose(&journal, &Target::Task).unwrap().edits(), ["c1", "c2"]);
}

#[test]
fn the_plan_follows() {
    let step = |state| Step { state, ..Step::default() };
    let mut plan =
        Plan { steps: vec![step(StepState::Done), step(StepState::Done), step(StepState::Open)], ..Plan::default() };
    let mut later = plan.clone();
    Target::From(2).reopen(&mut later);
    assert_eq!(later.steps.iter().filter(|step| step.state == StepState::Open).count(), 2);
    Target::Step(Some(2)).reopen(&mut plan);
    assert_eq!(
        plan.steps.iter().map(|step| step.state).collect::<Vec<_>>(),
        [StepState::Done, StepState::Open, StepState::Open]
    );
    let before = plan.clone();
    Target::Task.reopen(&mut plan);
    assert!(plan.steps.iter().all(|step| step.state == StepState::Open));
    Target::Task.close_again(&mut plan, &before);
    assert_eq!(plan, before);
}

#[test]
fn a_step_that_the_user_has_skipped_stays_skipped() {
    let step = |state, outcome: &str| {
        let result = StepResult { outcome: outcome.to_owned(), ..StepResult::default() };
        Step { state, result, ..Step::default() }
    };
    let steps = vec![
        step(StepState::Done, "edited"),
        step(StepState::Skipped, SKIPPED_BY_USER),
        step(StepState::Skipped, "step 1 failed"),
    ];
    let mut plan = Plan { steps, ..Plan::default() };
    let (skipped, before) = (plan.steps[1].clone(), plan.clone());
    Target::Task.reopen(&mut plan);
    assert_eq!(plan.steps[1], skipped);
    assert_eq!((plan.steps[0].state, plan.steps[2].state), (StepState::Open, StepState::Open));
    Target::Task.close_again(&mut plan, &before);
    assert_eq!(plan, before);
}
