//! What a user asked for, and where: from a cursor or a range to the scope of a task.

use crate::agent::plan::make;
use crate::agent::scope::Scope;
use crate::agent::session::Session;
use crate::agent::tools::target;
use crate::base::failure::Failure;
use crate::editor::Document;

/// A request as a door hands it over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub text: String,
    /// The file that it is about, relative to the root or absolute; the workspace where absent.
    pub path: Option<String>,
    /// One-based lines, both included; the whole file where absent.
    pub lines: Option<(usize, usize)>,
    /// Symbols that were named instead of lines.
    pub symbols: Vec<String>,
    /// Whether everything in the workspace may be changed; the path only says where the user stands.
    pub workspace: bool,
}

async fn requested(session: &Session, request: &Request) -> Result<Option<Document>, Failure> {
    if request.text.trim().is_empty() {
        return Err(Failure::user("the request has no text", "say what to do, for example `:AgentAsk fix this`"));
    }
    match &request.path {
        Some(path) => Ok(Some(target::document(session, path).await?)),
        None => Ok(None),
    }
}

/// The scope of a task: named symbols, or the innermost symbol around the lines, or the file.
pub(crate) async fn scope(session: &Session, request: &Request) -> Result<Scope, Failure> {
    let document = requested(session, request).await?;
    if !request.symbols.is_empty() {
        let mut symbols = Vec::new();
        for given in &request.symbols {
            symbols.push(make::full_path(session, given).await?);
        }
        return Ok(Scope::Symbols(symbols));
    }
    if request.workspace {
        return Ok(Scope::Workspace);
    }
    Ok(match (document, request.lines) {
        (Some(document), Some((first, last))) => Scope::at(&document.path, &document.text, first, last),
        (Some(document), None) => Scope::Files(vec![document.path]),
        (None, _) => Scope::Workspace,
    })
}
