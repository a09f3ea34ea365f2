//! Chooses the workspace of a call, and keeps the open workspaces.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use crate::mcp::mcp_workspace::{OpenWorkspace, WorkspaceOpener, named};
use sextant_base::failure::Failure;
use sextant_base::path;
use sextant_engine::api::OutsideClient;
use sextant_store::workspace::root::Root;

/// The most workspaces of one process.
const MOST: usize = 16;

/// The open workspaces, and the folder of a call that names no folder.
pub(in crate::mcp) struct Workspaces {
    opener: Box<dyn WorkspaceOpener>,
    /// The folder that the user named, or is in.
    fallback: Result<Root, Failure>,
    open: Mutex<BTreeMap<PathBuf, Arc<dyn OpenWorkspace>>>,
}

impl Workspaces {
    pub(in crate::mcp) fn new(opener: Box<dyn WorkspaceOpener>, fallback: Result<Root, Failure>) -> Self {
        Self { opener, fallback, open: Mutex::default() }
    }

    /// The workspace of a call: the first of the client's roots inside which its path lies, else the user's folder.
    pub(in crate::mcp) async fn of(&self, roots: &[PathBuf], given: &Value) -> Result<Arc<dyn OpenWorkspace>, Failure> {
        let root = choose(roots, given, &self.fallback)?;
        // Locked while a workspace is opened, so that one folder is never opened twice.
        let mut open = self.open.lock().await;
        if let Some(known) = open.get(root.path()) {
            if known.is_there().await {
                return Ok(Arc::clone(known));
            }
            if let Some(old) = open.remove(root.path()) {
                tokio::spawn(async move { old.close().await });
            }
        }
        if open.len() >= MOST {
            return Err(Failure::user(
                format!("{MOST} workspaces are open already"),
                "start another server for this folder",
            ));
        }
        let path = root.path().to_owned();
        let new = self.opener.open(root).await?;
        open.insert(path, Arc::clone(&new));
        Ok(new)
    }

    pub(in crate::mcp) async fn client_left(&self, client: &OutsideClient) {
        let open: Vec<_> = self.open.lock().await.values().cloned().collect();
        join_all(open.iter().map(|one| one.client_left(client))).await;
    }

    pub(in crate::mcp) async fn close(&self) {
        let open = std::mem::take(&mut *self.open.lock().await);
        join_all(open.values().map(|one| one.close())).await;
    }
}

fn choose(roots: &[PathBuf], given: &Value, fallback: &Result<Root, Failure>) -> Result<Root, Failure> {
    let folders: Vec<Root> = roots.iter().filter_map(|root| Root::new(root).ok()).collect();
    if folders.is_empty() {
        if let (Some(first), Err(_)) = (roots.first(), fallback) {
            return Err(Failure::user(
                format!("the client's root {} is no folder", first.display()),
                "open a folder that exists, or start the server with --root",
            ));
        }
        return fallback.clone();
    }
    let Some(file) = named(given).map(PathBuf::from).filter(|path| path.is_absolute()) else {
        return folders.into_iter().next().map_or_else(|| fallback.clone(), Ok);
    };
    // The path is compared as it is written and as it is: a root may be given by a link.
    let real = path::real(&file);
    let inside = |root: &Root| file.starts_with(root.path()) || real.starts_with(root.path());
    let first = folders.first().cloned();
    match folders.into_iter().find(inside) {
        Some(root) => Ok(root),
        None => match fallback {
            Ok(root) if file.starts_with(root.path()) || real.starts_with(root.path()) => Ok(root.clone()),
            // The workspace refuses it, in the words of every path outside.
            _ => first.map_or_else(|| fallback.clone(), Ok),
        },
    }
}

/// The folder of a root's URI; `None` for a URI that names no folder.
pub(in crate::mcp) fn folder(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_root_that_holds_the_path_is_meant_else_the_user_s_folder() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["one", "two", "two/inner", "own"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(base.join("two"), base.join("link")).unwrap();
        let own = || Root::new(&base.join("own")).map_err(Failure::from);
        let chosen = |roots: &[&str], given: Value| {
            let roots: Vec<PathBuf> = roots.iter().map(|root| base.join(root)).collect();
            choose(&roots, &given, &own()).map(|root| root.path().strip_prefix(&base).unwrap().display().to_string())
        };
        let at = |path: &str| json!({"path": base.join(path)});
        for (roots, given, meant) in [
            (&["one", "two"][..], json!({"path": "a.py"}), "one"),
            (&["one", "two"], json!({"pattern": "x"}), "one"),
            (&["one", "two"], at("two/new/a.py"), "two"),
            (&["one", "link"], at("link/a.py"), "two"),
            (&["one", "two"], json!({"symbol": format!("{}::f", base.join("two/a.py").display())}), "two"),
            (&["two/inner", "two"], at("two/inner/a.py"), "two/inner"),
            (&["one"], at("own/a.py"), "own"),
            (&["one"], at("elsewhere/a.py"), "one"),
            (&["gone", "two"], json!({}), "two"),
            (&["gone"], json!({}), "own"),
            (&[], json!({}), "own"),
        ] {
            assert_eq!(chosen(roots, given.clone()).unwrap(), meant, "{roots:?} {given}");
        }
        let nowhere = Err(Failure::user("no folder", "go to one"));
        let refused = choose(&[base.join("gone")], &json!({}), &nowhere).unwrap_err();
        assert!(refused.message.contains("is no folder"), "{refused:?}");
    }

    #[test]
    fn a_root_is_a_file_uri() {
        assert_eq!(folder("file:///a%20b/c"), Some(PathBuf::from("/a b/c")));
        for uri in ["https://example.com/a", "file://host/a", "/a", "", "file:a"] {
            assert!(folder(uri).is_none_or(|path| path.is_absolute()), "{uri}");
        }
        assert_eq!((folder("https://example.com/a"), folder("/a")), (None, None));
    }
}
