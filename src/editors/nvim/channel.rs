//! Calls into the Lua layer: a request goes out as a short `exec_lua`, its answer comes back in pieces.
//!
//! Neovim never waits for us, and no single message is large: nvim-rs decodes in quadratic time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Neovim, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tokio::fs::File;
use tokio::sync::{mpsc, oneshot};

use crate::base::printable::printable;
use crate::editor::error::EditorError;
use crate::editor::event::Event;
use crate::editors::nvim::wire::Envelope;

pub type Writer = Compat<File>;

/// What a call may take beyond its own deadline before the editor counts as not answering.
const SLACK: Duration = Duration::from_secs(10);

struct Pending {
    text: Vec<u8>,
    done: oneshot::Sender<Vec<u8>>,
}

/// The way to one Neovim. Cheap to share.
pub struct Channel {
    nvim: Neovim<Writer>,
    next: AtomicU64,
    pending: Mutex<HashMap<u64, Pending>>,
    events: mpsc::UnboundedSender<Event>,
}

/// An event as Neovim gets it: nothing in it steers a terminal. Paths stay as they are, since Neovim opens them.
fn shown(event: &Event) -> serde_json::Result<String> {
    fn clean(value: &mut Json) {
        match value {
            Json::String(text) => {
                if let Cow::Owned(marked) = printable(text) {
                    *text = marked;
                }
            }
            Json::Array(list) => list.iter_mut().for_each(clean),
            Json::Object(fields) => {
                fields.iter_mut().filter(|(key, _)| *key != "path").for_each(|(_, value)| clean(value))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    let mut value = serde_json::to_value(event)?;
    clean(&mut value);
    serde_json::to_string(&value)
}

impl Channel {
    /// Starts the task that sends events in order.
    pub fn new(nvim: Neovim<Writer>) -> Self {
        let (events, mut queue) = mpsc::unbounded_channel::<Event>();
        let events_to = nvim.clone();
        tokio::spawn(async move {
            while let Some(event) = queue.recv().await {
                if let Ok(json) = shown(&event) {
                    let code = "require('sextant.rpc').event(...)";
                    if let Err(error) = events_to.exec_lua(code, vec![Value::from(json)]).await {
                        tracing::warn!(%error, "an event was not shown");
                    }
                }
            }
        });
        Self { nvim, next: AtomicU64::new(1), pending: Mutex::new(HashMap::new()), events }
    }

    /// Queues an event for the Lua layer; never waits.
    pub fn event(&self, event: Event) {
        // The queue's end is gone only while the process ends.
        let _ = self.events.send(event);
    }

    /// Runs a statement that answers nothing.
    pub async fn tell(&self, code: &str, json: String) -> Result<(), EditorError> {
        let result = self.nvim.exec_lua(code, vec![Value::from(json)]).await;
        result.map(|_| ()).map_err(|error| EditorError::Other(error.to_string()))
    }

    /// Calls a handler of `lua/sextant/rpc.lua` and reads its answer. `about` names the subject in errors.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        about: &str,
        budget: Duration,
    ) -> Result<T, EditorError> {
        let json = serde_json::to_string(params).map_err(|error| EditorError::Other(error.to_string()))?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (done, answer) = oneshot::channel();
        self.lock().insert(id, Pending { text: Vec::new(), done });
        let guard = Forget { channel: self, id };
        let exchange = async {
            let args = vec![Value::from(id), Value::from(method), Value::from(json)];
            if let Err(error) = self.nvim.exec_lua("require('sextant.rpc').call(...)", args).await {
                return Err(closed_or(&error));
            }
            answer.await.map_err(|_| EditorError::Closed)
        };
        let limit = budget + SLACK;
        let bytes = tokio::time::timeout(limit, exchange)
            .await
            .map_err(|_| EditorError::Timeout(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)))??;
        drop(guard);
        let text = std::str::from_utf8(&bytes).map_err(|_| EditorError::NotText(about.to_owned()))?;
        let envelope: Envelope = serde_json::from_str(text).map_err(|error| unreadable(method, &error))?;
        if let Some(error) = envelope.error {
            return Err(error.into_editor(about));
        }
        serde_json::from_value(envelope.result).map_err(|error| unreadable(method, &error))
    }

    /// A piece of an answer has come; the last one wakes the caller.
    pub fn take_piece(&self, args: &[Value]) {
        let (Some(id), Some(last), Some(Value::String(piece))) =
            (args.first().and_then(Value::as_u64), args.get(1).and_then(Value::as_bool), args.get(2))
        else {
            tracing::warn!("a reply that is none was dropped");
            return;
        };
        let mut pending = self.lock();
        if let Some(open) = pending.get_mut(&id) {
            open.text.extend_from_slice(piece.as_bytes());
            if last && let Some(open) = pending.remove(&id) {
                let _ = open.done.send(open.text);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the place of a call that was cancelled or timed out, so that a late answer finds nobody.
struct Forget<'a> {
    channel: &'a Channel,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.channel.lock().remove(&self.id);
    }
}

fn closed_or(error: &nvim_rs::error::CallError) -> EditorError {
    if error.is_channel_closed() { EditorError::Closed } else { EditorError::Other(error.to_string()) }
}

fn unreadable(method: &str, error: &serde_json::Error) -> EditorError {
    EditorError::Other(format!("the editor's answer to {method} cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::event::Entry;

    #[test]
    fn an_event_steers_no_terminal_and_its_paths_can_still_be_opened() {
        let entry = Entry { path: "a\u{1b}.py".into(), line: 1, column: 1, kind: "E".into(), text: "b\u{9b}c".into() };
        let title = "t\u{202e}".to_owned();
        let event = Event::Introduced { title, entries: vec![entry], open: false, amend: false };
        let json: Json = serde_json::from_str(&shown(&event).unwrap()).unwrap();
        assert_eq!(json["title"], "t\u{fffd}");
        assert_eq!(json["entries"][0]["text"], "b\u{fffd}c");
        assert_eq!(json["entries"][0]["path"], "a\u{1b}.py");
        let words = Event::Words { text: "a\n\u{1b}]0;x\u{7}".into() };
        assert!(shown(&words).unwrap().contains("a\\n␛]0;x␇"));
    }
}
