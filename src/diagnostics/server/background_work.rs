//! The work that a server does on its own, by its progress messages: until it ends, an answer about the whole project may
//! lack a part of it.
//!
//! clangd answers from its index while it builds that, and reports the building (`backgroundIndexProgress`). Without a
//! `compile_commands.json` it has no index beside the open texts, and publishes each that it has read. vtsls reports the
//! loading of a project, and answers from the open texts until that ends. `lua/sextant/lsp/background_work.lua` is the
//! same in Neovim.

use std::collections::HashMap;
use std::time::Duration;

use lsp_types::LspAny;
use serde::Deserialize;

use crate::model;
use crate::server::received::fitting;
use crate::server::server_client::ServerConnection;
use crate::server::{Inner, LanguageServer, ServerPhase};
use crate::server_facts::Fact;
use sextant_base::lock::lock;
use sextant_base::plural::counted;

/// The most open progress that is kept.
const MOST_OPEN: usize = 1000;

/// `$/progress` of a server's own work.
#[derive(Debug, Deserialize)]
pub(super) struct Progress {
    /// A text or a number.
    pub(super) token: LspAny,
    pub(super) value: ProgressValue,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProgressValue {
    pub(super) kind: String,
    #[serde(default, deserialize_with = "fitting")]
    pub(super) title: Option<String>,
    #[serde(default, deserialize_with = "fitting")]
    pub(super) message: Option<String>,
}

/// The open progress of one process, by token.
#[derive(Debug, Default)]
pub(crate) struct BackgroundWork {
    open: HashMap<String, OpenWork>,
    /// The number of those that have begun.
    begun: usize,
}

#[derive(Debug)]
struct OpenWork {
    title: String,
    message: String,
}

impl BackgroundWork {
    /// Starts over for a new process.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Takes a `$/progress` in.
    pub(super) fn progress(&mut self, progress: &Progress) {
        let Progress { token, value: ProgressValue { kind, title, message } } = progress;
        let short = |text: &Option<String>| model::name(text.as_deref().unwrap_or_default());
        match kind.as_str() {
            "begin" if self.open.len() < MOST_OPEN => {
                self.begun += 1;
                self.open.insert(token.to_string(), OpenWork { title: short(title), message: short(message) });
            }
            "report" => {
                if let Some(work) = self.open.get_mut(&token.to_string()).filter(|_| message.is_some()) {
                    work.message = short(message);
                }
            }
            "end" => {
                self.open.remove(&token.to_string());
            }
            _ => {}
        }
    }

    /// The open work in the server's words, such as `indexing 3/66`; `None` without any.
    pub(super) fn words(&self) -> Option<String> {
        let mut works: Vec<String> = self
            .open
            .values()
            .map(|work| format!("{} {}", work.title, work.message).trim().to_owned())
            .filter(|words| !words.is_empty())
            .collect();
        works.sort();
        (!self.open.is_empty()).then(|| if works.is_empty() { "work in progress".to_owned() } else { works.join(", ") })
    }
}

impl LanguageServer {
    /// The part that the server has not read yet, where its answers about the whole project depend on that.
    pub(super) fn unread(&self, run: &ServerConnection) -> Option<String> {
        let indexes = run.knows(Fact::AnswersWhileIndexing);
        let (words, has_index) = {
            let background = lock(&self.inner.observed.background);
            let is_work = indexes || run.knows(Fact::AnswersWhileLoading) || !run.is_known();
            (background.words().filter(|_| is_work), background.begun > 0)
        };
        let texts = || match lock(&self.inner.documents).unpublished() {
            0 => None,
            count => Some(format!("reading {}", counted(count, "file"))),
        };
        words.or_else(|| texts().filter(|_| indexes && !has_index))
    }

    /// The number of such works so far. One that begins and ends before an answer arrives has shaped that.
    pub(super) fn works_begun(&self) -> usize {
        lock(&self.inner.observed.background).begun
    }

    /// Waits until the server has no such work or is gone, for `most` at most.
    pub(super) async fn rest(&self, run: &ServerConnection, most: Duration) {
        self.wait_while(|| self.unread(run).is_some(), most).await;
    }

    /// Waits until the first such work of the server, for `most` at most.
    pub(super) async fn begins(&self, most: Duration) {
        self.wait_while(|| self.works_begun() == 0, most).await;
    }

    async fn wait_while(&self, is_waiting: impl Fn() -> bool, most: Duration) {
        let mut news = self.inner.news.subscribe();
        let rested = async { while is_waiting() && news.changed().await.is_ok() {} };
        let mut phase = self.inner.phase.subscribe();
        tokio::select! {
            () = rested => {}
            // Work that is open after the time is a part of the answer.
            () = tokio::time::sleep(most) => {}
            _ = phase.wait_for(|phase| !matches!(phase, ServerPhase::Running(_))) => {}
        }
    }
}

impl Inner {
    /// Takes the progress of a compiler or of the server's own work in.
    pub(super) fn progressed(&self, progress: &Progress) {
        let edits = lock(&self.documents).edits;
        lock(&self.observed.compiler).progress(progress, edits);
        lock(&self.observed.background).progress(progress);
        self.bump();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(work: &mut BackgroundWork, token: &str, kind: &str, title: Option<&str>, message: Option<&str>) {
        let value = ProgressValue { kind: kind.into(), title: title.map(Into::into), message: message.map(Into::into) };
        work.progress(&Progress { token: token.into(), value });
    }

    #[test]
    fn the_open_work_is_named_with_its_last_message() {
        let mut work = BackgroundWork::default();
        assert_eq!(work.words(), None);
        note(&mut work, "a", "begin", Some("indexing"), None);
        assert_eq!(work.words().as_deref(), Some("indexing"));
        note(&mut work, "a", "report", None, Some("3/66"));
        note(&mut work, "b", "begin", None, None);
        assert_eq!(work.words().as_deref(), Some("indexing 3/66"));
        note(&mut work, "a", "report", None, None);
        note(&mut work, "a", "end", None, None);
        assert_eq!(work.words().as_deref(), Some("work in progress"));
        note(&mut work, "b", "end", None, None);
        note(&mut work, "c", "report", None, Some("of work that never began"));
        assert_eq!(work.words(), None);
        note(&mut work, "c", "begin", Some("indexing"), None);
        work.forget();
        assert_eq!(work.words(), None);
    }
}
