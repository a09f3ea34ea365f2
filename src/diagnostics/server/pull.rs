//! Requests the diagnostics of one file from a server, and decides which of its answers can be used.

use std::sync::atomic::Ordering;
use std::time::Duration;

use lsp_types::{
    DocumentDiagnosticParams, DocumentDiagnosticRequest, ExecuteCommandParams, ExecuteCommandRequest, LspAny,
    TextDocumentIdentifier,
};
use serde::Deserialize;
use serde_json::json;

use crate::server::json_rpc::{CONTENT_MODIFIED, METHOD_NOT_FOUND, REQUEST_CANCELLED, RequestError, SERVER_CANCELLED};
use crate::server::received::{self, Pulled, SentDiagnostic, TsAnswer, TsDiagnostic, TsPlace};
use crate::server::server_client::{DIAGNOSE, RELOAD, ServerConnection, TSSERVER};
use crate::server::server_config::ServerConfig;
use crate::server_facts::{Fact, STYLE_CODES, STYLE_SETTING};
use sextant_base::path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotPulled {
    /// The server was interrupted; the same request may be sent again.
    Again,
    /// It does not know the request.
    NotOffered,
    Failed(String),
    /// The server is gone; the text is the reason.
    Gone(String),
}

/// `textDocument/diagnostic`, always for the full list. `None` if the server has published it before the answer.
pub(super) async fn diagnostics(
    run: &ServerConnection,
    uri: &str,
    limit: Duration,
) -> Result<Option<Vec<SentDiagnostic>>, NotPulled> {
    let params = DocumentDiagnosticParams {
        text_document: TextDocumentIdentifier { uri: uri.into() },
        identifier: run.capabilities.diagnostic_provider.as_ref().and_then(|pull| pull.identifier.clone()),
        previous_result_id: None,
        work_done_progress_params: Default::default(),
        partial_result_params: Default::default(),
    };
    let answer = run.connection.request::<DocumentDiagnosticRequest>(&params, limit).await.map_err(not_pulled)?;
    let Pulled { kind, items } = received::read(&answer).unwrap_or_default();
    match (kind.as_deref(), items) {
        (Some("full"), Some(items)) => Ok(Some(items)),
        (Some("unchanged"), _) if run.knows(Fact::PublishesAtPull) => Ok(None),
        (kind, _) => Err(NotPulled::Failed(format!("a pull answered with kind {}", kind.unwrap_or("none")))),
    }
}

/// tsserver's three lists, each by its own request.
pub(super) async fn command(
    run: &ServerConnection,
    config: &ServerConfig,
    uri: &str,
    limit: Duration,
) -> Result<Vec<SentDiagnostic>, NotPulled> {
    let file = path::from_uri(uri).ok_or_else(|| NotPulled::Failed(format!("{uri} is not a file")))?;
    let softens = run.knows(Fact::StyleAsWarnings) && softens_style(config);
    reload_outdated(run, limit).await?;
    let mut items = Vec::new();
    for kind in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"] {
        let params = ExecuteCommandParams {
            command: TSSERVER.to_owned(),
            arguments: Some(vec![kind.into(), json!({"file": file.to_str()})]),
            work_done_progress_params: Default::default(),
        };
        let answer = run.connection.request::<ExecuteCommandRequest>(&params, limit).await.map_err(not_pulled)?;
        let (TsAnswer::List(list) | TsAnswer::Body { body: list }) =
            TsAnswer::deserialize(answer).map_err(|_| NotPulled::Failed(format!("tsserver has no list of {kind}")))?;
        items.extend(list.iter().map(|item| from_tsserver(&received::read(item).unwrap_or_default(), softens)));
    }
    Ok(items)
}

