//! Refuses an undo where the user's own changes are in the way.

use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;

/// Refuses to leave these places as they are, unless the user wants the rest undone.
pub(crate) fn refuse_touched(left: &[String], partial: bool) -> Result<(), Failure> {
    if left.is_empty() || partial {
        return Ok(());
    }
    let message = format!("{} was changed since, in the same place; nothing was undone", left.join(", "));
    Err(Failure::user(message, HintCode::UndoRest))
}
