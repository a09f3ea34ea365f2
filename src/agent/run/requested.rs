//! From what a door was asked to the scope that it names.

use crate::agent::state::request::Request;
use crate::agent::state::scope::Scope;
use crate::agent::state::session::Session;
use crate::agent::target;
use crate::base::failure::Failure;
use crate::base::hint::{Hint, HintCode};
use crate::editor::Document;

pub(crate) async fn requested(session: &Session, request: &Request) -> Result<Option<Document>, Failure> {
    if request.text.trim().is_empty() {
        return Err(Failure::user("the request has no text", Hint::from("say what to do").and(HintCode::Request)));
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
            symbols.push(target::full_path(session, given).await?);
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
