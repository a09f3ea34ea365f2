//! Shows the diff of a task to be edited, and takes over what the user has made of it.

use crate::api::engine::Engine;
use crate::commands::changed_text::{self, ReviewedDiff};
use crate::commands::edit_diff::{self, DiffRefused};
use crate::state::undo_target::Target;
use sextant_base::failure::Failure;

impl Engine {
    /// The changes of the last task, or of a part of it, as one diff with the new diagnostics beside their lines.
    ///
    /// # Errors
    /// As [`Engine::changed_text`].
    pub async fn reviewed_text(&self, part: &Target) -> Result<ReviewedDiff, Failure> {
        changed_text::reviewed_text(&self.session().edits, part).await
    }

    /// Makes the edits that the user's text of a shown diff asks for, and returns a summary; an empty one where it asks
    /// for nothing.
    ///
    /// # Errors
    /// The text has faults, a file has changed since, or the editor refuses the edit. Nothing is written then.
    pub async fn edit_diff(&self, shown: &str, now: &str) -> Result<String, DiffRefused> {
        edit_diff::edit_diff(&self.session().edits, shown, now).await
    }
}
