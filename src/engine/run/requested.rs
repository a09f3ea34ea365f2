//! Turns the request of a door into the scope that it names.

use crate::editor::Document;
use crate::state::request::Request;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_base::failure::Failure;
use sextant_base::hint::{Hint, HintCode};
use sextant_base::plural::counted;

/// Bytes of the longest request: a page of words, or a log of some hundred lines.
const LONGEST: usize = 64 << 10;

/// Refuses a request that is too long to be read, before anything is done with it.
pub(crate) fn refuse_long(request: &Request) -> Result<(), Failure> {
    if request.text.len() <= LONGEST {
        return Ok(());
    }
    let (size, limit) = (request.text.len().div_ceil(1 << 10), LONGEST >> 10);
    let message = format!("the request has {size} KB, and requests of up to {limit} KB are taken");
    Err(Failure::user(message, "put what is long into a file of the project and name it").without_change())
}

pub(crate) async fn requested(workspace: &Workspace, request: &Request) -> Result<Option<Document>, Failure> {
    if request.text.trim().is_empty() {
        return Err(Failure::user("the request has no text", Hint::from("say what to do").and(HintCode::Request)));
    }
    match &request.path {
        Some(path) => Ok(Some(target::document(workspace, path).await?)),
        None => Ok(None),
    }
}

/// The scope of a task: named symbols, or the innermost symbol around the lines, or the file.
pub(crate) async fn scope(workspace: &Workspace, request: &Request) -> Result<Scope, Failure> {
    let document = requested(workspace, request).await?;
    if let Some(earlier) = &request.earlier {
        return Ok(earlier.scope.clone());
    }
    if !request.symbols.is_empty() {
        let mut symbols = Vec::new();
        for given in &request.symbols {
            symbols.push(target::full_path(workspace, given).await?);
        }
        return Ok(Scope::Symbols(symbols));
    }
    if request.workspace {
        return Ok(Scope::Workspace);
    }
    Ok(match (document, request.lines) {
        (Some(document), Some((first, last))) => {
            refuse_past_end(&document, first)?;
            Scope::at(&document.path, &document.text, first, last)
        }
        (Some(document), None) => Scope::Files(vec![document.path]),
        (None, _) => Scope::Workspace,
    })
}

/// Refuses lines that a file does not have: the whole file would be the scope. An editor's cursor may stand behind the
/// last line end.
fn refuse_past_end(document: &Document, first: usize) -> Result<(), Failure> {
    let count = document.text.lines().count();
    if first <= count + 1 {
        return Ok(());
    }
    let message = format!("{} has {}, and no line {first}", document.path, counted(count, "line"));
    Err(Failure::user(message, "name lines that it has, or the file alone").without_change())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_request_is_refused_with_its_length_and_the_limit() {
        let of = |bytes: usize| Request { text: "x".repeat(bytes), ..Request::default() };
        assert!(refuse_long(&of(LONGEST)).is_ok());
        let refused = refuse_long(&of(100_000)).unwrap_err();
        assert_eq!(refused.message, "the request has 98 KB, and requests of up to 64 KB are taken");
    }
}
