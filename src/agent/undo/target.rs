//! What of a task is to be taken back: all of it, a step, or what it did in one symbol.

use std::fmt;

use crate::agent::journal::{Checkpoint, Journal, Kind};
use crate::agent::plan::{Plan, State};
use crate::base::failure::Failure;
use crate::symbols::path::SymbolPath;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Task,
    /// Counted from 1; the last one that changed something where absent.
    Step(Option<usize>),
    Symbol(String),
}

impl Target {
    /// Reads what a user writes: nothing, `step`, a number, or a symbol.
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "" => Self::Task,
            "step" => Self::Step(None),
            text => match text.strip_prefix("step ").unwrap_or(text).trim().parse() {
                Ok(number) => Self::Step(Some(number)),
                Err(_) => Self::Symbol(text.to_owned()),
            },
        }
    }

    /// The same with a reason behind it: `2 because it broke the tests`.
    pub fn parse_because(text: &str) -> (Self, String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| ["because", "porque"].contains(&word.to_lowercase().as_str()));
        let (target, reason) = words.split_at(at.unwrap_or(words.len()));
        (Self::parse(&target.join(" ")), reason.get(1..).unwrap_or_default().join(" "))
    }

    /// As a sentence names it.
    pub fn words(&self) -> String {
        match self {
            Self::Task => "the task".to_owned(),
            Self::Step(None) => "the last step".to_owned(),
            Self::Step(Some(number)) => format!("step {number}"),
            Self::Symbol(symbol) => symbol.clone(),
        }
    }

    /// Opens the steps of a plan that were taken back. Doing it twice is doing it once.
    pub(crate) fn reopen(&self, plan: &mut Plan) {
        let one = match self {
            Self::Task => None,
            Self::Step(Some(number)) => Some(number.saturating_sub(1)),
            Self::Step(None) | Self::Symbol(_) => return,
        };
        for (index, step) in plan.steps.iter_mut().enumerate() {
            if one.is_none_or(|one| one == index) && step.state != State::Open {
                step.state = State::Open;
                step.outcome = "taken back".to_owned();
            }
        }
    }
}

/// As [`Target::parse`] reads it.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task => Ok(()),
            Self::Step(None) => f.write_str("step"),
            Self::Step(Some(number)) => write!(f, "{number}"),
            Self::Symbol(symbol) => f.write_str(symbol),
        }
    }
}

/// The checkpoints that a target is about.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    /// With everything that the user left out.
    pub(super) target: Target,
    pub(super) checkpoints: Vec<&'a Checkpoint>,
    pub(super) step: usize,
    pub(super) symbol: Option<SymbolPath>,
}

impl Chosen<'_> {
    /// The names of the edits that it is about: of a symbol those that have changed something in it.
    pub(super) fn own(&self) -> Vec<String> {
        let inside = |symbol: &SymbolPath, changed: &String| {
            let changed = SymbolPath::parse(changed);
            let names = format!("{}::", symbol.names);
            changed.file == symbol.file && (changed.names == symbol.names || changed.names.starts_with(&names))
        };
        let own = |row: &&&Checkpoint| {
            row.kind == Kind::Edit
                && self.symbol.as_ref().is_none_or(|symbol| row.symbols.iter().any(|changed| inside(symbol, changed)))
        };
        self.checkpoints.iter().filter(own).map(|row| row.id.clone()).collect()
    }
}

/// Finds what a target is about in a journal. The error names what there is.
pub(super) fn choose<'a>(journal: &'a Journal, target: &Target) -> Result<Chosen<'a>, Failure> {
    let since = |target: &Target| since(journal, target).filter(|row| !row.files.is_empty()).collect::<Vec<_>>();
    let edits = |rows: &[&'a Checkpoint]| -> Vec<&'a Checkpoint> {
        rows.iter().copied().filter(|row| row.kind == Kind::Edit).collect()
    };
    let again = |target: &Target| {
        Failure::user(
            format!("{} was taken back already", target.words()),
            ":AgentUndo brings back what was undone last",
        )
    };
    let whole = since(&Target::Task);
    let plain = |target: Target, checkpoints| Chosen { target, checkpoints, step: 0, symbol: None };
    match target {
        Target::Task => Ok(plain(Target::Task, whole)),
        Target::Step(number) => {
            let edits_of = |step: usize| {
                edits(&since(&Target::Step(Some(step)))).into_iter().filter(|row| row.step == step).collect::<Vec<_>>()
            };
            let all = edits(&whole);
            let open = all.iter().rev().map(|row| row.step).find(|step| !edits_of(*step).is_empty());
            let Some(step) = number.or(open) else { return Err(again(&Target::Step(None))) };
            let (target, own) = (Target::Step(Some(step)), edits_of(step));
            if !own.is_empty() {
                return Ok(Chosen { step, ..plain(target, own) });
            }
            if journal.checkpoints.iter().any(|row| row.kind == Kind::Edit && row.step == step) {
                return Err(again(&target));
            }
            let mut steps: Vec<String> = all.iter().map(|row| row.step.to_string()).collect();
            steps.dedup();
            let hint = format!("the steps of “{}” that changed something: {}", journal.request, steps.join(", "));
            Err(Failure::user(format!("step {step} changed nothing"), hint))
        }
        Target::Symbol(given) => {
            let symbol = symbol(&journal.checkpoints.iter().collect::<Vec<_>>(), given)?;
            let target = Target::Symbol(symbol.to_string());
            let rows = since(&target);
            if edits(&rows).is_empty() {
                return Err(again(&target));
            }
            Ok(Chosen { symbol: Some(symbol), ..plain(target, rows) })
        }
    }
}

