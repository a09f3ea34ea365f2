//! Quick fixes and source actions: a server's offers for a place, and the edit that one of them means.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lsp_types::{
    CodeActionKind, CodeActionRequest, CodeActionResolveRequest, CodeActionTriggerKind, ExecuteCommandRequest, LspAny,
    Request, TextDocumentIdentifier,
};
use serde::Serialize;
use serde_json::json;

use crate::model::{self, Diagnostic, DiagnosticsProvider, FileText, Freshness};
use crate::policy::confidence;
use crate::server::json_rpc::RequestError;
use crate::server::received::{ActionFields, SentAction, SentDiagnostic};
use crate::server::server_client::ServerConnection;
use crate::server::{LanguageServer, ServerPhase, read_diagnostics};
use sextant_base::deadline::{AnswerWait, Deadline};
use sextant_base::lock::lock;
use sextant_base::positions::{Encoding, LineIndex, Range};

/// The longest delay of an edit after the answer to the command that causes it.
const AFTERWARDS: Duration = Duration::from_millis(250);

/// The wait for a server that has left the last request for its actions unanswered.
const UNANSWERED: Duration = Duration::from_millis(200);

/// The most actions for one place.
const OFFERS: usize = 200;

/// One action that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionOffer {
    pub title: String,
    /// The code action kind; empty for a bare command.
    pub kind: String,
    pub preferred: bool,
    /// The diagnostics that it claims to repair.
    pub repairs: Vec<Diagnostic>,
    /// The file of the request, and the version of its text then.
    pub path: String,
    version: i64,
    action: SentAction,
}

/// `CodeActionParams`, with the diagnostics as the server sent them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionQuestion {
    text_document: TextDocumentIdentifier,
    range: lsp_types::Range,
    context: QuestionContext,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct QuestionContext {
    diagnostics: Vec<SentDiagnostic>,
    only: [CodeActionKind; 1],
    trigger_kind: CodeActionTriggerKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The text is not the one that it was offered for.
    #[error("the text changed since the fix was offered")]
    Outdated,
    /// The server is gone or refuses; the text is the reason.
    #[error("{0}")]
    Failed(String),
    #[error("the language server did not answer in time")]
    TimedOut,
}

impl From<RequestError> for ActionError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::TimedOut => Self::TimedOut,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl LanguageServer {
    /// The quick fixes for a place (UTF-16), or without a place the source actions for the whole file. A server that
    /// left the last request unanswered gets the whole time if `waits` is set, once.
    pub async fn offers(
        &self,
        file: &FileText,
        range: Option<Range>,
        AnswerWait { deadline, waits }: AnswerWait,
    ) -> Result<Vec<ActionOffer>, ActionError> {
        // Fixes depend on the diagnostics in the form that the server sent.
        if !self.settled(file) {
            self.fetch(std::slice::from_ref(file), deadline).await;
        }
        let run = self.run()?;
        let waits = waits && !run.actions_awaited.load(Ordering::Relaxed);
        let (wanted, params, version) = self.question(&run, file, range)?;
        let limit = if run.actions_unanswered.load(Ordering::Relaxed) && !waits {
            deadline.left().min(UNANSWERED)
        } else {
            deadline.left()
        };
        let answer = if waits {
            // A long silence is no reason to give up here: the server may still be starting.
            run.connection.request::<CodeActionRequest>(&params, limit).await
        } else {
            self.asked::<CodeActionRequest>(&run, &params, Deadline::after(limit)).await
        };
        let is_unanswered = matches!(answer, Err(RequestError::TimedOut));
        run.actions_unanswered.store(is_unanswered, Ordering::Relaxed);
        run.actions_awaited.fetch_or(waits && is_unanswered, Ordering::Relaxed);
        let answer = match answer {
            Err(RequestError::Rpc(error)) if error.code == crate::server::json_rpc::METHOD_NOT_FOUND => {
                return Ok(Vec::new());
            }
            answer => answer?,
        };
        let LspAny::Array(list) = answer else { return Ok(Vec::new()) };
        let sent = list.into_iter().take(OFFERS).map(SentAction);
        Ok(sent.filter_map(|action| self.offer(&run, file, version, &wanted, action)).collect())
    }

    fn run(&self) -> Result<Arc<ServerConnection>, ActionError> {
        match &*self.inner.phase.borrow() {
            ServerPhase::Running(run) => Ok(Arc::clone(run)),
            ServerPhase::Ended(reason) | ServerPhase::Pausing(reason) => Err(ActionError::Failed(reason.clone())),
            ServerPhase::Idle | ServerPhase::Starting => Err(ActionError::TimedOut),
        }
    }

    /// Requests until the deadline, or until the server is found to be mute.
    async fn asked<R: Request>(
        &self,
        run: &ServerConnection,
        params: &impl Serialize,
        deadline: Deadline,
    ) -> Result<LspAny, RequestError> {
        tokio::select! {
            biased;
            answer = run.connection.request::<R>(params, deadline.left()) => answer,
            () = self.inner.observed.patience.end(deadline) => Err(RequestError::TimedOut),
        }
    }

    fn settled(&self, file: &FileText) -> bool {
        let documents = lock(&self.inner.documents);
        documents.get(&file.path).is_some_and(|known| {
            *known.text == *file.text
                && known
                    .settled
                    .as_ref()
                    .is_some_and(|settled| (settled.version, settled.epoch) == (known.version, documents.epoch))
        })
    }

