//! Finds the sources that a listing leaves out, though a compiler may read them: hidden ones, those that git ignores, and
//! links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};

use crate::workspace::ignore_rules::IgnoreRules;
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

/// Goes through the workspace. Blocks.
pub(crate) fn of(root: &Root) -> Unlisted {
    let rules = IgnoreRules::new(root);
    let tracked = tracked_files::of(root);
    let mut out = Unlisted::default();
    let entries = walk(root, tracked.clone());
    for (at, entry) in entries.into_iter().flatten().enumerate() {
        if at > VISITED {
            out.more = true;
            break;
        }
        let inside = entry.path().strip_prefix(root.path()).ok().and_then(Path::to_str);
        let Some(file) = inside.filter(|path| is_visible(root, path)) else { continue };
        let kind = entry.file_type();
        if file.contains(is_hidden) {
            if is_source(file) && kind.is_some_and(|kind| kind.is_file()) {
                out.files.insert(file.to_owned(), Some(OutOfSight::BadName));
            }
            continue;
        }
        if kind.is_some_and(|kind| kind.is_symlink()) {
            out.add_link(root, file);
        } else if kind.is_some_and(|kind| kind.is_file()) && is_source(file) {
            let is_ignored = rules.is_ignored(file);
            if is_ignored && !tracked.contains(file) {
                out.files.insert(file.to_owned(), Some(OutOfSight::Ignored));
            } else if is_ignored || file.split('/').any(|part| part.starts_with('.')) {
                out.files.insert(file.to_owned(), None);
            }
        }
    }
    let is_new = |file: &&String| is_source(file) && is_allowed(root, file) && rules.is_ignored(file);
    for file in tracked.iter().filter(is_new) {
        if root.join(file).symlink_metadata().is_ok_and(|what| what.is_file()) {
            out.files.insert(file.clone(), None);
        }
    }
    out
}

impl Unlisted {
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

fn walk(root: &Root, tracked: BTreeSet<String>) -> ignore::Walk {
    let (rules, top) = (IgnoreRules::new(root), root.path().to_owned());
    let is_foreign = move |entry: &DirEntry| {
        let Some(name) = entry.file_name().to_str() else { return true };
        let is_tracked = |path: &Path| {
            let inside = path.strip_prefix(&top).ok().and_then(Path::to_str).map(|inside| format!("{inside}/"));
            inside.is_some_and(|inside| {
                tracked.range(inside.clone()..).next().is_some_and(|file| file.starts_with(&inside))
            })
        };
        FOREIGN.contains(&name)
            || (BUILT.contains(&name) && rules.leaves_out(entry.path(), true) && !is_tracked(entry.path()))
            || MARKS.iter().any(|mark| entry.path().join(mark).exists())
    };
    let mut walk = WalkBuilder::new(root.path());
    walk.standard_filters(false).filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !is_folder || !is_foreign(entry)
    });
    walk.build()
}

fn is_source(path: &str) -> bool {
    source_text::language_of(path).is_some_and(|language| !language.import_words.is_empty())
}

fn is_allowed(root: &Root, path: &str) -> bool {
    is_visible(root, path) && !path.contains(is_hidden)
}

/// True for a path that is not a secret and not of Sextant's record, in any spelling.
fn is_visible(root: &Root, path: &str) -> bool {
    !is_secret(path) && !root.is_own(&root.join(path))
}
