//! Decides whether a name in a request widens the scope. A named thing may be changed with the one that the user points
//! at.

use std::collections::BTreeSet;

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::events::task_events::TaskEvents;
use crate::run::request_names;
use crate::state::analysis::Meaning;
use crate::state::comparison;
use crate::state::snapshots::Snapshots;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::mentions;
use sextant_model::request_kind::{self, Ask};
use sextant_text::symbols::symbol_path::SymbolPath;

/// Words between a symbol and the file in which it is looked up.
const PLACES: &str = "in of from inside at en de del aus von im";

/// Adds the certain names of the request to the scope. A question widens nothing. Names that are to be left alone stay
/// out, and so does an ambiguous name, which is shown.
pub(crate) async fn widen(workspace: &Workspace, events: &EventStream, work: &mut TaskWork) {
    let asks = request_kind::classify(&work.request) == Ask::Question;
    if work.scope == Scope::Workspace || work.intent.read_only || asks {
        return;
    }
    let meanings = work.intent.analysis.meanings.clone();
    let mut more = Vec::new();
    for meaning in meanings.iter().filter(|meaning| meaning.sure) {
        let [path] = meaning.paths.as_slice() else {
            if meaning.paths.iter().any(|path| !work.scope.holds(path)) {
                ambiguous(events, &work.events, meaning);
            }
            continue;
        };
        if work.scope.holds(path) || is_place(&work.request, path, &meanings, &work.scope) {
            continue;
        }
        match out_of_reach(workspace, &work.request, &meaning.name, path).await {
            Some((rule, why)) => {
                work.events.trace(1, Trace::new(Effect::Kept, format!("the scope without {path}"), rule, why))
            }
            None => more.push(path.clone()),
        }
    }
    for file in work.intent.analysis.new_files.clone() {
        if !leaves_alone(&work.request, &file) {
            more.push(SymbolPath::new(file, ""));
        }
    }
    if more.is_empty() {
        return;
    }
    work.scope = work.scope.widened(&more);
    let names: Vec<String> = more.iter().map(ToString::to_string).collect();
    let may = if names.len() == 1 { "it may be changed too" } else { "they may be changed too" };
    let why = format!("the request names {}: {may}", names.join(", "));
    work.events.trace(1, Trace::new(Effect::Understood, "the scope", "named", why));
}

/// Adds the places of the diagnostics that the request names by code, in the files of the scope. Nothing is added where the
/// scope has a diagnostic of such a code: that one is meant.
pub(crate) async fn widen_to_codes(work: &mut TaskWork, known: &Snapshots) {
    let asks = request_kind::classify(&work.request) == Ask::Question;
    if work.scope == Scope::Workspace || work.intent.read_only || asks {
        return;
    }
    let files = work.scope.files().into_iter().chain(work.intent.current_file.clone());
    let mut found = comparison::all(known, files.collect()).await;
    let quoted = |found: &LocatedDiagnostic| {
        let code = found.diagnostic.code.as_ref();
        code.is_some_and(|code| request_names::quotes(&work.request, code) && !leaves_alone(&work.request, code))
    };
    found.retain(quoted);
    if found.is_empty() || found.iter().any(|found| work.scope.holds(&found.symbol)) {
        return;
    }
    let codes: BTreeSet<&str> = found.iter().filter_map(|found| found.diagnostic.code.as_deref()).collect();
    let why = format!("the request names {}: its place may be changed too", Vec::from_iter(codes).join(", "));
    let places: Vec<SymbolPath> = found.iter().map(|found| found.symbol.clone()).collect();
    work.scope = work.scope.with_places(&places);
    work.events.trace(1, Trace::new(Effect::Understood, "the scope", "named", why));
}

fn ambiguous(events: &EventStream, task_events: &TaskEvents, meaning: &Meaning) {
    let all: Vec<String> = meaning.paths.iter().map(ToString::to_string).collect();
    let text = format!("{} may be {}, so none of them joins the scope", meaning.name, all.join(" or "));
    task_events.trace(1, Trace::new(Effect::Understood, "the scope", "ambiguous", &*text));
    events.show(Event::Progress { text });
}

/// Why the named thing cannot be changed, and by which rule.
async fn out_of_reach(
    workspace: &Workspace,
    request: &str,
    name: &str,
    path: &SymbolPath,
) -> Option<(&'static str, String)> {
    if leaves_alone(request, name) {
        return Some(("left_alone", "the request says to leave it alone".to_owned()));
    }
    match target::document(workspace, &path.file).await {
        Ok(document) => document.locked.map(|reason| ("locked", reason)),
        Err(failure) => Some(("unreadable", failure.message)),
    }
}

/// True if a request asks to leave the named thing alone.
pub(crate) fn leaves_alone(request: &str, name: &str) -> bool {
    let plain = name.replace("::", ".");
    mentions::leaves_alone(request, |word| {
        request_names::mention(word).is_some_and(|found| {
            let found = found.name.replace("::", ".");
            found == plain || found.trim_start_matches("./") == plain
        })
    })
}

/// True if a file is named only as the place of a symbol: `fix total in cart.py`.
fn is_place(request: &str, path: &SymbolPath, meanings: &[Meaning], scope: &Scope) -> bool {
    let words = mentions::words(request);
    let is_file = |word: &str| {
        let word = word.trim_start_matches("./");
        path.file == word || path.file.ends_with(&format!("/{word}"))
    };
    let of_file = |word: &str| {
        let Some(found) = request_names::mention(word) else { return false };
        let last = found.name.rsplit("::").next().unwrap_or_default().to_owned();
        let known = meanings.iter().filter(|meaning| meaning.name == found.name).flat_map(|meaning| &meaning.paths);
        let mut known = known.chain(scope.symbols());
        known.any(|own| own.file == path.file && own.names.rsplit("::").next() == Some(&*last) && !last.is_empty())
    };
    let places: Vec<usize> = (0..words.len()).filter(|at| path.names.is_empty() && is_file(words[*at])).collect();
    !places.is_empty()
        && places.into_iter().all(|at| {
            let stands = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied().unwrap_or_default();
            PLACES.split(' ').any(|place| place == stands(1).to_lowercase()) && of_file(stands(2))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_behind_a_symbol_of_it_only_says_where_that_is() {
        let path = SymbolPath::new("src/cart.py", "");
        let scope = Scope::Symbols(vec![SymbolPath::new("src/cart.py", "Cart::total")]);
        let is_place = |request: &str| is_place(request, &path, &[], &scope);
        for request in ["fix total in cart.py", "fix `total` of src/cart.py, please", "arregla total en cart.py"] {
            assert!(is_place(request), "{request}");
        }
        for request in
            ["update its callers in cart.py", "cart.py", "fix total in cart.py, and add a comment to cart.py"]
        {
            assert!(!is_place(request), "{request}");
        }
    }

    #[test]
    fn what_is_to_be_left_alone_is_known_by_any_spelling() {
        assert!(leaves_alone("do not touch Cart.total", "Cart::total"));
        assert!(leaves_alone("change f but not ./notes.txt", "notes.txt"));
        assert!(!leaves_alone("change Cart.total", "Cart::total"));
    }
}
