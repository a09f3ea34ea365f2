//! Carries messages as lines of JSON over two streams: of limited length; a line outside of the protocol gets an
//! answer.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, GetMeta, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::json_values;
use crate::mcp::calls_in_flight::CallsInFlight;

/// The most bytes of one message. The largest file that is worked on fits in twice, as old and as new text.
const LONGEST: usize = 32 << 20;
/// The kept bytes of a message that is too long; they show its id.
const BEGINNING: usize = 4096;
/// The most messages that wait for a reader.
const WAITING: usize = 64;

/// The reasons for refusing a message, in the numbers of JSON-RPC.
const PARSE: i32 = -32700;
const INVALID: i32 = -32600;

/// The transport over standard input and output, or over any two streams.
pub(in crate::mcp) struct JsonLines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// True if the rest of the line is dropped because it is too long.
    skips: bool,
    out: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    /// An answer of the transport itself that could not be handed on yet.
    answer: Option<Vec<u8>>,
    /// True if the first request has come: before it no other message has a meaning.
    has_begun: bool,
    in_flight: Arc<CallsInFlight>,
    /// Set when the client's folders have changed, before a later message is handed on.
    stale_roots: Arc<AtomicBool>,
}

impl<R: AsyncRead + Unpin + Send> JsonLines<R> {
    pub(in crate::mcp) fn new(
        read: R,
        mut write: impl AsyncWrite + Unpin + Send + 'static,
        stale_roots: Arc<AtomicBool>,
        in_flight: Arc<CallsInFlight>,
    ) -> Self {
        let (out, mut lines) = mpsc::channel::<Vec<u8>>(WAITING);
        let writer = tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                if write.write_all(&line).await.is_err() || write.flush().await.is_err() {
                    return;
                }
            }
        });
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skips: false,
            out: Some(out),
            writer: Some(writer),
            answer: None,
            has_begun: false,
            in_flight,
            stale_roots,
        }
    }

    /// The next line; `None` at the end. The read part of a line stays when this is dropped.
    async fn next_line(&mut self) -> Option<()> {
        loop {
            let found = match self.read.fill_buf().await {
                Ok([]) | Err(_) => return None,
                Ok(found) => found,
            };
            let end = found.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(found.len(), |end| end + 1);
            if self.line.len() + part > LONGEST {
                self.skips = true;
            }
            if self.skips {
                let room = BEGINNING.saturating_sub(self.line.len()).min(part);
                self.line.extend_from_slice(&found[..room]);
                self.line.truncate(BEGINNING);
            } else {
                self.line.extend_from_slice(&found[..part]);
            }
            self.read.consume(part);
            if end.is_some() {
                return Some(());
            }
        }
    }

    /// The message of the line that was read, or an answer in its place.
    fn take(&mut self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Value> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.skips) {
            let most = LONGEST >> 20;
            return Err(refusal(beginning_id(&line), INVALID, &format!("a message may have {most} MB at most")));
        }
        let json = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if json.is_empty() {
            return Ok(None);
        }
        if json_values::are_too_many(json) {
            let words = json_values::limit();
            return Err(refusal(beginning_id(&json[..json.len().min(BEGINNING)]), INVALID, &words));
        }
        let value: Value = serde_json::from_slice(json).map_err(|error| {
            let id = beginning_id(&json[..json.len().min(BEGINNING)]);
            refusal(id, PARSE, &format!("this cannot be read as JSON: {error}"))
        })?;
        // The message is built from the value alone: the line may be as long as two files.
        drop(line);
        let (id, method) = (value["id"].clone(), value["method"].is_string());
        serde_json::from_value(value).map(Some).map_err(|_| {
            if method && id.is_null() {
                return Value::Null;
            }
            let id = Some(id).filter(|id| id.is_string() || id.is_number());
            refusal(id, INVALID, "this is no message of the protocol")
        })
    }
}

