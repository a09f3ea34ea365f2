//! Keeps the names in the folders of a workspace, so that a further walk reads those folders alone that have changed.
//!
//! A folder's time of change moves when a name comes or goes. A folder that has just changed is read at every walk until
//! a further change is sure to show in its time.

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::workspace::disk_stamp::DiskStamp;
use crate::workspace::secret_files::is_secret;
use sextant_base::path::is_hidden;

/// The kind of an entry itself; a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

/// A name in a folder.
#[derive(Debug)]
pub(crate) struct FolderEntry {
    /// Relative to the root of the walk, with `/`.
    pub(crate) path: String,
    pub(crate) kind: EntryKind,
    pub(crate) is_secret: bool,
    /// True if the path has characters that are not seen.
    pub(crate) is_badly_named: bool,
}

impl FolderEntry {
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }
}

/// The folders of the last walk. A walk below another root starts from nothing.
#[derive(Debug, Default)]
pub(crate) struct KnownFolders {
    root: PathBuf,
    folders: HashMap<String, KnownFolder>,
    /// Folders that were read at the last walk.
    #[cfg(test)]
    pub(crate) read: usize,
}

#[derive(Debug)]
struct KnownFolder {
    stamp: DiskStamp,
    is_settled: bool,
    entries: Arc<[FolderEntry]>,
}

impl KnownFolders {
    /// Goes through the folders that are entered, in the order of their names, until `each` breaks. Names that are not
    /// UTF-8, and folders that cannot be read, are left out. Blocks.
    pub(crate) fn walk(
        &mut self,
        root: &Path,
        enters: impl Fn(&FolderEntry) -> bool,
        mut each: impl FnMut(&FolderEntry) -> ControlFlow<()>,
    ) {
        let mut before = std::mem::take(&mut self.folders);
        if self.root != root {
            (self.root, before) = (root.to_owned(), HashMap::new());
        }
        #[cfg(test)]
        {
            self.read = 0;
        }
        let mut way: Vec<(Arc<[FolderEntry]>, usize)> = vec![(self.enter("", &mut before), 0)];
        while let Some((entries, at)) = way.last_mut() {
            let (entries, here) = (Arc::clone(entries), *at);
            *at += 1;
            let Some(entry) = entries.get(here) else {
                way.pop();
                continue;
            };
            if each(entry).is_break() {
                return;
            }
            if entry.kind == EntryKind::Folder && enters(entry) {
                way.push((self.enter(&entry.path, &mut before), 0));
            }
        }
    }

    /// The entries of a folder, from the walk before if it has not changed.
    fn enter(&mut self, path: &str, before: &mut HashMap<String, KnownFolder>) -> Arc<[FolderEntry]> {
        let (folder, at) = (self.root.join(path), SystemTime::now());
        let Some(stamp) = folder.symlink_metadata().ok().map(|about| DiskStamp::of(&about)) else {
            return Arc::default();
        };
        let known = before.remove(path).filter(|known| known.is_settled && known.stamp == stamp);
        let known = known.or_else(|| {
            #[cfg(test)]
            {
                self.read += 1;
            }
            let entries = read(&folder, path)?;
            Some(KnownFolder { stamp, is_settled: stamp.is_settled(at), entries })
        });
        let Some(known) = known else { return Arc::default() };
        let entries = Arc::clone(&known.entries);
        self.folders.insert(path.to_owned(), known);
        entries
    }
}

/// Reads a folder, sorted by name; `None` if it cannot be read.
fn read(folder: &Path, path: &str) -> Option<Arc<[FolderEntry]>> {
    let entry = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let kind = match entry.file_type().ok()? {
            kind if kind.is_symlink() => EntryKind::Link,
            kind if kind.is_dir() => EntryKind::Folder,
            kind if kind.is_file() => EntryKind::File,
            _ => EntryKind::Other,
        };
        let is_badly_named = path.contains(is_hidden);
        Some(FolderEntry { kind, is_secret: is_secret(&path), is_badly_named, path })
    };
    let mut entries: Vec<FolderEntry> = fs::read_dir(folder).ok()?.flatten().filter_map(entry).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Some(entries.into())
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::time::Duration;

    use super::*;

    /// Makes a folder look as if it had last changed long ago.
    fn age(folder: &Path) {
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(folder).unwrap().set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    }

    fn walked(known: &mut KnownFolders, root: &Path) -> Vec<String> {
        let mut paths = Vec::new();
        known.walk(
            root,
            |_| true,
            |entry| {
                paths.push(entry.path.clone());
                ControlFlow::Continue(())
            },
        );
        paths
    }

    #[test]
    fn only_folders_that_changed_are_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let folders: Vec<PathBuf> = (0..9).map(|at| dir.path().join(format!("d{at}"))).collect();
        for folder in &folders {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a.py"), "").unwrap();
        }
        folders.iter().for_each(|folder| age(folder));
        age(dir.path());
        let mut known = KnownFolders::default();
        assert_eq!((walked(&mut known, dir.path()).len(), known.read), (18, 10));
        assert_eq!((walked(&mut known, dir.path()).len(), known.read), (18, 0));
        fs::write(folders[4].join("b.py"), "").unwrap();
        let paths = walked(&mut known, dir.path());
        assert!(paths.contains(&"d4/b.py".to_owned()) && known.read == 1, "{paths:?} {}", known.read);
        // Its time may not move with a change that follows at once.
        fs::remove_file(folders[4].join("a.py")).unwrap();
        let paths = walked(&mut known, dir.path());
        assert!(!paths.contains(&"d4/a.py".to_owned()) && known.read == 1, "{paths:?} {}", known.read);
        fs::remove_dir_all(&folders[0]).unwrap();
        assert!(!walked(&mut known, dir.path()).iter().any(|path| path.starts_with("d0")));
        let other = tempfile::tempdir().unwrap();
        assert_eq!(walked(&mut known, other.path()), [""; 0]);
    }
}
