//! Decides which proxy of an editor answers first where several are asked for the actions in a file.
//!
//! Helix 25.07.1 lists the actions of its servers in the order of their answers. The proxy that offers Sextant's actions
//! answers first, so that every action has the same place each time.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use sextant_base::lock::lock;

/// Requests of one editor within this time are one request of its user.
const TOGETHER: Duration = Duration::from_millis(100);

/// The longest wait for the first answer. The editor itself shows nothing before it has all answers.
const LONGEST: Duration = Duration::from_secs(5);

/// The time in which the first answer reaches the editor: the two come through pipes of their own.
const MARGIN: Duration = Duration::from_millis(10);

/// A file of an editor, by the editor's process and the URI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AskedFile {
    pub(super) editor: Option<u32>,
    pub(super) uri: String,
}

#[derive(Clone, Copy, Debug)]
struct LastAsked {
    at: Instant,
    /// Requests without an answer.
    open: usize,
}

/// The requests to the proxies that offer Sextant's actions.
#[derive(Debug)]
pub(super) struct ActionOrder {
    last: Mutex<HashMap<AskedFile, LastAsked>>,
    news: watch::Sender<()>,
}

impl Default for ActionOrder {
    fn default() -> Self {
        Self { last: Mutex::default(), news: watch::Sender::new(()) }
    }
}

impl ActionOrder {
    pub(super) fn asked(&self, file: AskedFile) {
        {
            let (mut last, at) = (lock(&self.last), Instant::now());
            last.retain(|_, known| known.open > 0 || known.at.elapsed() < TOGETHER);
            let open = last.get(&file).map_or(0, |known| known.open) + 1;
            last.insert(file, LastAsked { at, open });
        }
        self.news.send_replace(());
    }

    pub(super) fn answered(&self, file: &AskedFile) {
        if let Some(known) = lock(&self.last).get_mut(file) {
            known.open = known.open.saturating_sub(1);
        }
        self.news.send_replace(());
    }

    /// A proxy of this editor is gone: none of its answers comes any more.
    pub(super) fn left(&self, editor: Option<u32>) {
        lock(&self.last).retain(|file, _| file.editor != editor);
        self.news.send_replace(());
    }

    /// Waits until a proxy beside the first one may answer.
    pub(super) async fn turn(&self, file: &AskedFile) {
        let (began, mut news) = (Instant::now(), self.news.subscribe());
        loop {
            let known = lock(&self.last).get(file).copied();
            let Some(until) = waits_until(known, began) else { return sleep(MARGIN).await };
            if timeout_at(until, news.changed()).await.is_err() {
                return;
            }
        }
    }
}

/// The end of the wait of a proxy that was asked at `began`; `None` if the first one has answered.
fn waits_until(known: Option<LastAsked>, began: Instant) -> Option<Instant> {
    match known {
        Some(known) if known.open > 0 => Some(began + LONGEST),
        Some(known) if known.at + TOGETHER >= began => None,
        _ => Some(began + TOGETHER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(editor: u32) -> AskedFile {
        AskedFile { editor: Some(editor), uri: "file:///a".to_owned() }
    }

    #[test]
    fn the_others_answer_behind_the_proxy_that_offers_actions_and_wait_long_for_no_other() {
        let (order, began) = (ActionOrder::default(), Instant::now());
        let until = |began: Instant| waits_until(lock(&order.last).get(&file(1)).copied(), began);
        assert_eq!(until(began), Some(began + TOGETHER), "it may be asked in a moment");
        order.asked(file(2));
        assert_eq!(until(began), Some(began + TOGETHER), "another editor");
        order.asked(file(1));
        order.asked(file(1));
        order.answered(&file(1));
        assert_eq!(until(began), Some(began + LONGEST), "it has one more to answer");
        order.answered(&file(1));
        assert_eq!(until(began), None);
        let later = Instant::now() + TOGETHER * 2;
        assert_eq!(until(later), Some(later + TOGETHER), "that was an earlier request");
        order.asked(file(1));
        order.left(Some(1));
        assert_eq!(until(began), Some(began + TOGETHER), "it is gone");
    }
}
