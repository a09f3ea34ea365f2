//! Takes the edits of the user: a block of code that is applied to a symbol, a diff of a task that is rewritten.

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::api::engine::Engine;
use crate::api::turn::busy;
use crate::commands::apply_block;
use crate::commands::block_edit::{self, BlockRequest, FoundTarget};
use crate::commands::changed_text::{self, ReviewedDiff};
use crate::commands::edit_diff::{self, DiffRefused};
use crate::state::outcome::{Ending, Outcome};
use crate::state::span;
use crate::state::undo_target::Target;
use sextant_base::failure::Failure;

impl Engine {
    /// The symbol that a block of code is for, for the user to confirm. Nothing is written.
    ///
    /// # Errors
    /// A command runs, during which no block is applied, or the block cannot be meant.
    pub async fn block_target(&self, request: &BlockRequest) -> Result<FoundTarget, Failure> {
        if let Some(running) = self.turn().now() {
            return Err(busy(&running));
        }
        Ok(block_edit::block_edit(&self.session().workspace, request).await?.found())
    }

    /// Applies a block to its symbol, as an edit of the user's.
    pub(super) async fn apply_block(&self, request: &BlockRequest, cancel: &CancellationToken) -> Ending<Outcome> {
        let session = self.session();
        let applied = apply_block::apply(&session.edits, &session.plans, session.model.as_ref(), request, cancel);
        applied.instrument(span::task()).await
    }

    /// The changes of the last task, or of a part of it, as one diff with the new diagnostics beside their lines.
    ///
    /// # Errors
    /// As [`Engine::changed_text`].
    pub async fn reviewed_text(&self, part: &Target) -> Result<ReviewedDiff, Failure> {
        changed_text::reviewed_text(&self.session().edits, part).await
    }

    /// Makes the edits that the user's text of the shown diff of a task asks for, as a part of that task. Returns a
    /// summary; an empty one where it asks for nothing.
    ///
    /// # Errors
    /// The text has faults, a file has changed since, or the editor refuses the edit. Nothing is written then.
    pub async fn edit_diff(&self, task: &str, shown: &str, now: &str) -> Result<String, DiffRefused> {
        let session = self.session();
        edit_diff::edit_diff(&session.edits, &session.plans, task, shown, now).await
    }
}