/// The checkpoints that a target has not been rolled back over: those after the last time that it was, or that
/// the whole task was.
fn since<'a>(journal: &'a Journal, target: &Target) -> impl Iterator<Item = &'a Checkpoint> {
    let named = target.to_string();
    let taken = |row: &Checkpoint| {
        row.kind == Kind::Rollback && row.symbols.iter().any(|taken| taken.is_empty() || *taken == named)
    };
    let from = journal.checkpoints.iter().rposition(taken).map_or(0, |index| index + 1);
    journal.checkpoints[from..].iter()
}

/// The one symbol that the task has touched and that was meant: by its whole path or by the end of it.
fn symbol(rows: &[&Checkpoint], given: &str) -> Result<SymbolPath, Failure> {
    let edits = rows.iter().filter(|row| row.kind == Kind::Edit);
    let mut touched: Vec<&String> = edits.flat_map(|row| &row.symbols).collect();
    touched.sort();
    touched.dedup();
    let meant: Vec<&String> = touched
        .iter()
        .copied()
        .filter(|symbol| **symbol == given || symbol.ends_with(&format!("::{given}")))
        .filter(|symbol| !SymbolPath::parse(symbol).names.is_empty())
        .collect();
    let list = |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    match meant.as_slice() {
        [one] => Ok(SymbolPath::parse(one)),
        [] => Err(Failure::user(
            format!("the last task changed nothing in {given}"),
            format!("it changed {}", list(&touched)),
        )),
        several => Err(Failure::user(format!("{given} is not one symbol"), format!("name one of {}", list(several)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::journal::FileChange;
    use crate::agent::plan::Step;
    use crate::editor::Marks;

    fn row(step: usize, kind: Kind, symbols: &[&str]) -> Checkpoint {
        let marks = || Marks::Null;
        let change = FileChange {
            path: "a.py".into(),
            before: Some("1".into()),
            after: Some("2".into()),
            marks_before: marks(),
            marks_after: marks(),
        };
        let symbols = symbols.iter().map(|symbol| (*symbol).to_owned()).collect();
        Checkpoint { kind, step, symbols, files: vec![change], ..Checkpoint::default() }
    }

    fn journal() -> Journal {
        let checkpoints = vec![
            row(1, Kind::Edit, &["a.py::Cart::total"]),
            Checkpoint { kind: Kind::Replan, ..Checkpoint::default() },
            row(2, Kind::Edit, &["a.py::Cart::total", "a.py::Cart::add"]),
            row(2, Kind::Edit, &["b.py::add"]),
        ];
        Journal { checkpoints, ..Journal::new("t", "fix") }
    }

    #[test]
    fn a_target_is_read_as_it_is_written() {
        for (text, target) in [
            ("", Target::Task),
            ("step", Target::Step(None)),
            ("2", Target::Step(Some(2))),
            ("Cart::total", Target::Symbol("Cart::total".into())),
        ] {
            assert_eq!(Target::parse(text), target);
            assert_eq!(target.to_string(), text);
        }
        assert_eq!(Target::parse("step 3"), Target::Step(Some(3)));
        let because = |text: &str| Target::parse_because(text);
        assert_eq!(because("2 because it broke the tests"), (Target::Step(Some(2)), "it broke the tests".into()));
        assert_eq!(because("Because it is wrong"), (Target::Task, "it is wrong".into()));
        assert_eq!(because("Cart::total"), (Target::Symbol("Cart::total".into()), String::new()));
    }

    #[test]
    fn a_target_finds_its_checkpoints_or_says_what_there_is() {
        let journal = journal();
        let count = |text: &str| choose(&journal, &Target::parse(text)).map(|chosen| chosen.checkpoints.len());
        assert_eq!((count(""), count("1"), count("2"), count("step")), (Ok(3), Ok(1), Ok(2), Ok(2)));
        let chosen = choose(&journal, &Target::parse("total")).unwrap();
        assert_eq!(chosen.target.to_string(), "a.py::Cart::total");
        assert!(count("add").unwrap_err().hint.contains("b.py::add"), "two of that name");
        assert!(count("nobody").unwrap_err().hint.contains("a.py::Cart::total"));
        assert!(count("7").unwrap_err().hint.ends_with("1, 2"));
    }

    #[test]
    fn what_was_taken_back_is_not_taken_back_again() {
        let mut journal = journal();
        journal.checkpoints.push(row(2, Kind::Rollback, &["2"]));
        assert!(choose(&journal, &Target::parse("2")).unwrap_err().message.contains("already"));
        assert_eq!(choose(&journal, &Target::Step(None)).unwrap().target, Target::Step(Some(1)));
        journal.checkpoints.push(row(2, Kind::Edit, &["b.py::add"]));
        assert_eq!(choose(&journal, &Target::parse("2")).unwrap().checkpoints.len(), 1, "done again, once");
        journal.checkpoints.push(row(0, Kind::Rollback, &[""]));
        for text in ["1", "2", "step", "total"] {
            assert!(choose(&journal, &Target::parse(text)).unwrap_err().message.contains("already"), "{text}");
        }
    }

    #[test]
    fn the_plan_follows() {
        let step = |state| Step { state, ..Step::default() };
        let mut plan = Plan { steps: vec![step(State::Done), step(State::Done), step(State::Open)], ..Plan::default() };
        Target::Step(Some(2)).reopen(&mut plan);
        assert_eq!(
            plan.steps.iter().map(|step| step.state).collect::<Vec<_>>(),
            [State::Done, State::Open, State::Open]
        );
        Target::Task.reopen(&mut plan);
        assert!(plan.steps.iter().all(|step| step.state == State::Open));
    }
}
