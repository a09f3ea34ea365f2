//! Keeps the links to the proxies: which exist, which was used last, and the messages over each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::engine::proxy_answer_order::{ActionOrder, AskedFile};
use crate::link::link_channel::{LinkError, LinkSender};
use crate::link::{EngineSays, ForEditor, Hello, LOOK};
use crate::message_line;
use sextant_base::lock::lock;
use sextant_base::positions::Position;
use sextant_diagnostics::server::LanguageServer;

/// The time limit for an editor's answer that needs no user.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// The wait for the other proxies of an editor whose engine was gone, from the first one that is back: they look for an
/// engine once in [`LOOK`], and send their texts behind their greeting.
const RETURN: Duration = LOOK.saturating_add(Duration::from_millis(500));

/// LSP's types of messages.
pub(super) const ERROR: u8 = 1;
pub(super) const WARNING: u8 = 2;
pub(super) const INFO: u8 = 3;

/// One proxy.
#[derive(Debug)]
pub(super) struct EngineLink {
    pub(super) id: u64,
    pub(super) hello: Hello,
    pub(super) out: LinkSender<EngineSays>,
    /// The server behind it, as one that can be asked.
    pub(super) server: Option<Arc<LanguageServer>>,
    /// Another server of its kind, for texts that the editor does not have.
    pub(super) spare: Option<Arc<LanguageServer>>,
    /// The time of the last message to its editor, which has one line for the messages of all its proxies.
    pub(super) messaged: Arc<Mutex<Option<Instant>>>,
}

impl EngineLink {
    /// A file of its editor that the editor asks for actions in.
    pub(super) fn asked_file(&self, uri: String) -> AskedFile {
        AskedFile { editor: self.hello.editor_pid, uri }
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.out.notify(&EngineSays::Notify(ForEditor { method: method.to_owned(), params }));
    }

    /// Asks the editor. Without `limit` a user may take any time.
    pub(super) async fn ask(&self, method: &str, params: Value, limit: Option<Duration>) -> Result<Value, LinkError> {
        let asked = self.out.request(&EngineSays::Request(ForEditor { method: method.to_owned(), params }));
        match limit {
            None => asked.await,
            Some(limit) => {
                let late = || LinkError::new(format!("the editor did not answer {method}"), "try again");
                tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(late()))
            }
        }
    }

    /// Shows a document, with the cursor at a place, or where it was. The error is the reason why it is not shown.
    pub(super) async fn show(&self, uri: &str, place: Option<Position>) -> Result<(), String> {
        let mut params = json!({"uri": uri, "external": false, "takeFocus": true});
        if let Some(place) = place {
            params["selection"] = json!({"start": place, "end": place});
        }
        let answer = self.ask("window/showDocument", params, Some(ANSWER)).await;
        match answer.map_err(|error| error.to_string())?["success"] == false {
            true => Err("the editor did not open it".to_owned()),
            false => Ok(()),
        }
    }

    /// Shows one line on the editor's status line, whatever the text. A narrow screen shows all of it.
    pub(super) fn message(&self, kind: u8, text: &str) {
        let text = message_line::fit(text, "");
        *lock(&self.messaged) = Some(Instant::now());
        self.notify("window/showMessage", json!({"type": kind, "message": text}));
    }

    /// The time since the last message.
    pub(super) fn messaged(&self) -> Option<Duration> {
        lock(&self.messaged).map(|at| at.elapsed())
    }

    pub(super) fn can(&self, pointer: &str) -> bool {
        self.hello.client_capabilities.pointer(pointer).is_some_and(|value| !value.is_null() && value != false)
    }

    /// Adds the language of this file to its server. The answer is whether that is new.
    pub(super) fn covers(&self, path: &str) -> bool {
        let servers = self.server.iter().chain(&self.spare);
        // Each server has to add it.
        servers.filter(|server| server.also_covers(path)).count() > 0
    }

    /// The editor's name for a reader: `Helix`.
    pub(super) fn editor(&self) -> String {
        let name = self.hello.client.name.trim();
        let mut letters = name.chars();
        match letters.next() {
            Some(first) => first.to_uppercase().chain(letters).take(40).collect(),
            None => "an editor".to_owned(),
        }
    }
}

/// All links; the one that was used last is the last.
#[derive(Debug, Default)]
pub(super) struct Links {
    list: Mutex<Vec<Arc<EngineLink>>>,
    /// The link that asked for the running task, 0 for none: its user gets the news, wherever another user types.
    asking: AtomicU64,
    last: AtomicU64,
    /// The order in which they answer the editor.
    pub(super) order: ActionOrder,
    /// The number of links.
    count: watch::Sender<usize>,
    /// The end of the wait for proxies that had another engine before.
    returning: Mutex<Option<Instant>>,
}

impl Links {
    pub(super) fn next_id(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn add(&self, link: Arc<EngineLink>) {
        let mut list = lock(&self.list);
        if link.hello.again {
            lock(&self.returning).get_or_insert_with(|| Instant::now() + RETURN);
        }
        list.push(link);
        self.count.send_replace(list.len());
    }

    pub(super) fn remove(&self, id: u64) {
        let mut list = lock(&self.list);
        list.retain(|link| link.id != id);
        self.count.send_replace(list.len());
    }

    pub(super) fn used(&self, id: u64) {
        let mut list = lock(&self.list);
        if let Some(at) = list.iter().position(|link| link.id == id) {
            let link = list.remove(at);
            list.push(link);
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<Arc<EngineLink>> {
        lock(&self.list).iter().find(|link| link.id == id).cloned()
    }

    /// The time of the last message to an editor, shared by its links.
    pub(super) fn messaged(&self, editor: Option<u32>) -> Arc<Mutex<Option<Instant>>> {
        let list = lock(&self.list);
        let of_editor = list.iter().find(|link| editor.is_some() && link.hello.editor_pid == editor);
        of_editor.map(|link| Arc::clone(&link.messaged)).unwrap_or_default()
    }

    pub(super) fn used_last(&self) -> Option<Arc<EngineLink>> {
        self.get(self.asking.load(Ordering::Relaxed)).or_else(|| lock(&self.list).last().cloned())
    }

    pub(super) fn asked_over(&self, id: Option<u64>) {
        self.asking.store(id.unwrap_or(0), Ordering::Relaxed);
    }

    pub(super) fn all(&self) -> Vec<Arc<EngineLink>> {
        lock(&self.list).clone()
    }

    /// Waits for the proxies that come back to a new engine. Without them a file that one of them has open would be read
    /// from the disk, where the unsaved edits of a task are missing.
    pub(super) async fn returned(&self) {
        let until = *lock(&self.returning);
        if let Some(until) = until {
            tokio::time::sleep_until(until.into()).await;
        }
    }

    pub(super) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}
