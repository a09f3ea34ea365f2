//! Finds the sources and settings that came, changed or went on disk since the last look, for its servers.
//!
//! A server reads the disk when it starts. An import that it could not resolve then stays unresolved for it, and the
//! text of a closed file stays the one that it has read, until its client reports the change.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

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

/// The time for which a server may go on with the settings that it has read. clangd looks at them every 5 s.
const READ_LATE: Duration = Duration::from_millis(5_200);

/// The files that are looked at beside the sources: those that configure checkers.
#[derive(Clone, Copy, Debug)]
pub struct SettingsFiles {
    pub is_one: fn(&str) -> bool,
    /// Those that a server reads again only after a while.
    pub is_read_late: fn(&str) -> bool,
    /// Those in folders that no list shows.
    pub beneath: &'static [&'static str],
}

/// The source files and settings of a folder as they were at the last look.
#[derive(Debug, Default)]
pub struct OutsideChanges {
    known: Option<BTreeMap<String, DiskStamp>>,
    folders: KnownFolders,
    /// When each file was missed first whose end a server notices late.
    gone: BTreeMap<String, SystemTime>,
    /// When a server has read the last of the settings that are read late.
    read_at: Option<SystemTime>,
}

fn is_source(path: &str) -> bool {
    language::of_path(path).is_some_and(|language| !language.is_document)
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

    /// The changes since the last look at the settings and at the source files that are meant, with LSP's number of
    /// each; none at the first look. Settings that are read late come at every look until they are read. Blocks.
    pub fn take(
        &mut self,
        root: &Root,
        settings: &SettingsFiles,
        is_meant: impl Fn(&str) -> bool,
    ) -> Vec<(String, u8)> {
        let listed = workspace_files::list_again(root, &mut self.folders, MOST_LOOKED_AT).files.into_iter();
        let listed = listed.filter(|path| is_source(path) && is_meant(path) || (settings.is_one)(path));
        let stamped = |path: String| {
            let found = fs::metadata(root.join(&path)).ok().filter(fs::Metadata::is_file)?;
            Some((path, DiskStamp::of(&found)))
        };
        let now: BTreeMap<String, DiskStamp> = listed.chain(unlisted(root, settings)).filter_map(stamped).collect();
        let Some(before) = self.known.replace(now) else { return Vec::new() };
        let now = self.known.iter().flatten();
        let came = now.filter_map(|(path, stamp)| match before.get(path) {
            None => Some((path.clone(), CREATED)),
            Some(old) => (old != stamp).then(|| (path.clone(), CHANGED)),
        });
        let is_gone = |path: &&String| self.known.as_ref().is_some_and(|now| !now.contains_key(*path));
        let went = before.keys().filter(is_gone).map(|path| (path.clone(), DELETED));
        let changes: Vec<(String, u8)> = came.chain(went).collect();
        self.hold(&before, changes.iter().filter(|(path, _)| (settings.is_read_late)(path)));
        changes
    }

    /// Keeps the state before these changes until a server has read them.
    fn hold<'c>(&mut self, before: &BTreeMap<String, DiskStamp>, late: impl Iterator<Item = &'c (String, u8)>) {
        let Some(known) = &mut self.known else { return };
        let (at, mut missed) = (SystemTime::now(), BTreeMap::new());
        for (path, _) in late {
            let since = match known.get(path) {
                Some(stamp) => stamp.changed().filter(|since| *since <= at),
                None => self.gone.get(path).copied(),
            };
            let since = since.unwrap_or(at);
            if !known.contains_key(path) {
                missed.insert(path.clone(), since);
            }
            self.read_at = self.read_at.max(Some(since + READ_LATE));
            if at < since + READ_LATE {
                match before.get(path) {
                    Some(stamp) => known.insert(path.clone(), *stamp),
                    None => known.remove(path),
                };
            }
        }
        self.gone = missed;
    }

    /// The time until a server has read the settings that have changed; zero where it has.
    pub fn unread_for(&self) -> Duration {
        let left = self.read_at.and_then(|at| at.duration_since(SystemTime::now()).ok());
        left.unwrap_or_default()
    }

    /// Takes these source files as they are: their writer is known. Blocks.
    pub fn note<'p>(&mut self, root: &Root, paths: impl Iterator<Item = &'p str>) {
        let Some(known) = &mut self.known else { return };
        for path in paths.filter(|path| is_source(path)) {
            match fs::metadata(root.join(path)) {
                Ok(found) => known.insert(path.to_owned(), DiskStamp::of(&found)),
                Err(_) => known.remove(path),
            };
        }
    }
}

