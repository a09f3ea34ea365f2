//! Narrows the scope of a request to repair to the place that it names.

use std::sync::Arc;

use crate::run::request_names;
use crate::state::journal::Journal;
use crate::state::task::{TaskIntent, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::wanted_diagnostics;
use crate::state::workspace::Workspace;
use crate::target;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::request_kind::filter_reports::RepairPlace;
use sextant_model::request_kind::{self, Ask};
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_PARSED};
use sextant_text::symbols::symbol_path::SymbolPath;

/// Looks up the names of the request and takes them as the scope, for a model that applies offered fixes. A model that
/// reads the request may change everything that it names: `fix total and write tests.py`.
pub(crate) async fn narrow(workspace: &Workspace, needs_providers: bool, work: &mut TaskWork) {
    if !needs_providers {
        return;
    }
    look_up(workspace, needs_providers, &work.journal, &mut work.intent).await;
    let places = wanted_diagnostics::wanted(work).places();
    if places.is_empty() {
        return;
    }
    let root = workspace.root.clone();
    let paths = places.clone();
    let is_folder = move || paths.iter().any(|path| !path.contains("::") && root.join(path).is_dir());
    // A folder's content is searched like the workspace, and the rest of the workspace is left alone.
    work.scope = match tokio::task::spawn_blocking(is_folder).await.unwrap_or_default() {
        true => Scope::Workspace,
        false => scope_of(&places),
    };
    let why = format!("the request names {}: nothing else is repaired", places.join(", "));
    work.events.trace(1, Trace::new(Effect::Understood, "the scope", "named", why));
}

/// Looks up the names of the request, and leaves the scope as it is.
pub(crate) async fn look_up(workspace: &Workspace, needs_providers: bool, journal: &Journal, intent: &mut TaskIntent) {
    let request = journal.request.clone();
    if !needs_providers || request_kind::classify(&request) != Ask::Repair {
        return;
    }
    let here = match &intent.current_file {
        Some(path) => target::document(workspace, path).await.ok().map(|document| (document.path, document.text)),
        None => None,
    };
    let root = workspace.root.clone();
    let find = move || {
        let wanted = request_kind::repair_filter(&request, "");
        let found = |(name, wide): (&str, bool)| {
            let paths = paths(&root, here.as_ref(), name, wide);
            (!paths.is_empty()).then(|| RepairPlace { name: name.to_owned(), paths })
        };
        wanted.names().into_iter().filter_map(found).collect()
    };
    intent.places = tokio::task::spawn_blocking(find).await.unwrap_or_default();
}

fn scope_of(places: &[String]) -> Scope {
    let (symbols, files): (Vec<&String>, Vec<&String>) = places.iter().partition(|path| path.contains("::"));
    let symbols: Vec<SymbolPath> = symbols.into_iter().map(|path| SymbolPath::parse(path)).collect();
    let files: Vec<String> = files.into_iter().cloned().collect();
    match (files.is_empty(), symbols.is_empty()) {
        (true, _) => Scope::Symbols(symbols),
        (false, true) => Scope::Files(files),
        (false, false) => Scope::Parts { files, symbols },
    }
}

/// The paths that a name stands for. It may be a file, a symbol of the user's own file or of any, a folder, or a file
/// without its ending. Blocks.
fn paths(root: &Root, here: Option<&(String, Arc<str>)>, name: &str, wide: bool) -> Vec<String> {
    let files = request_names::files_named(root, name);
    if !files.is_empty() {
        return files;
    }
    // A phrase that cannot name a symbol, such as `line 40`, names nothing here either.
    let Some(mention) = request_names::mention(name) else { return Vec::new() };
    let symbols = match here {
        Some(here) if !wide => request_names::symbols_in(here, &mention.name),
        here => request_names::symbols_named(root, here, &mention.name),
    };
    if !symbols.is_empty() || !wide {
        return symbols.iter().map(ToString::to_string).collect();
    }
    let all = workspace_files::list(root, "", MOST_PARSED).files;
    let folder = name.trim_end_matches('/');
    if all.iter().any(|path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))) {
        return vec![folder.to_owned()];
    }
    let stem = |path: &String| {
        let file = path.rsplit('/').next().unwrap_or_default();
        file.split_once('.').is_some_and(|(stem, _)| stem == name)
    };
    all.into_iter().filter(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_a_symbol_a_folder_or_a_module() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("inv")).unwrap();
        std::fs::write(dir.path().join("inv/tools.py"), "def pack():\n    pass\n").unwrap();
        std::fs::write(dir.path().join("a.py"), "def count():\n    pass\n").unwrap();
        let root = Root::new(dir.path()).unwrap();
        let here = ("a.py".to_owned(), std::fs::read_to_string(dir.path().join("a.py")).unwrap().into());
        let paths = |name: &str, wide| paths(&root, Some(&here), name, wide);
        assert_eq!(paths("inv/tools.py", true), ["inv/tools.py"]);
        assert_eq!(paths("tools.py", true), ["inv/tools.py"]);
        assert_eq!(paths("count", false), ["a.py::count"]);
        assert_eq!(paths("pack", true), ["inv/tools.py::pack"]);
        assert_eq!(paths("inv", true), ["inv"]);
        assert_eq!(paths("tools", true), ["inv/tools.py"]);
        for (name, wide) in [("pack", false), ("nobody", true), ("line 40", true), ("../a", true)] {
            assert_eq!(paths(name, wide), Vec::<String>::new(), "{name}");
        }
    }
}
