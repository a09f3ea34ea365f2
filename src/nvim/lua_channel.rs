//! Calls into the Lua layer: a request goes out as a short `exec_lua`, its answer comes back in pieces.
//!
//! Neovim never waits for Sextant, and no single message is large: nvim-rs decodes in quadratic time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Neovim, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::fs::File;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::answer_texts::AnswerTexts;
use crate::lua_messages::Envelope;
use crate::nvim_wording;
use sextant_base::failure::FailureKind;
use sextant_base::lock::lock;
use sextant_engine::api::{EditorError, Event};

pub type ChannelWriter = Compat<File>;

/// The extra time of a call, beyond its own deadline, before the editor counts as not answering.
const SLACK: Duration = Duration::from_secs(10);

struct PendingCalls {
    text: Vec<u8>,
    done: oneshot::Sender<Vec<u8>>,
}

/// The way to one Neovim. Cheap to share.
pub struct Channel {
    nvim: Neovim<ChannelWriter>,
    next: AtomicU64,
    pending: Mutex<HashMap<u64, PendingCalls>>,
    events: mpsc::UnboundedSender<QueuedEvent>,
    /// The texts that the events show, without marks.
    pub(crate) written: Mutex<AnswerTexts>,
}

/// An event, and the root of its workspace.
type QueuedEvent = (Option<PathBuf>, Event);

/// The time over which the words of a model are put together.
const FRAME: Duration = Duration::from_millis(33);
/// Bytes of words in one message: Neovim puts them into its buffer in one turn of its loop, in some 4 ms.
const MOST: usize = 64 << 10;

impl Channel {
    /// Starts the task that sends events in order.
    pub fn new(nvim: Neovim<ChannelWriter>) -> Self {
        let (events, queue) = mpsc::unbounded_channel();
        let events_to = nvim.clone();
        tokio::spawn(async move {
            let mut frames = Frames::of(queue);
            while let Some((root, event)) = frames.next().await {
                if let Ok(json) = nvim_wording::json(root.as_deref(), &event) {
                    let code = "require('sextant.ui.show').event(...)";
                    if let Err(error) = events_to.exec_lua(code, vec![Value::from(json)]).await {
                        tracing::warn!(%error, "an event was not shown");
                    }
                }
            }
        });
        let (pending, written) = (Mutex::default(), Mutex::default());
        Self { nvim, next: AtomicU64::new(1), pending, events, written }
    }

    /// Queues an event for the Lua layer, with the root of its workspace; never waits.
    pub fn event(&self, root: Option<&Path>, event: Event) {
        lock(&self.written).note(&event);
        // The receiver of the queue is gone only while the process ends.
        let _ = self.events.send((root.map(Path::to_owned), event));
    }

    /// A number that no other call or question of this process has.
    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs a statement that has no answer.
    pub async fn tell(&self, code: &str, json: String) -> Result<(), EditorError> {
        let result = self.nvim.exec_lua(code, vec![Value::from(json)]).await;
        result.map(|_| ()).map_err(|error| closed_or(&error))
    }

    /// Calls a handler of `lua/sextant/rpc/dispatch.lua` and reads its answer. `about` names the subject in errors.
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
        self.lock().insert(id, PendingCalls { text: Vec::new(), done });
        let guard = ForgetCall { channel: self, id };
        let exchange = async {
            let args = vec![Value::from(id), Value::from(method), Value::from(json)];
            let nvim = self.nvim.clone();
            // A request that is dropped before Neovim has answered it ends the whole channel: nvim-rs finds no receiver
            // for the answer. A stop drops calls, so a task of its own waits for the request.
            let sent =
                tokio::spawn(async move { nvim.exec_lua("require('sextant.rpc.dispatch').call(...)", args).await });
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
        let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| unreadable(method, &error))?;
        if let Some(error) = envelope.error {
            return Err(error.into_editor(about));
        }
        let result = envelope.result.map_or("null", RawValue::get);
        serde_json::from_str(result).map_err(|error| unreadable(method, &error))
    }

    /// Takes a piece of an answer; the last one wakes the caller.
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

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, PendingCalls>> {
        lock(&self.pending)
    }
}

/// The queue of events, with the words of a model put together. A screen shows 30 pictures a second, and a fast model
/// sends hundreds of pieces.
struct Frames {
    queue: mpsc::UnboundedReceiver<QueuedEvent>,
    /// The words that did not fit into the last message.
    rest: Option<QueuedEvent>,
    /// The event that came behind the words, and is next.
    held: Option<QueuedEvent>,
    /// The time at which words were sent last.
    last: Option<Instant>,
}

impl Frames {
    fn of(queue: mpsc::UnboundedReceiver<QueuedEvent>) -> Self {
        Self { queue, rest: None, held: None, last: None }
    }

