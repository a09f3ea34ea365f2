//! Decides whether a request asks for a rename at every use, so that the rename may leave the scope of the task.

use crate::plan::work_mode::Mode;
use crate::state::task::TaskWork;
use sextant_model::request_kind::rename_reach::{WideRename, wide_renames};
use sextant_text::symbols::symbol_path::SymbolPath;

/// The renames at every use that the request of a task asks for. The steps of a plan have the reach that was approved.
fn asked(work: &TaskWork) -> Vec<WideRename> {
    let is_free = work.mode == Mode::Simple && !work.intent.read_only && work.intent.client.is_none();
    if is_free { wide_renames(&work.request) } else { Vec::new() }
}

/// Recognizes a symbol that the request asks to rename at every use: to this name, or to any where none is given.
pub(crate) fn is_wide(work: &TaskWork, symbol: &SymbolPath, new_name: Option<&str>) -> bool {
    asked(work).iter().any(|wide| new_name.is_none_or(|name| name == wide.new) && means(work, &wide.old, symbol))
}

/// Recognizes the symbol that a name in the request means.
fn means(work: &TaskWork, name: &str, symbol: &SymbolPath) -> bool {
    let name = spelled(name);
    let is_named = (name.file.is_empty() || name.file == symbol.file)
        && (symbol.names == name.names || symbol.names.ends_with(&format!("::{}", name.names)));
    // A name has the meaning that it has at the user's place, and no other symbol of that name.
    let known = work.intent.analysis.meanings.iter().find(|meaning| meaning.name == name.to_string());
    is_named && known.is_none_or(|known| known.paths.contains(symbol))
}

/// `Cart.total` and `cart.py::Cart.total` as paths.
fn spelled(name: &str) -> SymbolPath {
    match name.split_once("::").filter(|(file, _)| file.contains(['/', '.'])) {
        Some((file, names)) => SymbolPath::new(file, names.replace('.', "::")),
        None => SymbolPath::new("", name.replace('.', "::")),
    }
}

/// The renames for a model that sees the scope, a line each.
pub(crate) fn lines(work: &TaskWork) -> Vec<String> {
    let line = |wide: &WideRename| format!("rename_symbol may rename `{}` to `{}` in every file", wide.old, wide.new);
    asked(work).iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::analysis::Meaning;
    use crate::state::task::Task;
    use crate::state::task_scope::Scope;

    #[test]
    fn only_the_named_symbol_may_leave_the_scope_and_only_for_the_named_name() {
        let of = |request: &str| Task::new(request, Mode::Simple, None, Scope::Workspace).work;
        let (total, show) = (SymbolPath::new("cart.py", "Cart::total"), SymbolPath::new("cart.py", "Cart::show"));
        for request in ["rename Cart.total to sum everywhere", "rename cart.py::Cart.total to sum, and all its uses"] {
            let work = of(request);
            assert!(is_wide(&work, &total, Some("sum")) && is_wide(&work, &total, None), "{request}");
            assert!(!is_wide(&work, &total, Some("all")) && !is_wide(&work, &show, Some("sum")), "{request}");
        }
        let mut work = of("rename total to sum everywhere, and sort it");
        let other = SymbolPath::new("b.py", "total");
        assert!(is_wide(&work, &total, Some("sum")) && is_wide(&work, &other, Some("sum")));
        let here = Meaning { name: "total".to_owned(), sure: false, paths: vec![total.clone()] };
        work.intent.analysis.meanings.push(here);
        assert!(is_wide(&work, &total, Some("sum")) && !is_wide(&work, &other, Some("sum")));
        work.mode = Mode::Planner;
        assert!(!is_wide(&work, &total, Some("sum")));
    }
}
