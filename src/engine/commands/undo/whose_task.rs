//! Decides whether an undo takes the task that its user means. One that may be another is named first, and taken back
//! when the user names it.

use std::collections::BTreeSet;

use crate::commands::undo::UndoRequest;
use crate::durable::stack::{self, KnownTask, Maker, Stack};
use crate::state::edit_service::EditService;
use crate::state::undo_target::{Target, standing};
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;

/// The tasks that an undo names by their request, or by the client that made them; empty where it means a part of the
/// last task.
pub(super) fn named(stack: &Stack, wish: &UndoRequest) -> BTreeSet<String> {
    let Target::Symbol(words) = &wish.target else { return BTreeSet::new() };
    let is_meant = |known: &&KnownTask| match &known.by {
        Maker::Client(name) if is_name(words, name) => true,
        _ => is_request(words, &wish.reason, &known.request),
    };
    stack.tasks.iter().filter(is_meant).map(|known| known.task.clone()).collect()
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
    let whose = match &next.by {
        Maker::Here => return Ok(()),
        Maker::Earlier => "an earlier session".to_owned(),
        Maker::Client(name) => format!("the client {name}"),
        Maker::Session => "another session, which is open".to_owned(),
    };
    let shown = edits.store.shown_task().filter(|task| *task != next.task);
    let shown = stack.tasks.iter().skip(at + 1).find(|known| shown.as_ref() == Some(&known.task));
    let own = match shown {
        Some(known) => {
            stack::journal(&edits.store, known).await.is_ok_and(|journal| standing(&journal).next().is_some())
        }
        None => false,
    };
    let last = headline(&next.request);
    match shown.filter(|_| own).map(|known| headline(&known.request)) {
        None if next.by != Maker::Session => Ok(()),
        None => Err(Failure::user(
            format!("the last change, “{last}”, is by {whose}"),
            format!("an undo with its words takes it back: undo \"{last}\""),
        )),
        Some(own) => Err(Failure::user(
            format!("the last change is not “{own}” but “{last}”, by {whose}"),
            format!("an undo with the words of one of them takes that one back: undo \"{own}\""),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
