//! Finds the files that came, changed or went on disk since the last look, for its servers.
//!
//! A server reads the disk when it starts. An import that it could not resolve then stays unresolved for it, and the
//! text of a closed file stays the one that it has read, until its client reports the change.

use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

use crate::workspace::disk_stamp::DiskStamp;
use crate::workspace::known_folders::KnownFolders;
use crate::workspace::root::Root;
use crate::workspace::workspace_files;
use sextant_text::symbols::language;

/// LSP's numbers for what happened to a file on disk.
pub const CREATED: u8 = 1;
pub const CHANGED: u8 = 2;
pub const DELETED: u8 = 3;

/// Most files that are looked at. A look at a file is far cheaper than its text.
const MOST_LOOKED_AT: usize = 200_000;

/// The source files of a folder as they were at the last look.
#[derive(Debug, Default)]
pub struct OutsideChanges {
    known: Option<BTreeMap<String, DiskStamp>>,
    folders: KnownFolders,
}

impl OutsideChanges {
    /// True before the first look.
    pub fn is_new(&self) -> bool {
        self.known.is_none()
    }

    /// The files of the last look that were made or changed after this time, with LSP's number of it and its time. Those
    /// that are gone are not known. Blocks.
    pub fn written_after(&self, root: &Root, time: SystemTime) -> Vec<(String, u8, SystemTime)> {
        let is_made = |path: &str| {
            let made = fs::metadata(root.join(path)).and_then(|found| found.created());
            made.is_ok_and(|made| made > time)
        };
        let written = self.known.iter().flatten().filter_map(|(path, stamp)| Some((path, stamp.changed()?)));
        let written = written.filter(|(_, at)| *at > time);
        written.map(|(path, at)| (path.clone(), if is_made(path) { CREATED } else { CHANGED }, at)).collect()
    }

    /// The changes since the last look at the source files that are meant, with LSP's number of each; none at the first
    /// look. Blocks.
    pub fn take(&mut self, root: &Root, is_meant: impl Fn(&str) -> bool) -> Vec<(String, u8)> {
        let listed = workspace_files::list_again(root, &mut self.folders, MOST_LOOKED_AT).files.into_iter();
        let is_source = |path: &str| language::of_path(path).is_some_and(|language| !language.is_document);
        let listed = listed.filter(|path| is_source(path) && is_meant(path));
        let stamped = |path: String| {
            let found = fs::metadata(root.join(&path)).ok()?;
            Some((path, DiskStamp::of(&found)))
        };
        let now: BTreeMap<String, DiskStamp> = listed.filter_map(stamped).collect();
        let Some(before) = self.known.replace(now) else { return Vec::new() };
        let now = self.known.iter().flatten();
        let came = now.filter_map(|(path, stamp)| match before.get(path) {
            None => Some((path.clone(), CREATED)),
            Some(old) => (old != stamp).then(|| (path.clone(), CHANGED)),
        });
        let is_gone = |path: &&String| self.known.as_ref().is_some_and(|now| !now.contains_key(*path));
        let went = before.keys().filter(is_gone).map(|path| (path.clone(), DELETED));
        came.chain(went).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_came_changed_or_went_are_found_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        ["a.py", "b.py", "c.txt"].iter().for_each(|name| write(name, "x = 1\n"));
        let mut changes = OutsideChanges::default();
        let mut take = || changes.take(&root, |path| path != "e.py");
        assert_eq!(take(), []);
        write("a.py", "x = 12\n");
        write("c.txt", "y");
        write("d.py", "");
        write("e.py", "");
        fs::remove_file(dir.path().join("b.py")).unwrap();
        let of = |path: &str, kind: u8| (path.to_owned(), kind);
        assert_eq!(take(), [of("a.py", CHANGED), of("d.py", CREATED), of("b.py", DELETED)]);
        assert_eq!(take(), []);
    }

    #[test]
    fn files_that_were_written_after_a_time_are_found_by_the_first_look() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let write = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).unwrap();
            DiskStamp::of(&fs::metadata(dir.path().join(name)).unwrap()).changed().unwrap()
        };
        let (first, time) = (write("a.py", "x = 1\n"), write("b.py", "x = 1\n"));
        let next = |name: &str| std::iter::repeat_with(|| write(name, "x = 2\n")).find(|at| *at > time).unwrap();
        let (changed, made) = (next("a.py"), next("c.py"));
        let mut changes = OutsideChanges::default();
        assert!(changes.is_new() && changes.take(&root, |_| true).is_empty() && !changes.is_new());
        let found = changes.written_after(&root, time);
        assert_eq!(found, [("a.py".to_owned(), CHANGED, changed), ("c.py".to_owned(), CREATED, made)]);
        assert!(first <= time && changes.written_after(&root, changed.max(made)).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_the_old_size_and_time_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let (file, other) = (dir.path().join("a.py"), dir.path().join("b.txt"));
        fs::write(&file, "x = 1\n").unwrap();
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        let mut changes = OutsideChanges::default();
        assert_eq!(changes.take(&root, |_| true), []);
        // As `cp -p` and `mv` leave it.
        fs::write(&other, "x = 2\n").unwrap();
        fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, &file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), time);
        assert_eq!(changes.take(&root, |_| true), [("a.py".to_owned(), CHANGED)]);
        assert_eq!(changes.take(&root, |_| true), []);
    }
}
