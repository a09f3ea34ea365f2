//! Which files of a workspace import which, read from the lines that begin with an import word.
//!
//! The reading is by words: a line that mentions the name of a module counts as an import of every module of that name.
//! It names too many files rather than too few, and holds without a search path or an environment.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::SystemTime;

use crate::symbols::interface::identifiers;
use crate::symbols::language::{self, Language};
use crate::workspace::files;
use crate::workspace::root::Root;

/// Files that are listed; in a larger project some of each folder.
const LISTED: usize = 20_000;

/// The import lines of a workspace, each file read again when it changes.
#[derive(Debug, Default)]
pub struct Importers {
    files: HashMap<String, ImportLines>,
    /// Whether the workspace has more files than are listed.
    pub more: bool,
}

#[derive(Debug)]
struct ImportLines {
    changed: Option<SystemTime>,
    bytes: u64,
    words: BTreeSet<String>,
}

impl Importers {
    /// Reads what has changed on disk since the last time. Blocks.
    pub fn refresh(&mut self, root: &Root) {
        let listing = files::list(root, "", LISTED);
        self.more = listing.more;
        let mut known = std::mem::take(&mut self.files);
        for path in listing.files {
            let Some(language) = language::of_path(&path) else { continue };
            let Ok(found) = std::fs::metadata(root.join(&path)) else { continue };
            let (changed, bytes) = (found.modified().ok(), found.len());
            let lines = known.remove(&path).filter(|lines| lines.changed == changed && lines.bytes == bytes);
            let lines = lines.or_else(|| {
                let text = files::text(root, &path)?;
                Some(ImportLines { changed, bytes, words: import_words(language, &path, &text) })
            });
            if let Some(lines) = lines {
                self.files.insert(path, lines);
            }
        }
    }

    /// Whether a file imports another without a third between them.
    pub fn is_direct(&self, importer: &str, path: &str) -> bool {
        self.files.get(importer).is_some_and(|lines| lines.words.contains(module_name(path)))
    }

    /// The files that import this one, in one line or through others; the nearest first, then by name.
    pub fn of(&self, path: &str) -> Vec<String> {
        let mut by_word: HashMap<&str, Vec<&str>> = HashMap::new();
        for (file, lines) in &self.files {
            lines.words.iter().for_each(|word| by_word.entry(word).or_default().push(file));
        }
        let mut found: Vec<String> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::from([path]);
        let mut next: VecDeque<&str> = VecDeque::from([path]);
        while let Some(file) = next.pop_front() {
            let mut direct: Vec<&str> = by_word.get(module_name(file)).into_iter().flatten().copied().collect();
            direct.sort_unstable();
            for importer in direct {
                if seen.insert(importer) {
                    found.push(importer.to_owned());
                    next.push_back(importer);
                }
            }
        }
        found
    }
}

/// The name by which others import a file: that of its folder where the file stands for the folder.
fn module_name(path: &str) -> &str {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or(file);
    if stem == "__init__" { folder.rsplit('/').next().unwrap_or(folder) } else { stem }
}

/// The words of a file's import lines. Leading dots count as the folders that they stand for.
fn import_words(language: &Language, path: &str, text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !language.import_words.contains(&first) {
            continue;
        }
        let dots = line[first.len()..].trim_start().chars().take_while(|c| *c == '.').count();
        words.extend(ancestor(path, dots).map(str::to_owned));
        words.extend(identifiers(line).map(str::to_owned));
        // A list of names goes on to its closing bracket.
        let mut is_open = line.contains('(') && !line.contains(')');
        let mut goes_on = line.ends_with('\\');
        while is_open || goes_on {
            let Some(line) = lines.next() else { break };
            words.extend(identifiers(line).map(str::to_owned));
            is_open = is_open && !line.contains(')');
            goes_on = line.ends_with('\\');
        }
    }
    words
}

/// The name of the folder that so many leading dots stand for.
fn ancestor(path: &str, dots: usize) -> Option<&str> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut folders = folder.rsplit('/');
    dots.checked_sub(1).map(|up| folders.nth(up).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Importers) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut importers = Importers::default();
        importers.refresh(&Root::new(dir.path()).unwrap());
        (dir, importers)
    }

    #[test]
    fn importers_are_found_in_every_form_of_an_import_and_through_others() {
        let (_dir, importers) = workspace(&[
            ("shop/__init__.py", "from .cart import Cart\n"),
            ("shop/cart.py", "import json\n"),
            ("shop/deep/a.py", "from ..cart import (\n    Cart,\n)\n"),
            ("shop/deep/b.py", "    from .. import cart\n"),
            ("shop/deep/c.py", "from .. import \\\n    cart as c\n"),
            ("shop/deep/d.py", "from . import e\n"),
            ("app.py", "import shop\n"),
            ("main.py", "import app\n"),
            ("other.py", "import json\ncart = 1\n"),
        ]);
        let expected = ["shop/__init__.py", "shop/deep/a.py", "shop/deep/b.py", "shop/deep/c.py", "app.py", "main.py"];
        assert_eq!(importers.of("shop/cart.py"), expected);
        assert_eq!(importers.of("main.py"), Vec::<String>::new());
    }

    #[test]
    fn a_changed_file_is_read_again_and_a_removed_one_forgotten() {
        let (dir, mut importers) = workspace(&[("a.py", "x = 1\n"), ("b.py", "import a\n"), ("c.py", "import a\n")]);
        assert_eq!(importers.of("a.py"), ["b.py", "c.py"]);
        std::fs::write(dir.path().join("b.py"), "import json\n").unwrap();
        std::fs::remove_file(dir.path().join("c.py")).unwrap();
        std::fs::write(dir.path().join("d.py"), "from a import x\n").unwrap();
        importers.refresh(&Root::new(dir.path()).unwrap());
        assert_eq!(importers.of("a.py"), ["d.py"]);
    }

    #[test]
    fn a_circle_of_imports_ends_and_a_file_is_no_importer_of_itself() {
        let (_dir, importers) = workspace(&[("a.py", "import a\nimport b\n"), ("b.py", "import a\n")]);
        assert_eq!(importers.of("a.py"), ["b.py"]);
    }
}
