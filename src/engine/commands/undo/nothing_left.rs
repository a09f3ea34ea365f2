//! Words the refusal of an undo that finds nothing, and names the changes that stand all the same.

use crate::commands::undo::record_gaps;
use crate::durable::stack::Stack;
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;
use sextant_base::hint::{Hint, HintCode};
use sextant_base::one_line::clean;

/// The refusal. `unseen` has the requests of open sessions whose changes are not in the files.
pub(super) async fn failure(store: &TaskStore, stack: &Stack, unseen: &[String]) -> Failure {
    let gaps = record_gaps::words(&record_gaps::of_all(store, stack).await);
    let running = stack.running.iter().map(|request| format!("“{}” is at work in another session", clean(request)));
    let unseen = unseen.iter().map(|request| {
        format!("the changes of “{}” are not in the files: its session is open, perhaps unsaved", clean(request))
    });
    let reasons: Vec<String> = running.chain(unseen).chain(gaps).collect();
    Failure::user("there is nothing to undo", hint(&reasons, stack.redoable().next().is_some()))
}

fn hint(reasons: &[String], is_redoable: bool) -> Hint {
    let code = if is_redoable { HintCode::Redo } else { HintCode::UndoOwn };
    match (reasons, is_redoable) {
        ([], true) => Hint::from("all of it is taken back").and(code),
        ([], false) => Hint::from("no change of Sextant's is left").and(code),
        (reasons, _) => Hint::from(reasons.join("; ")).and(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_to_be_left_only_where_no_change_stands() {
        assert_eq!(hint(&[], false).text(), "no change of Sextant's is left");
        assert_eq!(hint(&[], true).text(), "all of it is taken back");
        let reasons = ["“x” is at work in another session".to_owned(), "b.txt stays".to_owned()];
        let said = hint(&reasons, true);
        assert_eq!(said.text(), "“x” is at work in another session; b.txt stays");
        assert_eq!(said.codes(), [HintCode::Redo]);
    }
}
