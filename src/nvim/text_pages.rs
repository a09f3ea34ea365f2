//! Makes the pages that need no task: statistics, memory, history, and the diff of the last task.

use std::path::Path;
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
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PageParams {
    place: CommandPlace,
    /// The part that a diff shows.
    part: String,
}

impl NvimDoor {
    /// Makes a page beside a running task, for the workspace of the current file, or else of Neovim's folder.
    pub(super) fn page(self: &Arc<Self>, json: &str, page: Page) {
        let PageParams { place, part } = serde_json::from_str(json).unwrap_or_default();
        let file = !place.path.is_empty() && place.buftype.is_empty();
        let open = if file { self.open(Path::new(&place.path)) } else { self.open(&self.cwd().join(".")) };
        let door = Arc::clone(self);
        tokio::spawn(async move {
            let open = match open {
                Ok(open) => open,
                Err(failure) => return door.refuse(failure),
            };
            // The first command of a Neovim reports a waiting task, whatever the command is about.
            open.session.recover().await;
            let answer = match page {
                Page::Statistics => open.session.statistics().await,
                Page::Memory => open.session.learned().await,
                Page::History => open.session.history().await.map(|known| history::markdown(&known)),
                Page::Diff => open.session.changed_text(&Target::parse(&part)).await,
            };
            let name = match page {
                Page::Statistics => "statistics",
                Page::Memory => "memory",
                Page::History => "history",
                Page::Diff => "diff",
            };
            open.session.emit(match answer {
                Ok(markdown) => Event::Page { name: name.to_owned(), markdown },
                Err(failure) => Event::refused(failure),
            });
        });
    }
}
