//! An edit that was refused, in words for the user.

use crate::state::task_scope;
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;
use sextant_base::secrets::mask;

/// The way out of a scope. Its own hint speaks to the model, which cannot take it.
const WIDER: &str = "name it in the request, point at more of the project, or make a plan";

/// An edit that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedEdit {
    /// The tool and its target.
    pub(crate) call: String,
    pub(crate) failure: Failure,
}

impl RefusedEdit {
    /// The edit, the cause and the way out.
    pub(crate) fn words(&self) -> String {
        let way_out = if task_scope::is_refusal(&self.failure) { WIDER } else { self.failure.hint.text() };
        let cause = headline(&mask(&self.failure.message));
        let parts = [cause.as_str(), way_out].into_iter().filter(|part| !part.is_empty());
        format!("{} was refused: {}", headline(&self.call), parts.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::task_scope::Scope;
    use sextant_base::failure::tool_failure;

    #[test]
    fn a_refused_edit_is_named_with_its_cause_and_the_user_s_way_out() {
        let of = |failure: Failure| RefusedEdit { call: "edit_file b.py".to_owned(), failure }.words();
        let outside = of(Scope::Files(vec!["a.py".to_owned()]).outside("b.py"));
        let cause = "edit_file b.py was refused: b.py is outside the scope of this task (a.py)";
        assert_eq!(outside, format!("{cause}; {WIDER}"));
        let locked = of(tool_failure("b.py is read-only", "make it writable"));
        assert_eq!(locked, "edit_file b.py was refused: b.py is read-only; make it writable");
    }
}
