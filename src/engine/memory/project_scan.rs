//! Scans the project's files and commands in the background, and again where they change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::Instrument;

use crate::memory;
use crate::state::memory_handle::Remember;
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::project::{CommandFact, FileFact};
use sextant_store::memory::store::Memory;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::{Outline, SymbolKind};

/// Files of one scan; of a larger project the first of each folder.
const FILES: usize = 5000;
/// Milliseconds before the files are scanned again.
const PAUSE_MS: i64 = 20_000;
/// Files of one write, so that a task's own writes find their turn.
const BATCH: usize = 100;
/// Bytes of the largest file whose symbols are counted: a larger one was hardly written by hand.
const LARGE: u64 = 512 * 1024;
/// Newest entries that show which files are worked on.
const ENTRIES: usize = 300;

/// The identity of a file's state without reading it.
fn state(root: &Root, path: &str) -> Option<(u64, i64)> {
    let data = fs::metadata(root.join(path)).ok()?;
    let since = data.modified().unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH).unwrap_or_default();
    Some((data.len(), i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

fn fact(root: &Root, path: &str, bytes: u64, modified: i64) -> FileFact {
    let language = language::of_path(path);
    let text = language.filter(|_| bytes <= LARGE).and_then(|_| workspace_files::text(root, path));
    let symbols = language.zip(text).map_or(0, |(language, text)| {
        let outline = Outline::parse(language, &text);
        outline.symbols.iter().filter(|symbol| !matches!(symbol.kind, SymbolKind::Key | SymbolKind::Section)).count()
    });
    FileFact {
        path: path.to_owned(),
        language: language.map_or("", |language| language.name).to_owned(),
        bytes,
        symbols: u32::try_from(symbols).unwrap_or(u32::MAX),
        modified,
        scanned: now_ms(),
    }
}

/// Updates the stored facts: reads new and changed files, forgets missing ones. Blocks.
fn scan(memory: &Memory, project: &str, root: &Root) -> Result<()> {
    let known: BTreeMap<String, FileFact> =
        memory.files(project)?.into_iter().map(|file| (file.path.clone(), file)).collect();
    let present = workspace_files::list(root, "", FILES).files;
    let mut batch = Vec::new();
    for path in &present {
        let Some((bytes, modified)) = state(root, path) else { continue };
        if known.get(path).is_some_and(|file| file.bytes == bytes && file.modified == modified) {
            continue;
        }
        batch.push(fact(root, path, bytes, modified));
        if batch.len() == BATCH {
            memory.put_files(project, std::mem::take(&mut batch))?;
        }
    }
    if !batch.is_empty() {
        memory.put_files(project, batch)?;
    }
    let present: BTreeSet<&String> = present.iter().collect();
    let gone: Vec<String> = known.into_keys().filter(|path| !present.contains(path)).collect();
    if !gone.is_empty() {
        memory.remove_files(project, gone)?;
    }
    memory.set_commands(project, commands(root))
}

/// The project's own commands for tests and checks. They are listed, never run from here.
fn commands(root: &Root) -> Vec<CommandFact> {
    let text = |name: &str| workspace_files::text(root, name).filter(|text| text.len() as u64 <= LARGE);
    let mut out = Vec::new();
    let mut add = |name: &str, command: &str, found_in: &str| {
        let (name, command) = (name.to_owned(), command.to_owned());
        out.push(CommandFact { name, command, found_in: found_in.to_owned(), scanned: now_ms() });
    };
    let pyproject = text("pyproject.toml").unwrap_or_default();
    for (tool, command, own) in [("pytest", "pytest", "pytest.ini"), ("ruff", "ruff check", "ruff.toml")] {
        if pyproject.contains(tool) {
            add(tool, command, "pyproject.toml");
        } else if text(own).is_some() {
            add(tool, command, own);
        }
    }
    if text("Cargo.toml").is_some() {
        add("cargo test", "cargo test", "Cargo.toml");
    }
    let package = text("package.json").and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let scripts = package.as_ref().and_then(|package| package["scripts"].as_object());
    for name in ["test", "lint", "build"] {
        if scripts.is_some_and(|scripts| scripts.contains_key(name)) {
            add(&format!("npm {name}"), &format!("npm run {name}"), "package.json");
        }
    }
    out
}

/// The files in work first, then the last changed ones.
fn ranked(memory: &Memory, project: &str, root: &Root, most: usize) -> Result<Vec<String>> {
    let mut known = memory.files(project)?;
    known.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let listed: BTreeSet<&str> = known.iter().map(|file| file.path.as_str()).collect();
    let used = memory.used_files(ENTRIES)?.into_iter().filter(|file| listed.contains(file.as_str()));
    let mut out: Vec<String> = Vec::new();
    for path in used.chain(known.iter().map(|file| file.path.clone())) {
        if out.len() == most {
            break;
        }
        if !out.contains(&path) && root.join(&path).is_file() {
            out.push(path);
        }
    }
    Ok(out)
}

/// Starts a scan of the project where the last one is not quite new. Nobody waits for it.
pub(crate) fn scan_project(store: &TaskStore, root: &Root, remember: &Arc<Remember>) {
    let (now, last) = (now_ms(), store.scanned.load(Ordering::Relaxed));
    let due = now.saturating_sub(last) >= PAUSE_MS;
    if !due || store.scanned.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    let (remember, root) = (Arc::clone(remember), root.clone());
    let scanning = async move {
        let project = remember.project;
        if let Err(error) = remember.run(move |memory| scan(memory, project, &root)).await {
            tracing::warn!(%error, "the project could not be looked over");
        }
    };
    tokio::spawn(scanning.in_current_span());
}

/// Files of the workspace for a plan; `otherwise` where memory has no files yet.
pub(crate) async fn files_by_use(store: &TaskStore, root: &Root, most: usize, otherwise: Vec<String>) -> Vec<String> {
    let Some(remember) = memory::remember(store).await else { return otherwise };
    let (project, root) = (remember.project, root.clone());
    match remember.run(move |memory| ranked(memory, project, &root, most)).await {
        Ok(files) if !files.is_empty() => files,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::record_in;
    use sextant_store::memory::entry::{Kind, Mode, NewEntry};

    #[test]
    fn files_and_commands_are_known_and_follow_changes() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let put = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
        put("a.py", "def f():\n    pass\n\n\nclass C:\n    def g(self):\n        pass\n");
        put("b.txt", "words");
        put("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n");
        put("package.json", "{\"scripts\": {\"test\": \"x\", \"lint\": \"y\"}}");
        put("server.key", "secret");
        let remember = Remember::open(&record_in(outside.path()), "main").unwrap();
        let (memory, root) = (&remember.memory, Root::new(dir.path()).unwrap());
        scan(memory, ".", &root).unwrap();
        let facts = memory.project_facts(".").unwrap();
        let names: Vec<&str> = facts.commands.iter().map(|command| command.command.as_str()).collect();
        assert_eq!(names, ["npm run lint", "npm run test", "pytest", "ruff check"]);
        assert_eq!((facts.files, facts.symbols), (4, 3), "the key is left out");

        fs::remove_file(dir.path().join("b.txt")).unwrap();
        put("a.py", "def f():\n    pass\n");
        put("z.py", "");
        let (_, before) = state(&root, "pyproject.toml").unwrap();
        scan(memory, ".", &root).unwrap();
        let files = memory.files(".").unwrap();
        let paths: Vec<(&str, u32)> = files.iter().map(|file| (file.path.as_str(), file.symbols)).collect();
        assert_eq!(paths, [("a.py", 1), ("package.json", 0), ("pyproject.toml", 0), ("z.py", 0)]);
        assert_eq!(files[2].modified, before);

        let about = |file: &str| NewEntry {
            files: vec![file.to_owned()],
            ..NewEntry::new("main", Mode::Simple, Kind::Error, "x", 1)
        };
        memory.append_all(vec![about("z.py"), about("z.py"), about("gone.py"), about("package.json")]).unwrap();
        let order = ranked(memory, ".", &root, 3).unwrap();
        assert_eq!(order[..2], ["z.py", "package.json"]);
        assert_eq!(order.len(), 3);
    }
}