fn refusal(id: Option<Value>, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The id of a message whose beginning alone is known.
fn beginning_id(beginning: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(beginning);
    let rest = text.split_once("\"id\"")?.1.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next()?.ok().filter(|id| id.is_string() || id.is_number())
}

fn bytes(message: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for JsonLines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (out, in_flight) = (self.out.clone(), Arc::clone(&self.in_flight));
        async move {
            let line = bytes(&item)?;
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let sent = out.ok_or_else(gone)?.send(line).await.map_err(|_| gone());
            let id = match &item {
                JsonRpcMessage::Response(answer) => Some(&answer.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => None,
            };
            in_flight.answered(id);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.answer.is_some() {
                let place = self.out.as_ref()?.reserve().await.ok()?;
                place.send(self.answer.take()?);
            }
            self.in_flight.room().await;
            self.next_line().await?;
            let length = self.line.len();
            match self.take() {
                Ok(Some(message)) => {
                    self.in_flight.note(&message, length);
                    self.has_begun |= begins(&message);
                    if let JsonRpcMessage::Notification(note) = &message
                        && matches!(note.notification, ClientNotification::RootsListChangedNotification(_))
                    {
                        self.stale_roots.store(true, Ordering::SeqCst);
                    }
                    if self.has_begun || matches!(message, JsonRpcMessage::Request(_)) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err(Value::Null) => tracing::debug!("a notification that cannot be read was dropped"),
                Err(answer) => self.answer = bytes(&answer).ok(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.out = None;
        if let Some(writer) = self.writer.take() {
            let _ = tokio::time::timeout(std::time::Duration::from_millis(500), writer).await;
        }
        Ok(())
    }
}

/// True if a connection begins with this message. Other requests are answered before it; no other message has a
/// meaning.
fn begins(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::InitializeRequest(_))
        || request.request.get_meta().protocol_version().is_some()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use rmcp::model::RequestId;
    use tokio::io::DuplexStream;

    use super::*;

    /// What a client has sent, in lines.
    async fn sent(text: &str) -> (JsonLines<DuplexStream>, BufReader<DuplexStream>) {
        let (mut client, read) = tokio::io::duplex(text.len().max(1));
        let (write, answers) = tokio::io::duplex(1 << 16);
        client.write_all(text.as_bytes()).await.unwrap();
        (JsonLines::new(read, write, Arc::default(), Arc::default()), BufReader::new(answers))
    }

    fn call(id: usize, bytes: usize) -> String {
        let arguments = json!({"content": "x".repeat(bytes)});
        let params = json!({"name": "write_file", "arguments": arguments});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    }

    #[tokio::test]
    async fn no_further_message_is_read_while_large_requests_have_no_answer() {
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
        let text =
            format!("{}{}{}{}{cancel}\n{}", call(1, 9 << 20), call(2, 9 << 20), call(3, 1), call(4, 1), call(5, 1));
        let (mut lines, _answers) = sent(&text).await;
        for _ in 0..2 {
            assert!(lines.receive().await.is_some());
        }
        assert!(lines.receive().now_or_never().is_none(), "18 MB are without an answer");
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        lines.send(serde_json::from_value(answer).unwrap()).await.unwrap();
        assert!(lines.receive().now_or_never().flatten().is_some(), "9 MB leave room");
        // A request that the client takes back gets no answer, and is forgotten.
        for _ in 0..2 {
            assert!(lines.receive().await.is_some());
        }
        assert_eq!(lines.in_flight.ids(), [2, 4, 5].map(RequestId::Number).into());
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_refused_with_its_id() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (line, id) in
            [(format!(r#"{{"jsonrpc":"2.0","id":7,"x":{deep}}}"#), json!(7)), ("{".to_owned(), Value::Null)]
        {
            let (mut lines, mut answers) = sent(&format!("{line}\n")).await;
            assert!(lines.receive().await.is_none(), "the input has ended");
            let mut answer = String::new();
            answers.read_line(&mut answer).await.unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(PARSE)), "{answer}");
        }
    }
}
