//! The code blocks of the answer window: finds the symbol that one is for, and applies it once the user has confirmed.

use std::sync::Arc;

use serde::Deserialize;

use crate::answer_texts::WrittenBlock;
use crate::door::{GivenRequest, NvimDoor};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_engine::api::{BlockRequest, Command, Event, FoundTarget};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BlockParams {
    /// The number of the question for a target.
    id: u64,
    block: String,
    language: String,
    target: String,
    mentioned: String,
    /// True once the user has seen the target, and the characters that the window does not show.
    confirmed: bool,
}

/// A block that the user means, as it was written.
struct MeantBlock {
    request: BlockRequest,
    id: u64,
    /// The characters that the window does not show.
    marks: Option<String>,
    confirmed: bool,
}

impl NvimDoor {
    /// Finds the symbol that a block is for.
    pub(super) fn find_target(self: &Arc<Self>, given: &GivenRequest) {
        match self.block(given) {
            Ok(block) => self.show_target(given, block),
            Err(failure) => self.refuse(failure),
        }
    }

    /// Applies a block to the symbol that the user has confirmed or named. Characters that the window does not show are
    /// confirmed too.
    pub(super) fn apply(self: &Arc<Self>, given: &GivenRequest) {
        match self.block(given) {
            Ok(block) if block.marks.is_some() && !block.confirmed => self.show_target(given, block),
            Ok(block) => self.start_here(given, Command::Apply(block.request)),
            Err(failure) => self.refuse(failure),
        }
    }

    fn show_target(self: &Arc<Self>, given: &GivenRequest, block: MeantBlock) {
        let open = match self.here_or_last(given) {
            Ok(open) => open,
            Err(failure) => return self.refuse(failure),
        };
        tokio::spawn(async move {
            let MeantBlock { request, id, marks, .. } = block;
            open.session.emit(match open.session.block_target(&request).await {
                Ok(FoundTarget { target, effect, symbols }) => {
                    let effect = [Some(effect), marks].into_iter().flatten().collect::<Vec<_>>().join("; ");
                    Event::BlockTarget { id, target, effect, symbols }
                }
                Err(failure) => Event::refused(failure),
            });
        });
    }

    fn block(&self, given: &GivenRequest) -> Result<MeantBlock, Failure> {
        let BlockParams { id, block, language, target, mentioned, confirmed } = given.own()?;
        let place = &given.place;
        let written = self.channel().and_then(|channel| lock(&channel.written).block(&block));
        let WrittenBlock { text, marks } = written.ok_or_else(|| {
            let message = "the code block has characters that are not shown, and its own text is not known";
            Failure::user(message, "ask for the block again; nothing was written")
        })?;
        let path = if place.buftype.is_empty() { place.path.clone() } else { String::new() };
        let request = BlockRequest { block: text, language, path, line: place.line, target, mentioned };
        Ok(MeantBlock { request, id, marks, confirmed })
    }
}
