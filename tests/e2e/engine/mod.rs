//! The engine's own rules, over a folder with a model on cue.

mod before;
mod checks;
mod commands;
mod contradiction;
mod conversation;
mod direct;
mod evaluation;
mod exact;
mod feedback;
mod figures;
mod forget;
mod hidden_by_errors;
mod history;
mod injection;
mod large_files;
mod late_outcomes;
mod limits;
mod long;
mod neighbours;
mod once;
mod outside;
mod planning;
mod preferences;
mod prompts;
mod reach;
mod rebase;
mod recalled;
mod results;
mod review;
mod room;
mod several_plans;
mod shell;
mod states;
mod stop;
mod store;
mod stream;
mod traces;
mod undo_lines;
mod validation;
mod views;

use serde_json::Value;

use crate::support::project::Project;
use crate::support::replies::change;

pub const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return f()\n";

pub fn project() -> Project {
    Project::new(&[("a.py", TEXT)])
}

pub fn replace(old: &str, new: &str) -> Value {
    change("a.py", old, new)
}
