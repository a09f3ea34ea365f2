//! Takes the blocks of code of a conversation that the user applies to a symbol.

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::api::engine::Engine;
use crate::api::turn::busy;
use crate::commands::apply_block;
use crate::commands::block_edit::{self, BlockRequest, FoundTarget};
use crate::state::outcome::{Ending, Outcome};
use crate::state::span;
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
}
