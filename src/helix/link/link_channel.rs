//! Makes a link of the two ends of a socket: its writer, its reader, and the call that each answer belongs to.

use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use sextant_base::lock::lock;
use sextant_diagnostics::server::content_length::{self, Frame};

/// The largest message, in bytes: the text of a whole file, twice.
const LIMIT: u64 = 64 * 1024 * 1024;

/// The reason why a request over a link has no result. `data.hint` has the hint, if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct LinkError {
    #[serde(default)]
    pub code: i64,
    pub message: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl LinkError {
    /// The other side is gone, or was never there.
    pub const GONE: i64 = -32099;

    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: -32000, message: message.into(), data: json!({"hint": hint.into()}) }
    }

    pub fn gone() -> Self {
        Self { code: Self::GONE, message: "the other side is gone".to_owned(), data: Value::Null }
    }

    pub fn hint(&self) -> &str {
        self.data["hint"].as_str().unwrap_or_default()
    }
}

pub type LinkReply = Result<Value, LinkError>;

/// A message from a link: a request if it has an id, else a notification. Answers go to their callers.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkCall<M> {
    /// The id for an answer by [`LinkSender::reply`].
    pub id: Option<u64>,
    pub message: M,
}

/// A body as it is on the wire.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LinkBody {
    id: Option<u64>,
    method: Option<String>,
    params: Value,
    result: Value,
    error: Option<LinkError>,
}

#[derive(Serialize)]
struct SentMessage<'a, M> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(flatten)]
    message: &'a M,
}

/// Requests whose answer is awaited; `None` once the link is gone.
type WaitingCalls = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<LinkReply>>>>>;

/// An item that waits to be written.
#[derive(Debug)]
enum Outgoing {
    Message(Vec<u8>),
    /// Signalled when everything before it is written.
    Mark(oneshot::Sender<()>),
}

/// Writes to a link: from everywhere, at once, and without waiting for the other side.
#[derive(Debug)]
pub struct LinkSender<M> {
    queue: mpsc::UnboundedSender<Outgoing>,
    waiting: WaitingCalls,
    last: Arc<AtomicU64>,
    message: PhantomData<fn(M)>,
}

impl<M> Clone for LinkSender<M> {
    fn clone(&self) -> Self {
        let (queue, waiting, last) = (self.queue.clone(), Arc::clone(&self.waiting), Arc::clone(&self.last));
        Self { queue, waiting, last, message: PhantomData }
    }
}

impl<M: Serialize> LinkSender<M> {
    /// False if the other side is gone.
    pub fn notify(&self, message: &M) -> bool {
        self.send(&SentMessage { jsonrpc: "2.0", id: None, message })
    }

