//! Keeps the page of the conversation, and shows it where the user goes on to read.

use std::path::Path;
use std::sync::Mutex;

use crate::engine::buffers::EditorBuffers;
use crate::engine::conversation_text::ConversationText;
use crate::engine::links::EngineLink;
use crate::engine::offered_blocks::OfferedBlocks;
use crate::engine::question_page::QUESTION;
use crate::engine::streamed_page::{EditorPage, PageKind, line_start};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_base::positions::Position;

/// A column behind the end of any line: an editor takes the end of the line.
const COLUMNS: u32 = 1_000_000;

/// The place at which a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadFrom {
    /// While a task runs, the cursor is behind the text: it stays there as more text comes, and Helix scrolls to it at
    /// the next key. Helix scrolls at no edit of a server.
    End,
    LastPart,
    /// The open question, with the change that it is about below it.
    Question,
}

/// The line of the last question, counted from 0.
fn last_question(text: &str) -> Option<usize> {
    text.lines().collect::<Vec<_>>().iter().rposition(|line| line.starts_with(QUESTION))
}

#[derive(Debug)]
pub(super) struct ConversationPage {
    pub(super) page: EditorPage,
    text: Mutex<ConversationText>,
    pub(super) blocks: OfferedBlocks,
}

impl ConversationPage {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            page: EditorPage::new(folder, "answer.md", PageKind::Log),
            text: Mutex::default(),
            blocks: OfferedBlocks::default(),
        }
    }

    /// Changes the text, and brings it to wherever it is shown.
    pub(super) fn change(&self, buffers: &EditorBuffers, change: impl FnOnce(&mut ConversationText, &mut String)) {
        let mut text = lock(&self.text);
        self.page.change(buffers, |page| change(&mut text, page));
    }

    /// Adds a block of its own.
    pub(super) fn block(&self, buffers: &EditorBuffers, markdown: &str) {
        self.change(buffers, |text, page| text.block(page, markdown));
    }

    /// Adds the whole of a message that was cut.
    pub(super) fn note(&self, buffers: &EditorBuffers, markdown: &str) {
        self.change(buffers, |text, page| text.note(page, markdown));
    }

    /// Shows the page at a place.
    ///
    /// # Errors
    /// As [`EditorPage::show_at`].
    pub(super) async fn show(&self, buffers: &EditorBuffers, link: &EngineLink, from: ReadFrom) -> Result<(), Failure> {
        let now = self.page.open(buffers).map_or_else(|| self.page.wanted().into(), |document| document.text);
        let place = match from {
            ReadFrom::End => Some(Position { character: COLUMNS, ..line_start(now.matches('\n').count()) }),
            ReadFrom::LastPart => lock(&self.text).last_part(&now).map(line_start),
            ReadFrom::Question => last_question(&now).map(line_start),
        };
        self.page.show_at(buffers, link, place).await
    }
}
