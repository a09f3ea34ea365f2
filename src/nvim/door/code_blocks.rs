//! The code blocks of the answer window: finds the symbol that one is for, and applies it once the user has confirmed.

use std::sync::Arc;

use serde::Deserialize;

use crate::door::NvimDoor;
use crate::lua_messages::CommandPlace;
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::{BlockRequest, Command, Event, FoundTarget};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BlockParams {
    /// The number of the question for a target.
    id: u64,
    block: String,
    language: String,
    target: String,
    place: CommandPlace,
}

impl NvimDoor {
    /// Finds the symbol that a block is for.
    pub(super) fn find_target(self: &Arc<Self>, json: &str) {
        let Some((id, request)) = self.block(json) else { return };
        let open = match self.here_or_last(json) {
            Ok(open) => open,
            Err(failure) => return self.refuse(failure),
        };
        tokio::spawn(async move {
            open.session.emit(match open.session.block_target(&request).await {
                Ok(FoundTarget { target, effect, symbols }) => Event::BlockTarget { id, target, effect, symbols },
                Err(failure) => Event::refused(failure),
            });
        });
    }

    /// Applies a block to the symbol that the user has confirmed or named.
    pub(super) fn apply(self: &Arc<Self>, json: &str) {
        if let Some((_, request)) = self.block(json) {
            self.start_here(json, Command::Apply(request));
        }
    }

    fn block(&self, json: &str) -> Option<(u64, BlockRequest)> {
        match serde_json::from_str::<BlockParams>(json) {
            Ok(BlockParams { id, block, language, target, place }) => {
                let path = if place.buftype.is_empty() { place.path } else { String::new() };
                Some((id, BlockRequest { block, language, path, line: place.line, target }))
            }
            Err(error) => {
                let message = format!("the code block cannot be read: {error}");
                self.refuse(Failure::new(FailureKind::Internal, message, "see the log"));
                None
            }
        }
    }
}
