//! Asking a server for the diagnostics of one file, and which of its answers can be used.

use std::time::Duration;

use serde_json::{Value, json};

use crate::base::path;
use crate::diagnostics::server::client::{ServerConnection, TSSERVER};
use crate::diagnostics::server::wire::{
    CONTENT_MODIFIED, METHOD_NOT_FOUND, REQUEST_CANCELLED, RequestError, SERVER_CANCELLED,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotPulled {
    /// The server was interrupted; the same question may be asked again.
    Again,
    /// It does not know the request.
    NotOffered,
    Failed(String),
    /// The server is gone; why.
    Gone(String),
}

/// `textDocument/diagnostic`, always for the full list.
pub(super) async fn diagnostics(run: &ServerConnection, uri: &str, limit: Duration) -> Result<Vec<Value>, NotPulled> {
    let mut params = json!({"textDocument": {"uri": uri}});
    if let Some(identifier) = run.capabilities.pointer("/diagnosticProvider/identifier").filter(|id| id.is_string()) {
        params["identifier"] = identifier.clone();
    }
    let mut answer = run.connection.request("textDocument/diagnostic", &params, limit).await.map_err(not_pulled)?;
    let items = answer.get_mut("items").map(Value::take);
    match (answer.get("kind").and_then(Value::as_str), items) {
        (Some("full"), Some(Value::Array(items))) => Ok(items),
        (kind, _) => Err(NotPulled::Failed(format!("a pull answered with kind {}", kind.unwrap_or("none")))),
    }
}

/// tsserver's three lists, each asked for in its own request.
pub(super) async fn command(run: &ServerConnection, uri: &str, limit: Duration) -> Result<Vec<Value>, NotPulled> {
    let file = path::from_uri(uri).ok_or_else(|| NotPulled::Failed(format!("{uri} is no file")))?;
    let mut items = Vec::new();
    for kind in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"] {
        let params = json!({"command": TSSERVER, "arguments": [kind, {"file": file.to_str()}]});
        let answer = run.connection.request("workspace/executeCommand", &params, limit).await.map_err(not_pulled)?;
        let list = answer.get("body").unwrap_or(&answer).as_array();
        let list = list.ok_or_else(|| NotPulled::Failed(format!("tsserver has no list of {kind}")))?;
        items.extend(list.iter().map(from_tsserver));
    }
    Ok(items)
}

fn not_pulled(error: RequestError) -> NotPulled {
    match error {
        RequestError::Rpc(error) => match error.code {
            SERVER_CANCELLED | CONTENT_MODIFIED | REQUEST_CANCELLED => NotPulled::Again,
            METHOD_NOT_FOUND => NotPulled::NotOffered,
            _ => NotPulled::Failed(error.to_string()),
        },
        RequestError::TimedOut => NotPulled::Failed(error.to_string()),
        RequestError::Closed(reason) => NotPulled::Gone(reason),
    }
}

/// tsserver counts lines and columns (UTF-16) from one and names severities.
fn from_tsserver(item: &Value) -> Value {
    let place = |key: &str, part: &str| item[key][part].as_u64().unwrap_or(1).saturating_sub(1);
    let at = |key: &str| json!({"line": place(key, "line"), "character": place(key, "offset")});
    let severity = match item.get("category").and_then(Value::as_str) {
        Some("warning") => 2,
        Some("message") => 3,
        Some("suggestion") => 4,
        _ => 1,
    };
    let message = item.get("text").or_else(|| item.get("message")).cloned().unwrap_or_default();
    json!({"range": {"start": at("start"), "end": at("end")}, "severity": severity, "code": item.get("code"),
        "message": message, "source": "typescript"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::server::wire::RpcError;

    #[test]
    fn an_interrupted_pull_is_asked_again_and_another_error_is_not() {
        let of = |code| not_pulled(RequestError::Rpc(RpcError { code, message: "m".into() }));
        assert_eq!([-32800, -32801, -32802].map(of), [NotPulled::Again, NotPulled::Again, NotPulled::Again]);
        assert_eq!(of(-32601), NotPulled::NotOffered);
        assert_eq!(of(-32603), NotPulled::Failed("m (-32603)".into()));
    }

    #[test]
    fn tsserver_counts_from_one() {
        let item = json!({"start": {"line": 3, "offset": 5}, "end": {"line": 3, "offset": 9}, "text": "m", "code": 2304,
            "category": "suggestion"});
        let read = from_tsserver(&item);
        assert_eq!(read["range"]["start"], json!({"line": 2, "character": 4}));
        assert_eq!((&read["severity"], &read["message"]), (&json!(4), &json!("m")));
    }
}
