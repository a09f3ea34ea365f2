//! Decides whether an undo takes the task that its user means. One that may be another is named first, and taken back
//! when the user names it.

use std::collections::BTreeSet;

use crate::commands::undo::UndoRequest;
use crate::commands::undo::list::{ChangingTask, History};
use crate::durable::stack::{self, KnownTask, Maker, Stack};
use crate::state::edit_service::EditService;
use crate::state::undo_target::{Target, standing};
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_base::plural::counted;

/// The tasks that an undo names: by their request, by the client that made them, or as `task NAME`; empty where it means
/// a part of the last task.
///
/// # Errors
/// There is no such task, or its words are those of tasks of several sessions.
pub(crate) async fn named(edits: &EditService, stack: &Stack, wish: &UndoRequest) -> Result<BTreeSet<String>, Failure> {
    let Target::Symbol(words) = &wish.target else { return Ok(BTreeSet::new()) };
    if let Some(name) = words.strip_prefix(TASK) {
        return by_name(stack, name.trim()).map(|known| BTreeSet::from([known.task.clone()]));
    }
    let is_meant = |known: &&KnownTask| match &known.by {
        Maker::Client(name) if is_name(words, name) => true,
        _ => is_request(words, &wish.reason, &known.request),
    };
    let meant: Vec<&KnownTask> = stack.tasks.iter().filter(is_meant).collect();
    let is_shared = |known: &&KnownTask| meant.iter().any(|other| other.by != known.by);
    if meant.iter().any(is_shared) {
        one_maker(edits, stack, &meant).await?;
    }
    Ok(meant.into_iter().map(|known| known.task.clone()).collect())
}

/// Refuses words that mean standing tasks of several makers.
async fn one_maker(edits: &EditService, stack: &Stack, meant: &[&KnownTask]) -> Result<(), Failure> {
    let mut there: Vec<&KnownTask> = Vec::new();
    for known in meant {
        if stands(edits, known).await {
            there.push(known);
        }
    }
    if there.windows(2).all(|pair| pair[0].by == pair[1].by) {
        return Ok(());
    }
    let words = headline(&there[0].request);
    let each: Vec<String> =
        there.iter().map(|known| format!("{}, by {}", place(stack, known), known.by.words())).collect();
    let all: Vec<String> = there.iter().map(|known| by_task(stack, known)).collect();
    let message = format!("“{words}” is the request of {}: {}", counted(there.len(), "task"), each.join("; "));
    Err(Failure::user(message, format!("an undo of one of them by its name takes it back: {}", all.join(", "))))
}

async fn stands(edits: &EditService, known: &KnownTask) -> bool {
    stack::journal(&edits.store, known).await.is_ok_and(|journal| standing(&journal).next().is_some())
}

/// Opens the name of a task in the words of an undo.
const TASK: &str = "task ";

/// The task with this name, or with a name that ends so: with process and counter, since a number alone is a place in a
/// list.
fn by_name<'a>(stack: &'a Stack, name: &str) -> Result<&'a KnownTask, Failure> {
    let ends = format!("-{name}");
    let is_short = |known: &KnownTask| name.contains('-') && known.task.ends_with(&ends);
    let mut found = stack.tasks.iter().filter(|known| known.task == name || is_short(known));
    match (found.next(), found.next()) {
        (Some(known), None) => Ok(known),
        (None, _) => Err(Failure::user(
            format!("no task that changed something is named {name:?}"),
            "the history lists the tasks",
        )),
        (Some(known), Some(_)) => {
            let hint = format!("write the whole name, as {}", known.task);
            Err(Failure::user(format!("several tasks have a name that ends in {name:?}"), hint))
        }
    }
}

/// The words of an undo that mean this task and no other.
fn by_task(stack: &Stack, known: &KnownTask) -> String {
    format!("undo {TASK}{}", short_name(&known.task, stack.tasks.iter().map(|other| other.task.as_str())))
}

/// The end of a task's name that no other one has: the process and the counter; else all of it.
fn short_name<'a>(task: &'a str, all: impl Iterator<Item = &'a str>) -> &'a str {
    let Some((_, short)) = task.split_once('-') else { return task };
    let ends = format!("-{short}");
    if all.filter(|other| *other != task).any(|other| other.ends_with(&ends)) { task } else { short }
}

/// ` (task NAME)` for a task of a list, if another one there has the same words.
pub(super) fn name_if_shared(history: &History, done: &ChangingTask) -> String {
    let is_same = |other: &&ChangingTask| headline(&other.request).eq_ignore_ascii_case(&headline(&done.request));
    if history.tasks.iter().filter(is_same).count() < 2 {
        return String::new();
    }
    format!(" ({TASK}{})", short_name(&done.task, history.tasks.iter().map(|other| other.task.as_str())))
}

/// True if another task has the same words.
fn is_shared(stack: &Stack, known: &KnownTask) -> bool {
    let words = headline(&known.request).to_lowercase();
    stack.tasks.iter().any(|other| other.task != known.task && headline(&other.request).to_lowercase() == words)
}