/// The settings that a list leaves out: hidden, links, or not under version control.
fn unlisted(root: &Root, settings: &SettingsFiles) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(root.path()).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let beneath = settings.beneath.iter().map(|path| (*path).to_owned());
    names.into_iter().filter(|name| (settings.is_one)(name)).chain(beneath)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: SettingsFiles = SettingsFiles {
        is_one: |path| path.ends_with("flags.txt") || path.ends_with(".toml"),
        is_read_late: |path| path.ends_with("flags.txt"),
        beneath: &[".hidden/x.toml"],
    };

    #[test]
    fn settings_are_found_wherever_they_are_and_those_that_are_read_late_until_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir(dir.path().join(".hidden")).unwrap();
        let mut changes = OutsideChanges::default();
        let mut take = || {
            let found = changes.take(&root, &SETTINGS, |_| false);
            (found, changes.unread_for() > Duration::ZERO)
        };
        assert_eq!(take(), (Vec::new(), false));
        [".ruff.toml", "a.toml", ".hidden/x.toml", "a.py"].iter().for_each(|name| write(name, "x = 1\n"));
        let came = [".hidden/x.toml", ".ruff.toml", "a.toml"].map(|name| (name.to_owned(), CREATED));
        assert_eq!(take(), (came.to_vec(), false));
        write("flags.txt", "-x");
        let came = (vec![("flags.txt".to_owned(), CREATED)], true);
        assert_eq!((take(), take()), (came.clone(), came));
        let old = SystemTime::now() - READ_LATE;
        fs::remove_file(dir.path().join("flags.txt")).unwrap();
        assert_eq!(take(), (Vec::new(), true));
        changes.gone.clear();
        write("flags.txt", "-x");
        changes.read_at = Some(old);
        assert_eq!(changes.unread_for(), Duration::ZERO);
    }

    #[test]
    fn a_file_whose_writer_is_known_is_no_change_from_outside() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("gone.py", "x = 1\n");
        let mut changes = OutsideChanges::default();
        assert_eq!(changes.take(&root, &SETTINGS, |_| true), []);
        write("a.py", "x = 1\n");
        write("b.md", "x\n");
        write("c.toml", "x = 1\n");
        fs::remove_file(dir.path().join("gone.py")).unwrap();
        changes.note(&root, ["a.py", "b.md", "c.toml", "gone.py"].into_iter());
        // The reports change with the settings, also where this session has written them.
        assert_eq!(changes.take(&root, &SETTINGS, |_| true), [("c.toml".to_owned(), CREATED)]);
    }

    #[test]
    fn files_that_came_changed_or_went_are_found_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        ["a.py", "b.py", "c.txt"].iter().for_each(|name| write(name, "x = 1\n"));
        let mut changes = OutsideChanges::default();
        let mut take = || changes.take(&root, &SETTINGS, |path| path != "e.py");
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
        assert!(changes.is_new() && changes.take(&root, &SETTINGS, |_| true).is_empty() && !changes.is_new());
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
        assert_eq!(changes.take(&root, &SETTINGS, |_| true), []);
        // As `cp -p` and `mv` leave it.
        fs::write(&other, "x = 2\n").unwrap();
        fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, &file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), time);
        assert_eq!(changes.take(&root, &SETTINGS, |_| true), [("a.py".to_owned(), CHANGED)]);
        assert_eq!(changes.take(&root, &SETTINGS, |_| true), []);
    }
}