    /// Sends at once. The returned future waits for the answer, as long as the link holds.
    pub fn request(&self, message: &M) -> impl Future<Output = LinkReply> + Send + use<M> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        let open = lock(&self.waiting).as_mut().map(|waiting| waiting.insert(id, sender)).is_some();
        let sent = open && self.send(&SentMessage { jsonrpc: "2.0", id: Some(id), message });
        async move { if sent { answer.await.unwrap_or_else(|_| Err(LinkError::gone())) } else { Err(LinkError::gone()) } }
    }

    pub fn reply(&self, id: u64, reply: &LinkReply) -> bool {
        self.send(&match reply {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    fn send(&self, message: &impl Serialize) -> bool {
        // Every message here can be JSON: its keys are strings.
        let bytes = serde_json::to_vec(message).unwrap_or_default();
        self.queue.send(Outgoing::Message(content_length::encode(&bytes))).is_ok()
    }

    /// Waits until every earlier message is written, or no more can be.
    pub async fn written(&self) {
        let (mark, written) = oneshot::channel();
        let _ = self.queue.send(Outgoing::Mark(mark));
        let _ = written.await;
    }
}

/// Reads from a link.
#[derive(Debug)]
pub struct LinkReceiver<M> {
    reader: BufReader<OwnedReadHalf>,
    waiting: WaitingCalls,
    refuse: mpsc::UnboundedSender<Outgoing>,
    message: PhantomData<fn() -> M>,
}

impl<M: DeserializeOwned> LinkReceiver<M> {
    /// The next call of the other side; `None` once it is gone. A call that cannot be read is refused and passed over.
    pub async fn next(&mut self) -> Option<LinkCall<M>> {
        loop {
            let body = match content_length::read(&mut self.reader, LIMIT).await {
                Ok(Some(Frame::Body(body))) => body,
                Ok(Some(Frame::TooLarge(size))) => {
                    tracing::warn!(size, "a message of a link is too large");
                    continue;
                }
                Ok(None) | Err(_) => return None,
            };
            let Ok(LinkBody { id, method, params, result, error }) = serde_json::from_slice(&body) else {
                tracing::warn!("a message of a link cannot be read");
                continue;
            };
            let Some(method) = method else {
                let waiting = id.and_then(|id| lock(&self.waiting).as_mut()?.remove(&id));
                // The caller may be gone.
                let _ = waiting.map(|waiting| waiting.send(error.map_or(Ok(result), Err)));
                continue;
            };
            match serde_json::from_value(json!({"method": method, "params": params})) {
                Ok(message) => return Some(LinkCall { id, message }),
                Err(error) => self.refuse(id, &method, &error),
            }
        }
    }

    fn refuse(&self, id: Option<u64>, method: &str, error: &serde_json::Error) {
        tracing::warn!(method, %error, "a message of a link cannot be read");
        if let Some(id) = id {
            let error = LinkError::new(
                format!("{method} cannot be read: {error}"),
                "restart the editor: two versions of Sextant run at once",
            );
            let reply = json!({"jsonrpc": "2.0", "id": id, "error": error});
            let _ = self
                .refuse
                .send(Outgoing::Message(content_length::encode(&serde_json::to_vec(&reply).unwrap_or_default())));
        }
    }
}

impl<M> Drop for LinkReceiver<M> {
    /// No answers are read any more.
    fn drop(&mut self) {
        lock(&self.waiting).take();
    }
}

/// A link over a connected socket. `In` is the type of the other side's messages. The writer ends when its last sender
/// is dropped and the receiver with it.
///
/// # Errors
/// The other side is not of this user.
pub fn open<In, Out>(stream: UnixStream) -> io::Result<(LinkSender<Out>, LinkReceiver<In>)> {
    of_this_user(&stream)?;
    let (reader, writer) = stream.into_split();
    let (queue, queued) = mpsc::unbounded_channel();
    let waiting: WaitingCalls = Arc::new(Mutex::new(Some(HashMap::new())));
    tokio::spawn(write(writer, queued));
    let receiver = LinkReceiver {
        reader: BufReader::new(reader),
        waiting: Arc::clone(&waiting),
        refuse: queue.clone(),
        message: PhantomData,
    };
    Ok((LinkSender { queue, waiting, last: Arc::default(), message: PhantomData }, receiver))
}

async fn write(mut writer: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(outgoing) = queue.recv().await {
        match outgoing {
            Outgoing::Message(message) => {
                if writer.write_all(&message).await.is_err() {
                    return;
                }
            }
            Outgoing::Mark(mark) => drop(mark.send(())),
        }
    }
}

/// Only this user may connect, whichever process reaches the socket.
///
/// # Errors
/// The user is another one, or is not known.
pub fn of_this_user(stream: &UnixStream) -> io::Result<()> {
    if stream.peer_cred()?.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "the other side of the socket is of another user"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{AgentCommand, EngineSays, ForEditor, NamedDocument, ProxySays};

    type Ends = ((LinkSender<ProxySays>, LinkReceiver<EngineSays>), (LinkSender<EngineSays>, LinkReceiver<ProxySays>));

    fn pair() -> Ends {
        let (one, other) = UnixStream::pair().unwrap();
        (open(one).unwrap(), open(other).unwrap())
    }

    #[tokio::test]
    async fn what_one_side_says_the_other_reads_and_answers() {
        let ((proxy, mut from_engine), (engine, mut from_proxy)) = pair();
        let command = AgentCommand { command: "agent.ask".into(), arguments: vec![json!("x")], document: None };
        assert!(proxy.notify(&ProxySays::Command(command.clone())));
        let heard = from_proxy.next().await.unwrap();
        assert_eq!(heard, LinkCall { id: None, message: ProxySays::Command(command) });
        let asked = engine.request(&EngineSays::Request(ForEditor { method: "m".into(), params: json!({"a": 1}) }));
        let call = from_engine.next().await.unwrap();
        assert!(matches!(&call.message, EngineSays::Request(request) if request.method == "m"));
        proxy.reply(call.id.unwrap(), &Ok(json!({"applied": true})));
        let reading = tokio::spawn(async move { from_proxy.next().await });
        assert_eq!(asked.await, Ok(json!({"applied": true})));
        let lost = engine.request(&EngineSays::Notify(ForEditor { method: "m".into(), params: Value::Null }));
        drop((proxy, from_engine));
        assert_eq!(reading.await.unwrap(), None);
        assert_eq!(lost.await.unwrap_err().code, LinkError::GONE);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_refused_and_the_link_goes_on() {
        let (one, other) = UnixStream::pair().unwrap();
        let (_engine, mut from_proxy) = open::<ProxySays, EngineSays>(other).unwrap();
        let (mut reader, mut writer) = one.into_split();
        for bad in ["nonsense", "{\"id\": 1, \"method\": \"no/such\"}", "{\"id\": \"x\", \"method\": \"command\"}"] {
            writer.write_all(&content_length::encode(bad.as_bytes())).await.unwrap();
        }
        let saved = br#"{"jsonrpc":"2.0","method":"document/saved","params":{"uri":"file:///a"}}"#;
        writer.write_all(&content_length::encode(saved)).await.unwrap();
        let heard = from_proxy.next().await.unwrap();
        assert_eq!(heard.message, ProxySays::Saved(NamedDocument { uri: "file:///a".into() }));
        let mut answer = BufReader::new(&mut reader);
        let Some(Frame::Body(body)) = content_length::read(&mut answer, LIMIT).await.unwrap() else {
            panic!("no answer")
        };
        let answer: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((answer["id"].as_u64(), answer["error"]["code"].as_i64()), (Some(1), Some(-32000)));
    }
}
