//! Makes the pages that need no task: statistics, memory, history, what waits, and the diff of the last task.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::door::NvimDoor;
use crate::lua_messages::CommandPlace;
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
    place: CommandPlace,
    /// The workspace of the page that a key was pressed in.
    root: Option<PathBuf>,
    /// The task that a diff shows; empty for the last one.
    task: String,
    /// The part of it.
    part: String,
}

impl NvimDoor {
    /// Makes a page beside a running task, for the named workspace, that of the current file, or else of Neovim's
    /// folder.
    pub(super) fn page(self: &Arc<Self>, json: &str, page: Page) {
        let PageParams { place, root, task, part } = serde_json::from_str(json).unwrap_or_default();
        let file = !place.path.is_empty() && place.buftype.is_empty();
        let named = root.and_then(|_| self.meant(json));
        let here = || if file { self.open(Path::new(&place.path)) } else { self.open(&self.cwd().join(".")) };
        let open = named.map_or_else(here, Ok);
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
