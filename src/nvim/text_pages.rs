//! Makes the pages that need no task: statistics, memory, history, what waits, and the diff of the last task.

use std::sync::Arc;

use serde::Deserialize;

use crate::door::{GivenRequest, NvimDoor};
use sextant_engine::api::{Event, Target, history};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Statistics,
    Memory,
    History,
    Diff,
    Waiting,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PageParams {
    /// The task that a diff shows; empty for the last one.
    task: String,
    /// The part of it.
    part: String,
}

impl NvimDoor {
    /// Makes a page beside a running task, for the named workspace, that of the current file, or else of Neovim's
    /// folder.
    pub(super) fn page(self: &Arc<Self>, given: &GivenRequest, page: Page) {
        let PageParams { task, part } = given.own().unwrap_or_default();
        let named = given.root.as_ref().and_then(|_| self.meant(given));
        let open = named.map_or_else(|| self.open_here(given), Ok);
        let door = Arc::clone(self);
        tokio::spawn(async move {
            let open = match open {
                Ok(open) => open,
                Err(failure) => return door.refuse(failure),
            };
            // The first command of a Neovim reports a waiting task, whatever the command is about.
            open.session.recover().await;
            let task = Some(task.as_str()).filter(|task| !task.is_empty());
            let plain = |markdown: String| (markdown, Vec::new());
            let answer = match page {
                Page::Statistics => open.session.statistics().await.map(plain),
                Page::Memory => open.session.learned().await.map(plain),
                Page::History => open.session.history().await.map(|known| history::page(&known)),
                Page::Waiting => Ok(open.session.waiting_page().await),
                Page::Diff => open.session.changed_text(task, &Target::parse(&part)).await.map(plain),
            };
            let name = match page {
                Page::Statistics => "statistics",
                Page::Memory => "memory",
                Page::History => "history",
                Page::Diff => "diff",
                Page::Waiting => "waiting",
            };
            open.session.emit(match answer {
                Ok((markdown, entries)) => Event::Page { name: name.to_owned(), markdown, entries },
                Err(failure) => Event::refused(failure),
            });
        });
    }
}
