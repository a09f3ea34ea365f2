//! Finds the session of a command or a call: of its open file, else of its workspace, else of the nearest one around
//! it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::settings::session_folders;
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;
use sextant_base::path;
use sextant_serve::discovery::SessionEntry;
use sextant_serve::discovery::find_sessions::{self, FoundSessions};
use sextant_serve::discovery::gate::StartGate;
use sextant_serve::rpc::neighbour_calls;
use sextant_store::workspace::root::Root;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The time limit for another process to begin its session.
const BEGINNING: Duration = Duration::from_secs(10);

/// The sessions that may be joined, and the one that is.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) found: FoundSessions,
    pub(super) chosen: Option<SessionEntry>,
}

/// Looks for the session of a workspace, without holding up anything else. `named` is the user's choice, `file` the
/// absolute path of the file that the command is about.
///
/// # Errors
/// No session has this name.
pub(super) async fn look(root: &Root, named: Option<&str>, file: Option<&Path>) -> Result<Looked, Failure> {
    // The reported sessions are those that may be chosen by name.
    let found = related(root.path()).await;
    if named.is_some() {
        let chosen = find_sessions::choose(&found, named)?;
        return Ok(Looked { found, chosen });
    }
    let first = around(root.path()).await.entries.into_iter().next();
    if let Some(file) = file {
        let only = found.entries.len() == 1 && first.as_ref() == found.entries.first();
        if !found.entries.is_empty() && !only {
            let holder = neighbour_calls::holder(&found.entries, &path::real(file)).await;
            return Ok(Looked { found, chosen: holder.or(first) });
        }
    }
    Ok(Looked { found, chosen: first })
}

/// The sessions of a workspace and of those around it.
pub(super) async fn around(root: &Path) -> FoundSessions {
    let root = root.to_owned();
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let found = move || find_sessions::around(&session_folders(), &root, home.as_deref());
    tokio::task::spawn_blocking(found).await.unwrap_or_default()
}

/// The same with those of workspaces inside.
pub(super) async fn related(root: &Path) -> FoundSessions {
    let root = root.to_owned();
    tokio::task::spawn_blocking(move || find_sessions::related(&session_folders(), &root)).await.unwrap_or_default()
}

/// Keeps other processes from beginning a session in the workspace until this is dropped; `None` if that is not
/// possible.
pub(super) async fn gate(root: &Root) -> Option<StartGate> {
    let root = root.path().to_owned();
    let entered = move || StartGate::enter(&session_folders(), &root, Deadline::after(BEGINNING));
    match tokio::task::spawn_blocking(entered).await.ok()? {
        Ok(gate) => Some(gate),
        Err(error) => {
            tracing::warn!(%error, "another process may begin a session here at the same time");
            None
        }
    }
}

/// A file in the terms of a session of another folder. Its answers name files from its own folder on: a name without a
/// file here is one of those.
pub(super) fn placed(given: &str, here: &Path, there: &Path) -> String {
    let inside = here.join(given);
    if here == there || given.is_empty() || !inside.exists() && there.join(given).exists() {
        return given.to_owned();
    }
    inside.strip_prefix(there).unwrap_or(&inside).display().to_string()
}

/// The same of a symbol.
pub(super) fn placed_symbol(given: &str, here: &Path, there: &Path) -> String {
    let path = SymbolPath::parse(given);
    SymbolPath::new(placed(&path.file, here, there), path.names).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_that_of_the_same_file_in_the_other_folder() {
        let dir = tempfile::tempdir().unwrap();
        let (outer, inner) = (dir.path(), dir.path().join("inner"));
        std::fs::create_dir_all(&inner).unwrap();
        for file in ["inner/a.py", "b.py"] {
            std::fs::write(outer.join(file), "").unwrap();
        }
        for (given, there) in [("a.py", "inner/a.py"), ("inner/a.py", "inner/a.py"), ("b.py", "b.py"), ("", "")] {
            assert_eq!(placed(given, &inner, outer), there);
        }
        assert_eq!(placed("new.py", &inner, outer), "inner/new.py");
        assert_eq!(placed("inner/a.py", outer, &inner), "a.py");
        assert_eq!(placed("b.py", outer, &inner), outer.join("b.py").display().to_string(), "refused there");
        assert_eq!(placed_symbol("a.py::A::f", &inner, outer), "inner/a.py::A::f");
        assert_eq!(placed_symbol("A::f", &inner, outer), "A::f");
    }
}
