//! The requests of one connection that have no answer yet: their size together, and the order of calls about one file.

use std::collections::HashMap;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// The bytes of requests without an answer, above which no further message is read: each is there several times while
/// it is carried out.
const MOST_BYTES: usize = 16 << 20;

#[derive(Clone, Debug)]
struct InFlight {
    bytes: usize,
    /// The place in the order of arrival.
    number: u64,
    tool: String,
    /// The file that a call is about, as it is named there; empty if it names none.
    file: String,
}

#[derive(Debug, Default)]
struct Open {
    arrived: u64,
    requests: HashMap<RequestId, InFlight>,
}

/// Requests are carried out at the same time, each in a task of its own, and tasks begin in any order. So a client that
/// sends two edits of one file together finds them made in the order that it sent them only by this.
#[derive(Debug, Default)]
pub(in crate::mcp) struct CallsInFlight {
    open: watch::Sender<Open>,
}

impl CallsInFlight {
    /// Waits until the requests without an answer leave room for another one.
    pub(in crate::mcp) async fn room(&self) {
        let has_room = |open: &Open| open.requests.values().map(|one| one.bytes).sum::<usize>() <= MOST_BYTES;
        // The sender is part of this.
        let _ = self.open.subscribe().wait_for(has_room).await;
    }

    /// Notes a request with the bytes of its line, and the end of one that the client takes back: it has no answer.
    pub(in crate::mcp) fn note(&self, message: &RxJsonRpcMessage<RoleServer>, bytes: usize) {
        match message {
            JsonRpcMessage::Request(request) => {
                let (tool, file) = match &request.request {
                    ClientRequest::CallToolRequest(call) => {
                        (call.params.name.to_string(), file_of(call.params.arguments.as_ref()))
                    }
                    _ => (String::new(), String::new()),
                };
                self.open.send_modify(|open| {
                    open.arrived += 1;
                    let one = InFlight { bytes, number: open.arrived, tool, file };
                    open.requests.insert(request.id.clone(), one);
                });
            }
            JsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification {
                    self.answered(cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
    }

    pub(in crate::mcp) fn answered(&self, id: Option<&RequestId>) {
        self.open.send_if_modified(|open| id.is_some_and(|id| open.requests.remove(id).is_some()));
    }

    /// Waits until every edit of the same file that was sent before this call has its answer.
    pub(in crate::mcp) async fn turn(&self, id: &RequestId, edits: impl Fn(&str) -> bool) {
        let is_first = |open: &Open| {
            let Some(this) = open.requests.get(id).filter(|this| !this.file.is_empty()) else { return true };
            let is_before = |one: &InFlight| one.number < this.number && one.file == this.file && edits(&one.tool);
            !open.requests.values().any(is_before)
        };
        let _ = self.open.subscribe().wait_for(is_first).await;
    }

    #[cfg(test)]
    pub(in crate::mcp) fn ids(&self) -> std::collections::HashSet<RequestId> {
        self.open.borrow().requests.keys().cloned().collect()
    }
}

/// The file in the arguments of a call, by its path or by that of its symbol.
fn file_of(arguments: Option<&Map<String, Value>>) -> String {
    let named = |name: &str| arguments.and_then(|given| given.get(name)).and_then(Value::as_str);
    let path = named("path").or_else(|| named("symbol")).unwrap_or_default();
    path.split("::").next().unwrap_or_default().trim_start_matches("./").to_owned()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    fn call(id: i64, tool: &str, arguments: &Value) -> RxJsonRpcMessage<RoleServer> {
        let params = json!({"name": tool, "arguments": arguments});
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).unwrap()
    }

    #[test]
    fn a_call_waits_for_the_edits_of_its_file_that_came_before_it() {
        let calls = CallsInFlight::default();
        let sent = [
            (1, "write", json!({"path": "./a.py"})),
            (2, "read", json!({"path": "a.py"})),
            (3, "write", json!({"symbol": "a.py::f"})),
            (4, "write", json!({"path": "b.py"})),
            (5, "write", json!({})),
        ];
        for (id, tool, arguments) in &sent {
            calls.note(&call(*id, tool, arguments), 1);
        }
        let may_begin = || -> Vec<i64> {
            let is_first =
                |id: &i64| calls.turn(&RequestId::Number(*id), |tool| tool == "write").now_or_never().is_some();
            (1..=5).filter(is_first).collect()
        };
        assert_eq!(may_begin(), [1, 4, 5]);
        calls.answered(Some(&RequestId::Number(1)));
        assert_eq!(may_begin(), [1, 2, 3, 4, 5], "a read is not waited for");
    }
}
