//! Finds the sources that a listing leaves out, though a compiler may read them: hidden ones, those that git ignores, and
//! links.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::workspace::ignore_rules::IgnoreRules;
use crate::workspace::known_folders::{EntryKind, FolderEntry, KnownFolders};
use crate::workspace::root::Root;
use crate::workspace::secret_files::is_secret;
use crate::workspace::source_text;
use crate::workspace::tracked_files;
use sextant_base::path::{self, is_hidden};

/// The most entries of folders that are gone through.
const VISITED: usize = 200_000;
/// Folders of other programs: repositories, installed packages, caches.
const FOREIGN: &[&str] = &[
    ".git",
    ".hg",
    ".jj",
    ".svn",
    "__pycache__",
    "node_modules",
    "site-packages",
    ".venv",
    ".tox",
    ".nox",
    ".cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".eggs",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".yarn",
    ".pnpm-store",
    ".parcel-cache",
];
/// The usual folders of what a build makes of the sources. They count as such where git ignores them.
const BUILT: &[&str] = &["target", "dist", "build", "out", "coverage", "htmlcov", "venv", "env"];
/// Files that mark a folder of installed packages, or of a cache.
const MARKS: &[&str] = &["pyvenv.cfg", "CACHEDIR.TAG"];

/// The reason for which an unlisted file is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutOfSight {
    /// Git ignores it, and does not track it.
    Ignored,
    /// Its path is a link to another file.
    Linked,
    /// Its path has characters that are not seen.
    BadName,
}

/// The unlisted sources of a workspace, by paths relative to its root.
#[derive(Debug, Default)]
pub(crate) struct Unlisted {
    pub(crate) files: BTreeMap<String, Option<OutOfSight>>,
    /// The links to files and folders of the workspace, with their targets.
    pub(crate) links: Vec<(String, String)>,
    /// True if there are more than were gone through.
    pub(crate) more: bool,
}

/// Goes through the workspace, and reads those folders alone that have changed since the walk before. Blocks.
pub(crate) fn of(root: &Root, known: &mut KnownFolders) -> Unlisted {
    let rules = IgnoreRules::new(root);
    let tracked = tracked_files::of(root);
    let (mut out, mut visited) = (Unlisted::default(), 0);
    known.walk(
        root.path(),
        |folder| !is_foreign(root, &rules, &tracked, folder),
        |entry| {
            visited += 1;
            out.more = visited > VISITED;
            if out.more {
                return ControlFlow::Break(());
            }
            if !entry.is_secret && !root.is_own(&root.join(&entry.path)) {
                out.take(root, &rules, &tracked, entry);
            }
            ControlFlow::Continue(())
        },
    );
    let is_new = |file: &&String| is_source(file) && is_allowed(root, file) && rules.is_ignored(file);
    for file in tracked.iter().filter(is_new) {
        if root.join(file).symlink_metadata().is_ok_and(|what| what.is_file()) {
            out.files.insert(file.clone(), None);
        }
    }
    out
}

impl Unlisted {
    /// Takes an entry that is neither a secret nor of Sextant's record.
    fn take(&mut self, root: &Root, rules: &IgnoreRules, tracked: &BTreeSet<String>, entry: &FolderEntry) {
        let (file, is_file) = (&entry.path, entry.kind == EntryKind::File);
        if entry.is_badly_named {
            if is_file && is_source(file) {
                self.files.insert(file.clone(), Some(OutOfSight::BadName));
            }
        } else if entry.kind == EntryKind::Link {
            self.add_link(root, file);
        } else if is_file && is_source(file) {
            let is_ignored = rules.is_ignored(file);
            if is_ignored && !tracked.contains(file) {
                self.files.insert(file.clone(), Some(OutOfSight::Ignored));
            } else if is_ignored || file.split('/').any(|part| part.starts_with('.')) {
                self.files.insert(file.clone(), None);
            }
        }
    }

    fn add_link(&mut self, root: &Root, link: &str) {
        let real = root.join(link).canonicalize().ok();
        let Some(real) = real.and_then(|real| path::relative(root.path(), &real)) else { return };
        if real.is_empty() || !is_allowed(root, &real) {
            return;
        }
        if is_source(link) && root.join(&real).is_file() {
            self.files.insert(link.to_owned(), Some(OutOfSight::Linked));
        }
        self.links.push((link.to_owned(), real));
    }
}

/// True for a folder of another program, or of what a build makes of the sources.
fn is_foreign(root: &Root, rules: &IgnoreRules, tracked: &BTreeSet<String>, folder: &FolderEntry) -> bool {
    let (name, path) = (folder.name(), root.join(&folder.path));
    let is_tracked = || {
        let inside = format!("{}/", folder.path);
        tracked.range(inside.clone()..).next().is_some_and(|file| file.starts_with(&inside))
    };
    FOREIGN.contains(&name)
        || (BUILT.contains(&name) && rules.leaves_out(&path, true) && !is_tracked())
        || MARKS.iter().any(|mark| path.join(mark).exists())
}

fn is_source(path: &str) -> bool {
    source_text::language_of(path).is_some_and(|language| !language.import_words.is_empty())
}

fn is_allowed(root: &Root, path: &str) -> bool {
    !is_secret(path) && !root.is_own(&root.join(path)) && !path.contains(is_hidden)
}
