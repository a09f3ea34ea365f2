//! JSON-RPC on the wire: the kind of a message, and the request that an answer belongs to.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use lsp_types::{LspAny, LspRequestMethod};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;

use sextant_base::lock::lock;

pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const REQUEST_CANCELLED: i64 = -32800;
pub(super) const CONTENT_MODIFIED: i64 = -32801;
pub(super) const SERVER_CANCELLED: i64 = -32802;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    pub code: i64,
    pub message: String,
}

impl RpcError {
    pub fn method_not_found(method: &str) -> Self {
        Self { code: METHOD_NOT_FOUND, message: format!("{method} is not supported") }
    }

    fn read(sent: &LspAny) -> Self {
        Self {
            code: sent.get("code").and_then(LspAny::as_i64).unwrap_or(0),
            message: sent.get("message").and_then(LspAny::as_str).unwrap_or("no message").to_owned(),
        }
    }
}

/// The reason why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Rpc(#[from] RpcError),
    #[error("no answer in time")]
    TimedOut,
    /// The server is gone; the text is the reason.
    #[error("{0}")]
    Closed(String),
}

pub(super) type Reply = Result<LspAny, RpcError>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    Response { id: i64, reply: Reply },
    Request { id: LspAny, method: String, params: LspAny },
    Notification { method: String, params: LspAny },
}

/// A body. A missing result and a null result are the same.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RpcBody {
    id: Option<LspAny>,
    method: LspAny,
    params: LspAny,
    result: LspAny,
    error: Option<LspAny>,
}

impl Message {
    /// Reads a body; the error names the problem in it.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let sent: LspAny = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if !sent.is_object() {
            return Err("neither a method nor an id".to_owned());
        }
        let RpcBody { id, method, params, result, error } =
            serde_json::from_value(sent).map_err(|error| error.to_string())?;
        match (method, id) {
            (LspAny::String(method), Some(id)) => Ok(Self::Request { id, method, params }),
            (LspAny::String(method), None) => Ok(Self::Notification { method, params }),
            (_, Some(id)) => {
                let id = id.as_i64().ok_or_else(|| format!("an answer to {id}, which was never asked"))?;
                Ok(Self::Response { id, reply: error.map_or(Ok(result), |error| Err(RpcError::read(&error))) })
            }
            (_, None) => Err("neither a method nor an id".to_owned()),
        }
    }
}

/// An outgoing message: a request, or without an id a notification.
#[derive(Serialize)]
struct RpcCall<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    method: &'a str,
    params: &'a P,
}

pub(super) fn request(id: i64, method: &LspRequestMethod<'_>, params: &impl Serialize) -> Vec<u8> {
    bytes(&RpcCall { jsonrpc: "2.0", id: Some(id), method: method.as_str(), params })
}

pub(super) fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    bytes(&RpcCall { jsonrpc: "2.0", id: None, method, params })
}

pub(super) fn response(id: &LspAny, reply: Reply) -> Vec<u8> {
    bytes(&match reply {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    })
}

/// Our messages always serialize to JSON: their keys are strings.
fn bytes(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

/// The requests that wait for their answer. Once closed it takes no more.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    last: AtomicI64,
    waiting: Mutex<Option<HashMap<i64, oneshot::Sender<Reply>>>>,
}

impl PendingRequests {
    pub(super) fn new() -> Self {
        Self { last: AtomicI64::new(0), waiting: Mutex::new(Some(HashMap::new())) }
    }

    /// A new id and the channel of its answer; `None` once closed.
    pub(super) fn add(&self) -> Option<(i64, oneshot::Receiver<Reply>)> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        lock(&self.waiting).as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    /// Hands an answer over; false if no request waits for it (any more).
    pub(super) fn answer(&self, id: i64, reply: Reply) -> bool {
        let sender = lock(&self.waiting).as_mut().and_then(|waiting| waiting.remove(&id));
        sender.is_some_and(|sender| sender.send(reply).is_ok())
    }

    /// Stops waiting for an answer; true if it was still to come.
    pub(super) fn forget(&self, id: i64) -> bool {
        lock(&self.waiting).as_mut().is_some_and(|waiting| waiting.remove(&id).is_some())
    }

    /// Every waiting request ends without an answer.
    pub(super) fn close(&self) {
        lock(&self.waiting).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_id_of_the_server_is_a_request_and_not_a_notification() {
        let body = br#"{"id": 3000000000, "method": "workspace/configuration", "params": {"items": []}}"#;
        assert!(matches!(Message::parse(body), Ok(Message::Request { id, .. }) if id == json!(3_000_000_000_i64)));
        let body = br#"{"id": null, "method": "$/progress"}"#;
        assert!(matches!(Message::parse(body), Ok(Message::Notification { .. })));
    }

    #[test]
    fn a_null_error_beside_a_result_is_a_result() {
        let body = br#"{"id": 4, "error": null, "result": [1]}"#;
        assert_eq!(Message::parse(body), Ok(Message::Response { id: 4, reply: Ok(json!([1])) }));
        let body = br#"{"id": 4, "error": {"code": -32800}}"#;
        let Ok(Message::Response { reply: Err(error), .. }) = Message::parse(body) else { panic!("an error") };
        assert_eq!(error.code, REQUEST_CANCELLED);
        for bad in [&b"[]"[..], b"{", b"{\"id\": null, \"error\": {}}", b"{\"id\": \"x\"}", b"\xff"] {
            assert!(Message::parse(bad).is_err());
        }
    }

    #[test]
    fn an_answer_is_handed_over_once_and_none_after_it_was_forgotten() {
        let pending = PendingRequests::new();
        let (first, mut answer) = pending.add().expect("open");
        let (second, _dropped) = pending.add().expect("open");
        assert!(pending.answer(first, Ok(json!(1))));
        assert!(!pending.answer(first, Ok(json!(2))));
        assert_eq!(answer.try_recv(), Ok(Ok(json!(1))));
        assert!(pending.forget(second));
        assert!(!pending.answer(second, Ok(json!(3))));
        pending.close();
        assert!(pending.add().is_none());
    }
}
