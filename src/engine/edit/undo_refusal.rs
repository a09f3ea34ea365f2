//! Refuses an undo where the user's own changes are in the way.

use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;

/// Refuses to leave these places as they are, unless the user wants the rest undone. `has_rest` is false where nothing
/// beside them could be undone.
pub(crate) fn refuse_touched(left: &[String], has_rest: bool, partial: bool) -> Result<(), Failure> {
    if left.is_empty() || partial {
        return Ok(());
    }
    let message = format!("nothing was undone: {} changed since", places(left));
    Err(Failure::user(message, if has_rest { HintCode::UndoRest } else { HintCode::UndoByHand }))
}

/// The places with their verb. The outcome stands before them: a narrow line cuts its end.
pub(crate) fn places(left: &[String]) -> String {
    format!("{} {}", left.join(", "), if left.len() == 1 { "was" } else { "were" })
}
