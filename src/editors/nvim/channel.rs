//! Calls into the Lua layer: a request goes out as a short `exec_lua`, its answer comes back in pieces.
//!
//! Neovim never waits for us, and no single message is large: nvim-rs decodes in quadratic time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Neovim, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::fs::File;
use tokio::sync::{mpsc, oneshot};

use crate::base::lock::lock;
use crate::editor::error::EditorError;
use crate::editor::event::Event;
use crate::editors::nvim::wire::Envelope;
use crate::editors::nvim::wording;

pub type ChannelWriter = Compat<File>;

/// What a call may take beyond its own deadline before the editor counts as not answering.
const SLACK: Duration = Duration::from_secs(10);

struct Pending {
    text: Vec<u8>,
    done: oneshot::Sender<Vec<u8>>,
}

/// The way to one Neovim. Cheap to share.
pub struct Channel {
    nvim: Neovim<ChannelWriter>,
    next: AtomicU64,
    pending: Mutex<HashMap<u64, Pending>>,
    events: mpsc::UnboundedSender<(Option<PathBuf>, Event)>,
}

impl Channel {
    /// Starts the task that sends events in order.
    pub fn new(nvim: Neovim<ChannelWriter>) -> Self {
        let (events, mut queue) = mpsc::unbounded_channel::<(Option<PathBuf>, Event)>();
        let events_to = nvim.clone();
        tokio::spawn(async move {
            while let Some((root, event)) = queue.recv().await {
                if let Ok(json) = wording::json(root.as_deref(), &event) {
                    let code = "require('sextant.show').event(...)";
                    if let Err(error) = events_to.exec_lua(code, vec![Value::from(json)]).await {
                        tracing::warn!(%error, "an event was not shown");
                    }
                }
            }
        });
        Self { nvim, next: AtomicU64::new(1), pending: Mutex::new(HashMap::new()), events }
    }

    /// Queues an event for the Lua layer, with the root of the workspace that it is of; never waits.
    pub fn event(&self, root: Option<&Path>, event: Event) {
        // The queue's end is gone only while the process ends.
        let _ = self.events.send((root.map(Path::to_owned), event));
    }

    /// A number that no other call or question of this process has.
    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs a statement that answers nothing.
    pub async fn tell(&self, code: &str, json: String) -> Result<(), EditorError> {
        let result = self.nvim.exec_lua(code, vec![Value::from(json)]).await;
        result.map(|_| ()).map_err(|error| EditorError::Other(error.to_string()))
    }

    /// Calls a handler of `lua/sextant/dispatch.lua` and reads its answer. `about` names the subject in errors.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        about: &str,
        budget: Duration,
    ) -> Result<T, EditorError> {
        let json = serde_json::to_string(params).map_err(|error| EditorError::Other(error.to_string()))?;
        let id = self.number();
        let (done, answer) = oneshot::channel();
        self.lock().insert(id, Pending { text: Vec::new(), done });
        let guard = Forget { channel: self, id };
        let exchange = async {
            let args = vec![Value::from(id), Value::from(method), Value::from(json)];
            let nvim = self.nvim.clone();
            // A request that is dropped before Neovim has answered it ends the whole channel: nvim-rs finds nobody to
            // give the answer to. A stop drops calls, so the request is waited for in a task of its own.
            let sent = tokio::spawn(async move { nvim.exec_lua("require('sextant.dispatch').call(...)", args).await });
            match sent.await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(closed_or(&error)),
                Err(_) => return Err(EditorError::Closed),
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
        lock(&self.pending)
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
