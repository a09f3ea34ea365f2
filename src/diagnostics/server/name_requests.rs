//! Questions to a server about a name at a place, and the answers as they came.

use std::sync::Arc;
use std::time::Duration;

use lsp_types::{
    DefinitionRequest, HoverRequest, LspAny, PrepareRenameRequest, ReferencesRequest, RenameRequest, Request,
};
use serde_json::{Value, json};

use crate::model::FileText;
use crate::server::json_rpc::{CONTENT_MODIFIED, METHOD_NOT_FOUND, RequestError, SERVER_CANCELLED};
use crate::server::server_client::ServerConnection;
use crate::server::{LanguageServer, ServerPhase, supervise};
use crate::server_facts::Fact;
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::positions::{Encoding, LineIndex, Position};

/// The time for a question to a server that was mute until then: it may have nothing to report on a file, and answer.
const MUTE: Duration = Duration::from_secs(1);

/// The time in which a server may still read a text that it has published nothing about. bash-language-server answers
/// with nothing until it has.
const READS: Duration = Duration::from_secs(3);

const AGAIN: Duration = Duration::from_millis(100);

/// The time in which a server ends the progress that it reports for a question of ours, such as pyright's "Finding
/// references". It begins none before, and so no work of its own is taken for that.
const OWN_PROGRESS: Duration = Duration::from_millis(500);

/// A question about the name at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameQuestion {
    Definition,
    /// With the declaration itself.
    References,
    Hover,
    Rename {
        new_name: String,
    },
}

impl NameQuestion {
    /// True if the answer is about the whole project.
    pub fn spans_project(&self) -> bool {
        matches!(self, Self::References | Self::Rename { .. })
    }

    /// The request's method in the protocol.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::References => "textDocument/references",
            Self::Hover => "textDocument/hover",
            Self::Rename { .. } => "textDocument/rename",
        }
    }
}

/// The reason why a server has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("it does not offer that")]
    NotOffered,
    /// The text, or one that the answer changes, is another by now.
    #[error("the text changed while it answered")]
    Outdated,
    /// In the server's words.
    #[error("{0}")]
    Refused(String),
    #[error("no answer in time")]
    TimedOut,
    /// The server is gone; the text is the reason.
    #[error("{0}")]
    Gone(String),
}

/// An answer of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct NameAnswer {
    pub value: LspAny,
    /// The server's own words for what it was still reading, such as `indexing 3/66`: the answer may lack that part.
    pub unread: Option<String>,
}

/// The waits of a question.
#[derive(Clone, Copy, Debug)]
pub struct NameWait {
    pub deadline: Deadline,
    /// The longest wait for a server that still reads the project, if the question is about all of it.
    pub reading: Duration,
}

impl From<RequestError> for LookupError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::TimedOut => Self::TimedOut,
            RequestError::Closed(reason) => Self::Gone(reason),
            RequestError::Rpc(error) if [CONTENT_MODIFIED, SERVER_CANCELLED].contains(&error.code) => Self::Outdated,
            RequestError::Rpc(error) if error.code == METHOD_NOT_FOUND => Self::NotOffered,
            RequestError::Rpc(error) => Self::Refused(error.message),
        }
    }
}