    fn question(
        &self,
        run: &ServerConnection,
        file: &FileText,
        range: Option<Range>,
    ) -> Result<(CodeActionKind, ActionQuestion, i64), ActionError> {
        let documents = lock(&self.inner.documents);
        let known = documents.get(&file.path).filter(|known| *known.text == *file.text).ok_or(ActionError::Outdated)?;
        let index = LineIndex::new(&known.text);
        let place = match range {
            Some(range) => index.convert(&known.text, range, Encoding::Utf16, run.encoding),
            None => index.range(&known.text, 0..known.text.len(), run.encoding),
        };
        let touches =
            |item: &&SentDiagnostic| item.range().is_some_and(|at| at.start <= place.end && place.start <= at.end);
        let settled = known.settled.as_ref().filter(|settled| settled.version == known.version);
        let diagnostics = settled.map(|s| s.items.iter().filter(touches).cloned().collect()).unwrap_or_default();
        let wanted = if range.is_some() { CodeActionKind::QuickFix } else { CodeActionKind::Source };
        let trigger_kind = CodeActionTriggerKind::Invoked;
        let context = QuestionContext { diagnostics, only: [wanted.clone()], trigger_kind };
        let params = ActionQuestion { text_document: known.id(), range: read_diagnostics::to_lsp(place), context };
        Ok((wanted, params, known.version))
    }

    fn offer(
        &self,
        run: &ServerConnection,
        file: &FileText,
        version: i64,
        wanted: &CodeActionKind,
        action: SentAction,
    ) -> Option<ActionOffer> {
        let fields = action.fields()?;
        if fields.disabled.is_some() {
            return None;
        }
        let kind = fields.kind.as_deref().unwrap_or_default();
        let of_kind = kind.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        // A bare command has no kind and is taken for the requested one.
        if !(of_kind || kind.is_empty()) || fields.edit.is_none() && !can_finish(run, &fields) {
            return None;
        }
        let (source, fresh) = (&self.inner.source, confidence::of_server(Freshness::Exact));
        Some(ActionOffer {
            title: model::name(fields.title.as_deref()?),
            kind: kind.to_owned(),
            preferred: fields.is_preferred.unwrap_or(false),
            repairs: read_diagnostics::diagnostics(
                &fields.diagnostics.unwrap_or_default(),
                source,
                &file.path,
                &file.text,
                run.encoding,
                fresh,
            )
            .0,
            path: file.path.clone(),
            version,
            action,
        })
    }

    /// The workspace edits that an offer means, in LSP's form and in units of [`Self::encoding`]. The request changes
    /// nothing.
    pub async fn edits(&self, offer: &ActionOffer, deadline: Deadline) -> Result<Vec<LspAny>, ActionError> {
        let run = self.run()?;
        let mut action = offer.action.fields().unwrap_or_default();
        if action.edit.is_none() && run.resolves_actions() && action.command().is_none() {
            let resolved = self.asked::<CodeActionResolveRequest>(&run, &offer.action, deadline).await?;
            action = SentAction(resolved).fields().unwrap_or_default();
        }
        let mut edits: Vec<LspAny> = action.edit.clone().into_iter().collect();
        if let Some((name, arguments)) = action.command().filter(|(name, _)| offered(&run, name)) {
            edits.extend(self.execute(&run, name, arguments, deadline).await?);
        }
        let now = lock(&self.inner.documents).get(&offer.path).map(|known| known.version);
        if now != Some(offer.version) {
            return Err(ActionError::Outdated);
        }
        if edits.is_empty() { Err(ActionError::Failed("the fix has no edit".into())) } else { Ok(edits) }
    }

    /// The unit in which the server counts columns.
    pub fn encoding(&self) -> Encoding {
        self.run().map(|run| run.encoding).unwrap_or_default()
    }

    /// Runs a command of the server, and keeps the edits that the server sends instead of applying them.
    async fn execute(
        &self,
        run: &ServerConnection,
        name: &str,
        arguments: LspAny,
        deadline: Deadline,
    ) -> Result<Vec<LspAny>, ActionError> {
        let turn = tokio::time::timeout(deadline.left(), self.inner.fixing.turn.lock());
        let _turn = turn.await.map_err(|_| ActionError::TimedOut)?;
        let mut news = self.inner.news.subscribe();
        *lock(&self.inner.fixing.captured) = Some(Vec::new());
        let capture = Capture(self);
        // Passed on unchanged: a server that has sent something else than a list wants it back so.
        let params = json!({"command": name, "arguments": arguments});
        let answer = self.asked::<ExecuteCommandRequest>(run, &params, deadline).await;
        let any = || lock(&self.inner.fixing.captured).as_ref().is_some_and(|edits| !edits.is_empty());
        if answer.is_ok() {
            let arrived = async { while !any() && news.changed().await.is_ok() {} };
            // A command without an edit did something else, which is not a fix.
            let _ = tokio::time::timeout(AFTERWARDS.min(deadline.left()), arrived).await;
        }
        let edits = capture.take();
        // A server may complain that its edit was not applied; only the edit matters here.
        if edits.is_empty() { answer.map(|_| edits).map_err(ActionError::from) } else { Ok(edits) }
    }
}

/// Edits are captured as long as this lives, even if the caller goes away.
struct Capture<'a>(&'a LanguageServer);

impl Capture<'_> {
    fn take(&self) -> Vec<LspAny> {
        lock(&self.0.inner.fixing.captured).take().unwrap_or_default()
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

/// True if an action without an edit can still become one.
fn can_finish(run: &ServerConnection, action: &ActionFields) -> bool {
    (run.resolves_actions() && action.kind.is_some()) || action.command().is_some_and(|(name, _)| offered(run, name))
}

/// Commands that the server does not name are meant for an editor's extension.
fn offered(run: &ServerConnection, name: &str) -> bool {
    run.commands().any(|known| known == name)
}
