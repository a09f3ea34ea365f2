//! An edit that was refused, in words for the user, and the refused edits that a task has not made good.

use std::collections::BTreeSet;

use crate::state::approvals;
use crate::state::journal::Checkpoint;
use crate::state::task_scope;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::one_line::{capital, headline};
use sextant_base::secrets::mask;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The most refused edits that a task remembers.
const MOST: usize = 20;

/// An edit that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedEdit {
    /// The symbol or file, as the call names it.
    pub(crate) target: String,
    pub(crate) failure: Failure,
}

impl RefusedEdit {
    /// The edit, the cause and the way out; of an edit that the user declined, the user's word alone.
    pub(crate) fn words(&self) -> String {
        let cause = headline(&mask(&self.failure.message));
        if approvals::is_declined(&self.failure) {
            return capital(&cause);
        }
        let hint = &self.failure.hint;
        // Without words for a person, a hint on the call of a tool is the model's.
        let way_out = if self.failure.kind == FailureKind::Tool { hint.person() } else { Some(hint.for_person()) };
        let parts = [Some(cause.as_str()), way_out].into_iter().flatten().filter(|part| !part.is_empty());
        format!(
            "Not done: the edit of {} was refused: {}",
            headline(&self.target),
            parts.collect::<Vec<_>>().join("; ")
        )
    }

    /// True if this is the result that the model got for it.
    pub(crate) fn is_answered_by(&self, result: &str) -> bool {
        result.starts_with(&*mask(&self.failure.one_line()))
    }

    /// Only the user can let it through: it leaves the scope, needs a consent that nobody could give, or an editor holds
    /// the file.
    fn needs_user(&self) -> bool {
        task_scope::is_refusal(&self.failure) || matches!(self.failure.kind, FailureKind::User | FailureKind::Editor)
    }

    /// True once later edits have changed its target.
    fn is_made_good(&self, target: &str, changes: &[Checkpoint]) -> bool {
        let own = SymbolPath::parse(&self.target);
        let within = |names: &str| names == own.names || names.starts_with(&format!("{}::", own.names));
        let changed = |symbol: &String| {
            let symbol = SymbolPath::parse(symbol);
            symbol.file == own.file && (own.names.is_empty() || within(&symbol.names))
        };
        target == self.target || changes.iter().flat_map(|change| &change.symbols).any(changed)
    }
}

/// The refused edits of a task that only the user could let through, and whose targets no later edit has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut(Vec<RefusedEdit>);

impl LeftOut {
    /// Takes in an edit that was refused.
    pub(crate) fn refused(&mut self, edit: &RefusedEdit) {
        if edit.needs_user() && self.0.len() < MOST && self.0.iter().all(|known| known.target != edit.target) {
            self.0.push(edit.clone());
        }
    }

    /// Takes in the changes of an edit with this target.
    pub(crate) fn made(&mut self, target: &str, changes: &[Checkpoint]) {
        self.0.retain(|edit| !edit.is_made_good(target, changes));
    }

    /// The first of them, and the number of the others; `None` where nothing is left out. The user's own no is the end
    /// of an edit.
    pub(crate) fn words(&self, declined: &BTreeSet<String>) -> Option<String> {
        let mut left = self.0.iter().filter(|edit| !declined.contains(&edit.target));
        let first = left.next()?.words();
        let others = left.count();
        Some(if others == 0 { first } else { format!("{first} (and {others} more)") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::editor_error::EditorError;
    use crate::state::approvals::UserAnswer;
    use crate::state::task_scope::Scope;
    use sextant_base::failure::tool_failure;

    fn refused(target: &str, failure: Failure) -> RefusedEdit {
        RefusedEdit { target: target.to_owned(), failure }
    }

    fn outside(target: &str) -> RefusedEdit {
        refused(target, Scope::Files(vec!["a.py".to_owned()]).outside(target))
    }

    #[test]
    fn a_refused_edit_is_named_with_its_cause_and_the_user_s_way_out() {
        for (failure, words) in [
            (
                Scope::Files(vec!["a.py".to_owned()]).outside("b.py"),
                "b.py is outside the scope of this task (a.py); name it in the request, select more (a range, the \
                 file, the workspace), or make a plan",
            ),
            (
                Failure::new(FailureKind::Editor, "b.py is read-only", "make it writable"),
                "b.py is read-only; make it writable",
            ),
            (tool_failure("old_string is not in b.py", "read it again"), "old_string is not in b.py"),
            (
                EditorError::Stale("b.py".to_owned()).into(),
                "b.py changed since it was read; ask again, and the text as it is now is edited",
            ),
            (
                EditorError::Timeout(5000).into(),
                "the editor did not answer within 5000 ms; it may wait for a key: answer its prompt, and ask again",
            ),
            (EditorError::NotFound("b.py".to_owned()).into(), "b.py does not exist; check the name, and ask again"),
        ] {
            assert_eq!(refused("b.py", failure).words(), format!("Not done: the edit of b.py was refused: {words}"));
        }
        for (answer, words) in [
            (UserAnswer::Option(3), "The user said no to this edit of b.py"),
            (UserAnswer::Words("later".into()), "The user did not agree to this edit of b.py, and says: later"),
        ] {
            let declined = refused("b.py", tool_failure(answer.refusal("this edit of b.py"), "go on without it"));
            assert_eq!(declined.words(), words);
        }
    }

    #[test]
    fn a_refused_edit_is_left_out_until_another_edit_changes_its_target() {
        let changed = |symbol: &str| [Checkpoint { symbols: vec![symbol.to_owned()], ..Checkpoint::default() }];
        for (target, change, is_left) in [
            ("a.py::g", "a.py::f", true),
            ("a.py::g", "b.py::g", true),
            ("a.py::g", "a.py::g", false),
            ("a.py::A", "a.py::A::f", false),
            ("a.py::A::f", "a.py::A", true),
            ("b.py", "b.py::f", false),
            ("b.py", "a.py::f", true),
        ] {
            let mut left = LeftOut::default();
            left.refused(&outside(target));
            left.made("edited", &changed(change));
            assert_eq!(left.words(&BTreeSet::new()).is_some(), is_left, "{target}, {change}");
        }
        let mut left = LeftOut::default();
        left.refused(&refused("b.py", tool_failure("old_string is not in b.py", "read it again")));
        assert_eq!(left.words(&BTreeSet::new()), None, "a model can repair this by itself");
        left.refused(&refused("b.py", Failure::user("this needs an answer", "ask in the editor")));
        left.refused(&outside("c.py"));
        assert_eq!(
            left.words(&BTreeSet::new()).as_deref(),
            Some("Not done: the edit of b.py was refused: this needs an answer; ask in the editor (and 1 more)")
        );
        assert_eq!(left.words(&BTreeSet::from(["b.py".to_owned(), "c.py".to_owned()])), None);
    }
}