impl LanguageServer {
    /// Sends the question about the name at a place (in bytes of its line). Starts the server and gives it the text if
    /// it lacks either. The answer counts in units of [`Self::encoding`]; the question changes nothing.
    ///
    /// A server begins to read the project with the first text: the question is repeated if that goes on at the answer.
    pub async fn look_up(
        &self,
        file: &FileText,
        at: Position,
        question: &NameQuestion,
        wait: NameWait,
    ) -> Result<NameAnswer, LookupError> {
        self.inner.tell(|documents| documents.sync(std::slice::from_ref(file)));
        supervise::start(&self.inner);
        let run = self.running(wait.deadline).await?;
        if !offers(&run, question) {
            return Err(LookupError::NotOffered);
        }
        let (reading, first) = (Deadline::after(wait.reading), Deadline::after(READS.min(wait.reading)));
        loop {
            if question.spans_project() {
                // An engine that has joined later may have missed the work of a server that was there before.
                if run.knows(Fact::AnswersWhileLoading) && self.may_be_unread(&file.path) {
                    self.begins(first.left()).await;
                }
                self.rest(&run, reading.left()).await;
            }
            let (was_unread, begun) = (self.unread(&run), self.works_begun());
            let value = self.asked_once(&run, file, at, question, wait.deadline).await?;
            let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if is_nothing && question.spans_project() && !first.passed() && self.may_be_unread(&file.path) {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            if question.spans_project() && !run.knows(Fact::AnswersWhileIndexing) {
                self.rest(&run, OWN_PROGRESS.min(wait.deadline.left())).await;
            }
            let mut unread = self.unread(&run);
            if run.knows(Fact::AnswersWhileLoading) {
                // The work may have ended before the answer that it shaped.
                unread = unread.or(was_unread).or_else(|| (self.works_begun() != begun).then(|| "loading".to_owned()));
            }
            let unread = unread.filter(|_| question.spans_project());
            if unread.is_some() && !reading.passed() {
                continue;
            }
            if value.is_null() && matches!(question, NameQuestion::Rename { .. }) && prepares(&run) {
                return Err(LookupError::Refused("this cannot be renamed".to_owned()));
            }
            return Ok(NameAnswer { value, unread });
        }
    }

    async fn asked_once(
        &self,
        run: &ServerConnection,
        file: &FileText,
        at: Position,
        question: &NameQuestion,
        deadline: Deadline,
    ) -> Result<LspAny, LookupError> {
        let index = LineIndex::new(&file.text);
        let at = index.position(&file.text, index.offset(&file.text, at, Encoding::Utf8), run.encoding);
        let uri = path::to_uri(&self.inner.root.join(&file.path));
        let uri = uri.ok_or_else(|| LookupError::Refused("the path has no URI".to_owned()))?;
        let mut params = json!({"textDocument": {"uri": uri}, "position": at});
        let answer = match question {
            NameQuestion::Definition => self.put::<DefinitionRequest>(run, &params, deadline).await?,
            NameQuestion::Hover => self.put::<HoverRequest>(run, &params, deadline).await?,
            NameQuestion::References => {
                params["context"] = json!({"includeDeclaration": true});
                self.put::<ReferencesRequest>(run, &params, deadline).await?
            }
            NameQuestion::Rename { new_name } => {
                if prepares(run) && self.put::<PrepareRenameRequest>(run, &params, deadline).await?.is_null() {
                    return Ok(LspAny::Null);
                }
                params["newName"] = json!(new_name);
                self.put::<RenameRequest>(run, &params, deadline).await?
            }
        };
        let documents = lock(&self.inner.documents);
        let current = documents.get(&file.path).is_some_and(|known| *known.text == *file.text);
        // The versions in an answer are those of the given texts; any other version belongs to an earlier edit.
        let older = |(uri, version): (&str, i64)| {
            let file = path::from_uri(uri).and_then(|path| path::relative(&self.inner.root, &path));
            file.and_then(|file| documents.get(&file)).is_some_and(|known| known.version != version)
        };
        if !current || versions(&answer).any(older) {
            return Err(LookupError::Outdated);
        }
        Ok(answer)
    }

    /// The text of a file as the server has it; `None` if it is not open there.
    pub fn text(&self, path: &str) -> Option<Arc<str>> {
        lock(&self.inner.documents).get(path).map(|known| Arc::clone(&known.text))
    }

    /// True if the server may not have read the text yet: it has published nothing about that.
    fn may_be_unread(&self, path: &str) -> bool {
        lock(&self.inner.documents).get(path).is_some_and(|known| known.published.since_sent.is_empty())
    }

    async fn put<R: Request>(
        &self,
        run: &ServerConnection,
        params: &Value,
        deadline: Deadline,
    ) -> Result<LspAny, LookupError> {
        let given_up = async {
            self.inner.observed.patience.end(deadline).await;
            tokio::time::sleep(MUTE.min(deadline.left())).await;
        };
        tokio::select! {
            biased;
            answer = run.connection.request::<R>(params, deadline.left()) => Ok(answer?),
            () = given_up => Err(LookupError::TimedOut),
        }
    }

    /// Waits until it runs.
    async fn running(&self, deadline: Deadline) -> Result<Arc<ServerConnection>, LookupError> {
        let mut phase = self.inner.phase.subscribe();
        let settled = phase.wait_for(|phase| matches!(phase, ServerPhase::Running(_) | ServerPhase::Ended(_)));
        let settled = tokio::time::timeout(deadline.left(), settled).await;
        match settled.map_err(|_| LookupError::TimedOut)?.as_deref() {
            Ok(ServerPhase::Running(run)) => Ok(Arc::clone(run)),
            Ok(ServerPhase::Ended(reason)) => Err(LookupError::Gone(reason.clone())),
            _ => Err(LookupError::Gone("it is gone".to_owned())),
        }
    }
}

fn offers(run: &ServerConnection, question: &NameQuestion) -> bool {
    let capabilities = &run.capabilities;
    let declared = match question {
        NameQuestion::Definition => &capabilities.definition_provider,
        NameQuestion::References => &capabilities.references_provider,
        NameQuestion::Hover => &capabilities.hover_provider,
        NameQuestion::Rename { .. } => &capabilities.rename_provider,
    };
    // Either a flag or the options of the offered feature.
    *declared == json!(true) || declared.is_object()
}

fn prepares(run: &ServerConnection) -> bool {
    run.capabilities.rename_provider.get("prepareProvider") == Some(&json!(true))
}

/// The documents of an edit with their versions.
fn versions(answer: &LspAny) -> impl Iterator<Item = (&str, i64)> {
    let changes = answer.get("documentChanges").and_then(LspAny::as_array);
    changes.into_iter().flatten().filter_map(|change| {
        let document = change.get("textDocument")?;
        Some((document.get("uri")?.as_str()?, document.get("version")?.as_i64()?))
    })
}
