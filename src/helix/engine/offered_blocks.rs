//! Offers to apply the code blocks of the conversation, and applies the one that the user means.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::engine::request_arguments::GivenArguments;
use crate::engine::{EngineHost, commands, links::EngineLink};
use crate::link::{ACTION_KIND, OwnAction};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::positions::{Position, Range};
use sextant_engine::api::{BlockRequest, Command, FoundTarget};
use sextant_text::edits::fenced_blocks::{FencedBlock, fenced_blocks};

/// The most blocks, from the end of the conversation, that are offered: the target of each is looked up.
const MOST: usize = 12;

/// The last column of a range that ends with its line.
const END: u32 = 10_000;

#[derive(Debug, Default)]
pub(super) struct OfferedBlocks {
    items: Mutex<Vec<OwnAction>>,
    /// The file and the line, from 1, of the last request: a new symbol goes behind the one there.
    asked_at: Mutex<Option<(String, usize)>>,
    /// The count of looks: an earlier one gives way to a later one.
    looks: AtomicU64,
    looking: tokio::sync::Mutex<()>,
}

impl OfferedBlocks {
    /// Notes the place of a request; none for a request about no file.
    pub(super) fn asked_at(&self, file: Option<&str>, line: Option<usize>) {
        *lock(&self.asked_at) = file.map(str::to_owned).zip(line);
    }

    /// The file that the conversation is about: that of its last request, wherever the user has been since.
    fn document(&self, engine: &EngineHost) -> Option<String> {
        let asked = lock(&self.asked_at).as_ref().map(|(file, _)| file.clone());
        asked.or_else(|| commands::asked_about(engine))
    }

    pub(super) fn actions(&self) -> Vec<OwnAction> {
        lock(&self.items).clone()
    }

    /// Looks for the blocks in the conversation as the editor has it, and for their targets.
    pub(super) async fn look(&self, engine: &EngineHost) {
        let number = self.looks.fetch_add(1, Ordering::SeqCst) + 1;
        let _looking = self.looking.lock().await;
        if self.looks.load(Ordering::SeqCst) != number {
            return;
        }
        let Some(open) = engine.answers.page.open(&engine.buffers) else { return };
        let mut blocks: Vec<FencedBlock> = fenced_blocks(&open.text);
        let last = last_of_turn(&open.text, &blocks);
        blocks.retain(|block| !block.is_diff() && !block.text.trim().is_empty());
        let document = self.document(engine);
        let mut items = Vec::new();
        for block in blocks.split_off(blocks.len().saturating_sub(MOST)) {
            let mut item = self.action(engine, &block, document.as_deref()).await;
            // The conversation opens at its end, below the block.
            if let Some(range) = item.range.as_mut().filter(|_| last.as_ref() == Some(&block.lines)) {
                range.end.line = u32::MAX;
            }
            items.push(item);
        }
        if std::mem::replace(&mut *lock(&self.items), items.clone()) != items {
            engine.offer(engine.answers.page.uri());
        }
    }

    /// The offer of one block. It names the symbol that the block is for, where there is one.
    async fn action(&self, engine: &EngineHost, block: &FencedBlock, document: Option<&str>) -> OwnAction {
        let request = self.request(engine, block, document, "");
        let found = match engine.session() {
            Ok(session) => session.agent.block_target(&request).await.ok(),
            Err(_) => None,
        };
        let (first, last) = (*block.lines.start(), *block.lines.end());
        let at = |line: usize, character| Position { line: u32::try_from(line).unwrap_or(u32::MAX), character };
        let place = json!({"lines": [first + 1, last + 1]});
        let (title, arguments) = match found {
            Some(FoundTarget { target, effect, .. }) => {
                (format!("Sextant: apply this block to {target} ({effect})"), vec![json!(target), place])
            }
            None => ("Sextant: apply this block".to_owned(), vec![place]),
        };
        OwnAction {
            range: Some(Range { start: at(first, 0), end: at(last, END) }),
            title,
            kind: ACTION_KIND.to_owned(),
            is_preferred: false,
            command: "agent.apply".to_owned(),
            arguments,
        }
    }

    /// Applies the block at the given line of the conversation, or the one above it that ends the last turn; from
    /// elsewhere the last one that is code.
    ///
    /// # Errors
    /// No block is there, or a command runs.
    pub(super) fn apply(
        &self,
        engine: &Arc<EngineHost>,
        link: &EngineLink,
        given: &GivenArguments,
        named: Option<&str>,
    ) -> Result<(), Failure> {
        let page = &engine.answers.page;
        let text = page.open(&engine.buffers).map_or_else(|| page.wanted().into(), |open| open.text);
        let mut blocks = fenced_blocks(&text);
        let last = last_of_turn(&text, &blocks);
        blocks.retain(|block| !block.is_diff());
        let in_page = named == Some(page.uri());
        let block = match given.place.first_line().filter(|_| in_page) {
            Some(line) => {
                let is_above = |lines: &RangeInclusive<usize>| last.as_ref() == Some(lines) && *lines.end() < line - 1;
                blocks.into_iter().find(|block| block.lines.contains(&(line - 1)) || is_above(&block.lines))
            }
            None => blocks.pop(),
        };
        let none = || Failure::user("no code block is here", "agent.show opens the conversation; go to a block there");
        let block = block.ok_or_else(none)?;
        let document = named.filter(|_| !in_page).map(str::to_owned).or_else(|| self.document(engine));
        if let Some(line) = given.place.first_line().filter(|_| !in_page) {
            self.asked_at(document.as_deref(), Some(line));
        }
        let request = self.request(engine, &block, document.as_deref(), &given.text);
        commands::run(engine, link, Command::Apply(request))
    }

    fn request(&self, engine: &EngineHost, block: &FencedBlock, document: Option<&str>, target: &str) -> BlockRequest {
        let line =
            lock(&self.asked_at).as_ref().filter(|(file, _)| Some(file.as_str()) == document).map(|(_, line)| *line);
        let file = document.and_then(path::from_uri);
        let path = file.and_then(|file| path::relative(engine.setup.root.path(), Path::new(&file))).unwrap_or_default();
        BlockRequest {
            block: block.text.clone(),
            language: block.language.clone(),
            path,
            line: line.unwrap_or(1),
            target: target.to_owned(),
            mentioned: block.mentioned.clone(),
        }
    }
}

/// The lines of the last block, from 0, unless another turn of the conversation begins behind it.
fn last_of_turn(text: &str, blocks: &[FencedBlock]) -> Option<RangeInclusive<usize>> {
    let lines = blocks.last()?.lines.clone();
    let follows = text.lines().skip(lines.end() + 1).any(|line| line.starts_with("## "));
    (!follows).then_some(lines)
}
