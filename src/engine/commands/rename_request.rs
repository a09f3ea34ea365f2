//! Carries out a request that is a rename and nothing else, by the language server and without a model.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use crate::commands::direct_action::DirectAction;
use crate::commands::intents::read_intent;
use crate::run::request_names;
use crate::state::approvals::Approvals;
use crate::state::request::Request;
use crate::state::workspace::Workspace;
use sextant_base::failure::Failure;
use sextant_model::request_kind::rename_reach::wide_renames;
use sextant_model::step::Action;

/// `rename total to sum`, `renombra total a sum`: the whole request.
static RENAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"[`'\x22@]?([\w./:#-]+)[`'\x22]?";
    Regex::new(&format!(
        r"(?i)^(?:please |por favor )?(?:rename|renombra) {name} (?:to|as|a|como) [`'\x22]?(\w+)[`'\x22]?[.!]?$"
    ))
    .ok()
});

/// The old and the new name.
fn names(text: &str) -> Option<(&str, &str)> {
    let found = RENAME.as_ref()?.captures(text.trim())?;
    Some((found.get(1)?.as_str(), found.get(2)?.as_str()))
}

/// The rename that a request asks for; `None` where it asks for more, or names no symbol.
pub(crate) async fn find(workspace: &Workspace, approvals: &Approvals, request: &Request) -> Option<DirectAction> {
    let (old, new) = asked(request)?;
    let old = request_names::mention(&old)?.name;
    let found = read_intent::named(workspace, approvals, request, &old).await.ok().flatten()?;
    if found.names.is_empty() {
        return None;
    }
    let parameters = json!({"symbol": found.to_string(), "new_name": new});
    let action = Action { tool: "rename_symbol".to_owned(), parameters };
    Some(DirectAction { action, reason: "the request names both", otherwise: None, resumes: true })
}

/// Refuses a rename of an unknown name, for the offline model.
///
/// # Errors
/// The request is a rename and nothing else, and no symbol has the name.
pub(crate) async fn refuse_unknown(workspace: &Workspace, request: &Request) -> Result<(), Failure> {
    let Some((old, _)) = asked(request) else { return Ok(()) };
    let Some(old) = request_names::mention(&old) else { return Ok(()) };
    let known = read_intent::candidates(workspace, request, &old.name).await;
    if known.is_empty() { Err(read_intent::no_such_name(&old.name)) } else { Ok(()) }
}

/// The old and the new name of a request that may change every use, and is that rename alone.
fn asked(request: &Request) -> Option<(String, String)> {
    // Named symbols are the scope of a language model, which may rename as far as the words of the request say.
    let said = wide_renames(&request.text).into_iter().find(|wide| wide.whole && request.symbols.is_empty());
    if let Some(wide) = said {
        return Some((wide.old, wide.new));
    }
    let (old, new) = names(&request.text).filter(|_| may_reach_all(request))?;
    Some((old.to_owned(), new.to_owned()))
}

/// True if the request may change every use: a file, lines or symbols that the user names are the scope of the edit, and
/// the cursor is only a place.
fn may_reach_all(request: &Request) -> bool {
    let at_cursor = request.lines.is_some_and(|(first, last)| first == last);
    request.symbols.is_empty() && (request.workspace || request.path.is_none() || at_cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_is_the_whole_request() {
        assert_eq!(names("rename total to sum"), Some(("total", "sum")));
        assert_eq!(names("Please rename `cart.py::Cart::total` to `sum`."), Some(("cart.py::Cart::total", "sum")));
        assert_eq!(names("rename @Cart.total to sum"), Some(("Cart.total", "sum")));
        assert_eq!(names("renombra total a suma"), Some(("total", "suma")));
        for text in
            ["rename total", "rename total to sum and add a test", "do not rename total to sum", "rename it all"]
        {
            assert_eq!(names(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_user_names_stays_the_scope_and_the_cursor_is_only_a_place() {
        let of = |lines: Option<(usize, usize)>| Request { path: Some("a.py".into()), lines, ..Request::default() };
        assert!(may_reach_all(&Request::default()) && may_reach_all(&of(Some((3, 3)))));
        assert!(may_reach_all(&Request { workspace: true, ..of(None) }));
        assert!(!may_reach_all(&of(None)) && !may_reach_all(&of(Some((3, 4)))));
        assert!(!may_reach_all(&Request { symbols: vec!["a.py::f".into()], ..Request::default() }));
    }

    #[test]
    fn a_request_that_says_everywhere_is_not_confined_to_the_file_that_it_points_at() {
        let of = |text: &str| Request { path: Some("a.py".into()), text: text.into(), ..Request::default() };
        let names = Some(("total".to_owned(), "sum".to_owned()));
        assert_eq!(asked(&of("rename total to sum with all its uses")), names);
        assert_eq!(asked(&of("renombra total a sum en todo el proyecto")), names);
        assert_eq!(asked(&of("rename total to sum")), None);
        assert_eq!(asked(&of("rename total to sum everywhere and add a test")), None);
        let symbols = vec!["a.py::total".into()];
        assert_eq!(asked(&Request { symbols, ..of("rename total to sum everywhere") }), None);
    }
}