/// Lets tsserver read its projects again if a file was made or deleted since.
async fn reload_outdated(run: &ServerConnection, limit: Duration) -> Result<(), NotPulled> {
    let _reading = run.projects.reading.lock().await;
    if !run.projects.outdated.swap(false, Ordering::Relaxed) || run.commands().all(|command| command != RELOAD) {
        return Ok(());
    }
    let params = ExecuteCommandParams {
        command: RELOAD.to_owned(),
        arguments: Some(Vec::new()),
        work_done_progress_params: Default::default(),
    };
    run.connection.request::<ExecuteCommandRequest>(&params, limit).await.map(drop).map_err(not_pulled)
}

/// Waits until the server has published what it finds in the file.
pub(super) async fn diagnose(run: &ServerConnection, uri: &str, limit: Duration) -> Result<(), NotPulled> {
    let params = ExecuteCommandParams {
        command: DIAGNOSE.to_owned(),
        arguments: Some(vec![json!({"Files": [uri]})]),
        work_done_progress_params: Default::default(),
    };
    run.connection.request::<ExecuteCommandRequest>(&params, limit).await.map(drop).map_err(not_pulled)
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

/// The value of [`STYLE_SETTING`], which is on by default.
fn softens_style(config: &ServerConfig) -> bool {
    // The settings of a server behind a proxy are set by its editor, and known as what it was started with.
    let behind_a_proxy = config.socket.is_some();
    let settings = if behind_a_proxy { &config.initialization_options } else { &config.settings };
    let value = STYLE_SETTING.split('.').try_fold(settings, |value, part| value.get(part));
    value.and_then(LspAny::as_bool) != Some(false)
}

/// tsserver counts lines and columns (UTF-16) from one and names severities. An answer has to have the severity that
/// the server publishes, or a later answer by the other way shows an old diagnostic as a new one.
fn from_tsserver(item: &TsDiagnostic, softens: bool) -> SentDiagnostic {
    let at = |place: &Option<TsPlace>| {
        let from_zero = |count: Option<u64>| count.unwrap_or(1).saturating_sub(1);
        let (line, offset) = place.as_ref().map_or((None, None), |place| (place.line, place.offset));
        json!({"line": from_zero(line), "character": from_zero(offset)})
    };
    let severity = match item.category.as_deref() {
        Some("warning") => 2,
        Some("message") => 3,
        Some("suggestion") => 4,
        Some("error") if softens && is_style(item) => 2,
        _ => 1,
    };
    let message = item.text.as_ref().or(item.message.as_ref());
    SentDiagnostic(json!({"range": {"start": at(&item.start), "end": at(&item.end)}, "severity": severity,
        "code": item.code, "message": message, "source": "typescript"}))
}

fn is_style(item: &TsDiagnostic) -> bool {
    item.code.as_ref().and_then(LspAny::as_u64).is_some_and(|code| STYLE_CODES.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::json_rpc::RpcError;

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
        let read = from_tsserver(&received::read(&item).unwrap(), true).0;
        assert_eq!(read["range"]["start"], json!({"line": 2, "character": 4}));
        assert_eq!((&read["severity"], &read["message"]), (&json!(4), &json!("m")));
    }

    #[test]
    fn an_error_of_style_is_a_warning_where_the_server_publishes_it_as_one() {
        let severity = |code: LspAny, category: &str, softens| {
            from_tsserver(&received::read(&json!({"code": code, "category": category})).unwrap(), softens).0["severity"]
                .clone()
        };
        assert_eq!(severity(json!(6133), "error", true), json!(2));
        assert_eq!(severity(json!(6133), "error", false), json!(1));
        assert_eq!(severity(json!(6133), "suggestion", true), json!(4), "a hint where errors are not asked for");
        assert_eq!([json!(2304), json!("6133")].map(|code| severity(code, "error", true)), [json!(1), json!(1)]);
    }

    #[test]
    fn the_user_of_a_server_may_want_errors() {
        let off = json!({"typescript": {"reportStyleChecksAsWarnings": false}});
        let own = ServerConfig { settings: off.clone(), ..ServerConfig::default() };
        let linked =
            ServerConfig { initialization_options: off, socket: Some("socket".into()), ..ServerConfig::default() };
        assert!(softens_style(&ServerConfig::default()) && !softens_style(&own) && !softens_style(&linked));
    }
}