    async fn next(&mut self) -> Option<QueuedEvent> {
        let (root, event) = match self.rest.take().or_else(|| self.held.take()) {
            Some(known) => known,
            None => self.queue.recv().await?,
        };
        let Event::Words { mut text, thought } = event else { return Some((root, event)) };
        let until = self.last.map_or_else(Instant::now, |last| last + FRAME);
        while self.held.is_none() {
            match tokio::time::timeout_at(until, self.queue.recv()).await {
                Ok(Some((of, Event::Words { text: more, thought: same }))) if of == root && same == thought => {
                    text.push_str(&more);
                }
                // A user who stops a task wants to read no more of it.
                Ok(Some((of, event))) if is_stop(&event) => return Some((of, event)),
                Ok(Some(other)) => self.held = Some(other),
                _ => break,
            }
        }
        self.last = Some(Instant::now());
        let rest = text.split_off(text.floor_char_boundary(MOST));
        self.rest = (!rest.is_empty()).then(|| (root.clone(), Event::Words { text: rest, thought }));
        Some((root, Event::Words { text, thought }))
    }
}

fn is_stop(event: &Event) -> bool {
    matches!(event, Event::Failed { failure } if failure.kind == FailureKind::Cancelled)
}

/// Drops the place of a call that was cancelled or timed out, so that a late answer finds no receiver.
struct ForgetCall<'a> {
    channel: &'a Channel,
    id: u64,
}

impl Drop for ForgetCall<'_> {
    fn drop(&mut self) {
        self.channel.lock().remove(&self.id);
    }
}

fn closed_or(error: &nvim_rs::error::CallError) -> EditorError {
    // Nothing can be written to an editor that has ended.
    let unsent = matches!(error, nvim_rs::error::CallError::SendError(..));
    if unsent || error.is_channel_closed() { EditorError::Closed } else { EditorError::Other(error.to_string()) }
}

fn unreadable(method: &str, error: &serde_json::Error) -> EditorError {
    EditorError::Other(format!("the editor's answer to {method} cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_base::failure::Failure;

    fn words(text: &str) -> QueuedEvent {
        (None, Event::Words { text: text.to_owned(), thought: false })
    }

    #[tokio::test]
    async fn words_are_put_together_in_order_and_at_most_once_a_frame() {
        let (events, queue) = mpsc::unbounded_channel();
        let mut frames = Frames::of(queue);
        let send = |event: QueuedEvent| events.send(event).unwrap();
        for _ in 0..2 {
            let (before, began) = (frames.last, Instant::now());
            (0..1000).for_each(|number| send(words(&format!("{number} "))));
            let all: String = (0..1000).map(|number| format!("{number} ")).collect();
            assert_eq!(frames.next().await, Some(words(&all)));
            let gap = before.map_or(FRAME, |before| frames.last.unwrap() - before);
            assert!(gap >= FRAME, "{gap:?} {:?}", began.elapsed());
        }
        // Thinking and the answer stay apart.
        send((None, Event::Words { text: "t".into(), thought: true }));
        send(words("a"));
        assert_eq!(frames.next().await, Some((None, Event::Words { text: "t".into(), thought: true })));
        assert_eq!(frames.next().await, Some(words("a")));
        // An event behind words waits for no frame, and a stop takes the place of the unread words.
        for event in [words("a"), words("b"), (None, Event::Progress { text: "p".into() }), words("c")] {
            send(event);
        }
        send((None, Event::Failed { failure: Failure::cancelled() }));
        assert_eq!(frames.next().await, Some(words("ab")));
        assert_eq!(frames.next().await, Some((None, Event::Progress { text: "p".into() })));
        assert_eq!(frames.next().await, Some((None, Event::Failed { failure: Failure::cancelled() })));
    }

    #[tokio::test]
    async fn many_words_are_sent_in_parts_before_what_is_said_behind_them() {
        let (events, queue) = mpsc::unbounded_channel();
        let mut frames = Frames::of(queue);
        let all = "ü and so on, ".repeat(20_000);
        let progress = (None, Event::Progress { text: "p".into() });
        events.send(words(&all)).unwrap();
        events.send(progress.clone()).unwrap();
        let mut shown = String::new();
        loop {
            match frames.next().await {
                Some((None, Event::Words { text, .. })) => {
                    assert!(text.len() <= MOST, "{}", text.len());
                    shown.push_str(&text);
                }
                other => {
                    assert_eq!(other, Some(progress));
                    break;
                }
            }
        }
        assert_eq!(shown, all);
        // A stop takes the place of the parts that are still to be sent.
        events.send(words(&all)).unwrap();
        assert!(matches!(frames.next().await, Some((None, Event::Words { .. }))));
        events.send((None, Event::Failed { failure: Failure::cancelled() })).unwrap();
        assert_eq!(frames.next().await, Some((None, Event::Failed { failure: Failure::cancelled() })));
        assert_eq!(frames.rest, None);
    }
}
