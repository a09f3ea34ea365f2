//! Looks at the project's folder: its files, those in work first, and its own commands.

use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

use crate::memory;
use crate::state::task_store::TaskStore;
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::store::Memory;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_RANKED};

/// Bytes of the largest file that names commands.
const LARGE: usize = 512 * 1024;
/// Newest entries that show which files are worked on.
const ENTRIES: usize = 300;

/// A way to build, test or check that the project itself names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectCommand {
    pub(crate) command: String,
    /// The file that names it.
    pub(crate) found_in: String,
}

/// The number of the project's files, and true if there are more. Blocks.
pub(crate) fn count(root: &Root) -> (usize, bool) {
    let listing = workspace_files::list(root, "", MOST_RANKED);
    (listing.files.len(), listing.more)
}

/// The files that the newest entries are about, the most named first.
pub(crate) fn in_work(memory: &Memory) -> Result<Vec<String>> {
    memory.used_files(ENTRIES)
}

/// The project's own commands for tests and checks. They are listed, never run from here.
pub(crate) fn commands(root: &Root) -> Vec<ProjectCommand> {
    let text = |name: &str| workspace_files::text(root, name).filter(|text| text.len() <= LARGE);
    let mut out = Vec::new();
    let mut add = |command: &str, found_in: &str| {
        out.push(ProjectCommand { command: command.to_owned(), found_in: found_in.to_owned() });
    };
    let pyproject = text("pyproject.toml").unwrap_or_default();
    for (tool, command, own) in [("pytest", "pytest", "pytest.ini"), ("ruff", "ruff check", "ruff.toml")] {
        if pyproject.contains(tool) {
            add(command, "pyproject.toml");
        } else if text(own).is_some() {
            add(command, own);
        }
    }
    if text("Cargo.toml").is_some() {
        add("cargo test", "Cargo.toml");
    }
    let package = text("package.json").and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let scripts = package.as_ref().and_then(|package| package["scripts"].as_object());
    for name in ["test", "lint", "build"] {
        if scripts.is_some_and(|scripts| scripts.contains_key(name)) {
            add(&format!("npm run {name}"), "package.json");
        }
    }
    out
}

/// The files in work first, then the last changed ones. Blocks.
fn ranked(used: Vec<String>, root: &Root, most: usize) -> Vec<String> {
    let changed = |path: &str| fs::metadata(root.join(path)).and_then(|data| data.modified()).ok();
    let listed = workspace_files::list(root, "", MOST_RANKED).files.into_iter();
    let mut known: BTreeMap<String, SystemTime> =
        listed.filter_map(|path| changed(&path).map(|time| (path, time))).collect();
    let mut out: Vec<String> = used.into_iter().filter(|path| known.remove(path).is_some()).collect();
    let mut rest: Vec<(String, SystemTime)> = known.into_iter().collect();
    rest.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    out.extend(rest.into_iter().map(|(path, _)| path));
    out.truncate(most);
    out
}

/// Files of the workspace for a plan; `otherwise` without a memory.
pub(crate) async fn files_by_use(store: &TaskStore, root: &Root, most: usize, otherwise: Vec<String>) -> Vec<String> {
    let Some(remember) = memory::remember(store).await else { return otherwise };
    let root = root.clone();
    match remember.run(move |memory| Ok(ranked(in_work(memory)?, &root, most))).await {
        Ok(files) if !files.is_empty() => files,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_work_come_first_then_the_last_changed_and_commands_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
        put("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n");
        put("package.json", "{\"scripts\": {\"test\": \"x\", \"lint\": \"y\"}}");
        put("server.key", "secret");
        put("a.py", "");
        put("z.py", "");
        let time = SystemTime::now() + std::time::Duration::from_secs(60);
        fs::File::options().write(true).open(dir.path().join("a.py")).unwrap().set_modified(time).unwrap();
        let root = Root::new(dir.path()).unwrap();
        let names: Vec<String> = commands(&root).into_iter().map(|one| one.command).collect();
        assert_eq!(names, ["pytest", "ruff check", "npm run test", "npm run lint"]);
        assert_eq!(count(&root), (4, false), "the key is left out");
        let used = ["z.py", "gone.py", "server.key", "package.json"].map(str::to_owned).to_vec();
        assert_eq!(ranked(used, &root, 3), ["z.py", "package.json", "a.py"]);
    }
}