/// The words of an undo that takes this task.
fn way(stack: &Stack, known: &KnownTask) -> String {
    match is_shared(stack, known) {
        true => by_task(stack, known),
        false => format!("undo \"{}\"", headline(&known.request)),
    }
}

/// A task in a message: with its files, if its words are those of another one.
fn label(stack: &Stack, known: &KnownTask) -> String {
    let words = format!("“{}”", headline(&known.request));
    if is_shared(stack, known) { format!("{words} ({})", place(stack, known)) } else { words }
}

/// The files that a task has changed.
fn place(stack: &Stack, known: &KnownTask) -> String {
    let files: BTreeSet<&str> =
        stack.rows.iter().filter(|row| row.task == known.task).flat_map(|row| &row.files).map(String::as_str).collect();
    let more = files.len().saturating_sub(FILES);
    let mut shown = files.into_iter().take(FILES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {}", counted(more, "more file")));
    }
    shown
}

/// Most files of a task in a message.
const FILES: usize = 3;

impl Maker {
    fn words(&self) -> String {
        match self {
            Self::Here => "this session".to_owned(),
            Self::Earlier => "an earlier session".to_owned(),
            Self::Client(name) => format!("the client {name}"),
            Self::Session => "another session, which is open".to_owned(),
        }
    }
}

const QUOTES: [char; 3] = ['“', '”', '"'];

fn is_name(words: &str, name: &str) -> bool {
    words.trim_matches(QUOTES).eq_ignore_ascii_case(name)
}

/// True if words are those of a request. A word alone is a symbol, unless it is quoted. A request may have a `because` of
/// its own, behind which a reason was read.
fn is_request(words: &str, reason: &str, request: &str) -> bool {
    let request = headline(request).to_lowercase();
    let links = if reason.is_empty() { &[][..] } else { &["because", "porque"] };
    let mut readings =
        std::iter::once(words.to_owned()).chain(links.iter().map(|link| format!("{words} {link} {reason}")));
    readings.any(|reading| {
        let bare = reading.trim_matches(QUOTES);
        (bare.contains(' ') || bare != reading) && bare.to_lowercase() == request
    })
}

/// Refuses to take the task at this place of the stack, if the user may not mean it: a session that is open has made
/// it, or somebody else after the task that the user was shown.
pub(super) async fn confirm(edits: &EditService, stack: &Stack, at: usize) -> Result<(), Failure> {
    let next = &stack.tasks[at];
    if next.by == Maker::Here {
        return Ok(());
    }
    let whose = next.by.words();
    let shown = edits.store.shown_task().filter(|task| *task != next.task);
    let shown = stack.tasks.iter().skip(at + 1).find(|known| shown.as_ref() == Some(&known.task));
    let own = match shown {
        Some(known) => stands(edits, known).await,
        None => false,
    };
    let last = label(stack, next);
    match shown.filter(|_| own) {
        None if next.by != Maker::Session => Ok(()),
        None => Err(Failure::user(
            format!("the last change is by {whose}: {last}"),
            format!("an undo that names it takes it back: {}", way(stack, next)),
        )),
        Some(own) => Err(Failure::user(
            format!("the last change is by {whose}: {last}, and not {}", label(stack, own)),
            format!("an undo that names one of them takes that one back: {}", way(stack, own)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, request: &str) -> KnownTask {
        let (task, request) = (name.to_owned(), request.to_owned());
        KnownTask { task, request, last: 0, place: stack::UndoPlace::Kept, by: Maker::Here }
    }

    #[test]
    fn a_task_whose_words_another_one_has_is_meant_by_its_name() {
        let tasks = vec![task("019a-2f-0", "fix it"), task("019b-2f-1", "Fix it"), task("019c-2f-0", "fix all")];
        let stack = Stack { tasks, ..Stack::default() };
        let ways: Vec<String> = stack.tasks.iter().map(|known| way(&stack, known)).collect();
        assert_eq!(ways, ["undo task 019a-2f-0", "undo task 2f-1", "undo \"fix all\""]);
        for (name, is_there) in
            [("2f-1", true), ("019c-2f-0", true), ("2f-0", false), ("f-1", false), ("1", false), ("", false)]
        {
            assert_eq!(by_name(&stack, name).is_ok(), is_there, "{name}");
        }
    }

    #[test]
    fn the_words_of_the_hint_mean_the_task_whatever_they_hold() {
        for request in ["fix the warnings", "simplify", "change f because it is slow", "cambia f porque es lenta"] {
            let (target, reason) = Target::parse_because(&format!("\"{request}\""));
            let Target::Symbol(words) = target else { panic!("{request}: {target:?}") };
            assert!(is_request(&words, &reason, request), "{request}: {words} {reason}");
        }
        assert!(is_request("Fix the warnings", "", "fix the warnings\nand more"));
        assert!(!is_request("total", "", "total"), "a symbol");
        assert!(!is_request("fix f", "it broke the tests", "fix the warnings"));
        assert!(is_name("Codex", "codex") && !is_name("total", "codex"));
    }
}
