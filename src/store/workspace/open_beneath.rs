//! Opens files below a folder name by name and through no link, so that nobody can swap a checked folder for a link.
//!
//! Each folder on the way is opened from the one above it with `O_NOFOLLOW`, and the file is named from the last of
//! them. So no path is looked up a second time, on any system. A link on the way is an error, since paths are resolved
//! before they come here.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode};

/// The content of a file at the time of reading: its bytes, and its permission bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    pub mode: u32,
    /// Its names, hard links included.
    pub names: u64,
}

/// Identity, size and time of a file, which show whether it was written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    file: (i128, i128),
    size: i128,
    written: (i128, i128),
}

/// A name in a folder that is held open; the file need not exist.
#[derive(Clone, Debug)]
pub struct OpenFolder {
    folder: Arc<OwnedFd>,
    name: OsString,
}

/// The folders of one piece of work, each opened once.
#[derive(Debug)]
pub struct Folders {
    root: Arc<OwnedFd>,
    open: HashMap<String, Arc<OwnedFd>>,
    made: Vec<OpenFolder>,
}

/// Reads one file, as [`Folders::place`] and [`OpenFolder::read`] do.
pub fn read(root: &Path, relative: &str) -> io::Result<FileContent> {
    Folders::new(root)?.place(relative, false)?.read()
}

/// The missing folders on the way to a file, the outermost first.
pub fn missing_folders(root: &Path, relative: &str) -> Vec<String> {
    let ends = relative.match_indices('/').map(|(at, _)| &relative[..at]);
    let there = |folder: &&str| Folders::new(root).and_then(|mut folders| folders.folder(folder, false)).is_ok();
    ends.skip_while(there).map(str::to_owned).collect()
}

/// Removes an empty folder; any other folder stays.
pub fn remove_empty(root: &Path, relative: &str) {
    let place = Folders::new(root).and_then(|mut folders| folders.place(relative, false));
    if let Ok(place) = place {
        let _ = rustix::fs::unlinkat(&*place.folder, &*place.name, AtFlags::REMOVEDIR);
    }
}

/// The text of a regular file of at most so many bytes; `None` for anything else.
pub fn text(root: &Path, relative: &str, largest: u64) -> Option<String> {
    String::from_utf8(bytes(root, relative, largest)?).ok()
}

/// The bytes of a regular file of at most so many; `None` for anything else.
pub fn bytes(root: &Path, relative: &str, largest: u64) -> Option<Vec<u8>> {
    let place = Folders::new(root).and_then(|mut folders| folders.place(relative, false)).ok()?;
    let file = place.open().ok()?;
    if file.metadata().ok()?.len() > largest {
        return None;
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(largest).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Folders {
    /// Works below this folder, which is taken as it stands.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = rustix::fs::openat(CWD, root, flags() | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Self { root: Arc::new(root), open: HashMap::new(), made: Vec::new() })
    }

    /// The place of a file; makes its folders if `make` is set.
    ///
    /// # Errors
    /// If a part of the path is a link, not a folder, or not a plain name.
    pub fn place(&mut self, relative: &str, make: bool) -> io::Result<OpenFolder> {
        let (folders, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        let folder = self.folder(folders, make)?;
        Ok(OpenFolder { folder, name: plain(name)?.to_owned() })
    }

    fn folder(&mut self, relative: &str, make: bool) -> io::Result<Arc<OwnedFd>> {
        if relative.is_empty() {
            return Ok(Arc::clone(&self.root));
        }
        if let Some(known) = self.open.get(relative) {
            return Ok(Arc::clone(known));
        }
        let mut here = Arc::clone(&self.root);
        for name in relative.split('/') {
            let name = plain(name)?;
            let way = flags() | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let next = match rustix::fs::openat(&*here, name, way, Mode::empty()) {
                Err(rustix::io::Errno::NOENT) if make => {
                    rustix::fs::mkdirat(&*here, name, Mode::from_raw_mode(0o777))?;
                    self.made.push(OpenFolder { folder: Arc::clone(&here), name: name.to_owned() });
                    rustix::fs::openat(&*here, name, way, Mode::empty())?
                }
                next => next?,
            };
            here = Arc::new(next);
        }
        self.open.insert(relative.to_owned(), Arc::clone(&here));
        Ok(here)
    }

    /// Removes the folders that were made here, if they are empty.
    pub fn unmake(&mut self) {
        for place in self.made.drain(..).rev() {
            let _ = rustix::fs::unlinkat(&*place.folder, &*place.name, AtFlags::REMOVEDIR);
        }
    }
}

impl OpenFolder {
    /// Another name in the same folder.
    pub fn beside(&self, name: impl Into<OsString>) -> Self {
        Self { folder: Arc::clone(&self.folder), name: name.into() }
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// True if anything has this name, a link included.
    pub fn exists(&self) -> bool {
        self.kind().is_some()
    }

    /// True if a regular file has this name.
    pub fn is_file(&self) -> bool {
        self.kind() == Some(FileType::RegularFile)
    }

    fn kind(&self) -> Option<FileType> {
        let found = rustix::fs::statat(&*self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(found.st_mode as RawMode))
    }

    fn open(&self) -> io::Result<File> {
        // A pipe in its place would otherwise make the open wait.
        let way = flags() | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::from(rustix::fs::openat(&*self.folder, &*self.name, way, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
    }

    pub fn read(&self) -> io::Result<FileContent> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let mut file = self.open()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let about = file.metadata()?;
        Ok(FileContent { bytes, mode: about.permissions().mode() & 0o7777, names: about.nlink() })
    }

    /// The stamp of the file or link with this name; `None` if nothing has it.
    pub fn stamp(&self) -> Option<FileStamp> {
        let found = rustix::fs::statat(&*self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileStamp {
            file: (found.st_dev.into(), found.st_ino.into()),
            size: found.st_size.into(),
            written: (found.st_mtime.into(), found.st_mtime_nsec.into()),
        })
    }

    /// Writes over the content of the existing file, which keeps all of its names. The file is emptied first, so a
    /// crash leaves a beginning of the new text.
    ///
    /// # Errors
    /// If it has another content than `seen` ([`io::ErrorKind::AlreadyExists`]), or cannot be written.
    pub fn overwrite(&self, seen: &[u8], bytes: &[u8]) -> io::Result<()> {
        let way = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut file = File::from(rustix::fs::openat(&*self.folder, &*self.name, way, Mode::empty())?);
        let mut now = Vec::with_capacity(seen.len());
        file.read_to_end(&mut now)?;
        if now != seen {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Gives each of two files the other one's name, in one stroke.
    ///
    /// # Errors
    /// If one of them is missing, or the file system cannot do it ([`is_unsupported`]).
    pub fn exchange_with(&self, other: &Self) -> io::Result<()> {
        exchange((&self.folder, &self.name), (&other.folder, &other.name))
    }

    /// Makes the file, which must not exist, and writes it through to the disk.
    pub fn create(&self, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        let way = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&*self.folder, &*self.name, way, Mode::from_raw_mode(0o666))?;
        let mut file = File::from(made);
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as RawMode))?;
        }
        file.sync_all()
    }

    /// Takes another place's file, over the file that has that name.
    pub fn rename_to(&self, to: &Self) -> io::Result<()> {
        Ok(rustix::fs::renameat(&*self.folder, &*self.name, &*to.folder, &*to.name)?)
    }

    /// Gives the file a second name, which must not be taken.
    pub fn link_to(&self, to: &Self) -> io::Result<()> {
        Ok(rustix::fs::linkat(&*self.folder, &*self.name, &*to.folder, &*to.name, AtFlags::empty())?)
    }

    pub fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.folder, &*self.name, AtFlags::empty())?)
    }

    /// The regular files of the folder whose names begin so.
    pub fn siblings(&self, prefix: &OsStr) -> Vec<Self> {
        let Ok(entries) = rustix::fs::Dir::read_from(&*self.folder) else { return Vec::new() };
        let names = entries.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
        let wanted = names.filter(|name| name.as_bytes().starts_with(prefix.as_bytes()));
        wanted.map(|name| self.beside(name)).filter(Self::is_file).collect()
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: (&OwnedFd, &OsStr), other: (&OwnedFd, &OsStr)) -> io::Result<()> {
    use rustix::fs::RenameFlags;
    Ok(rustix::fs::renameat_with(one.0, one.1, other.0, other.1, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: (&OwnedFd, &OsStr), _: (&OwnedFd, &OsStr)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// True if an exchange failed because the file system does not support it.
pub fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    error.kind() == io::ErrorKind::Unsupported
        || errno.is_some_and(|errno| [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&errno))
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC
}

fn plain(name: &str) -> io::Result<&OsStr> {
    if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a part of the path is not a plain name"));
    }
    Ok(OsStr::new(name))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_lies_below_is_read_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, other) = (dir.path().join("root"), dir.path().join("other"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(&other).unwrap();
        for file in [root.join("a/b/c"), other.join("c")] {
            fs::write(file, "text").unwrap();
        }
        symlink(&other, root.join("out")).unwrap();
        symlink(root.join("a"), root.join("in")).unwrap();
        symlink(root.join("a/b/c"), root.join("file")).unwrap();
        assert_eq!(read(&root, "a/b/c").unwrap().bytes, b"text");
        assert_eq!(text(&root, "a/b/c", 4).as_deref(), Some("text"));
        assert_eq!(text(&root, "a/b/c", 3), None);
        for path in ["out/c", "in/b/c", "file", "../other/c", "a/../a/b/c", "/etc/passwd", "", "a//b/c", "a/b", "a"] {
            assert!(read(&root, path).is_err(), "{path}");
        }
        assert_eq!(read(&root, "a/none/c").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn folders_that_are_missing_are_named_and_only_empty_ones_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        assert_eq!(missing_folders(dir.path(), "a/b/c/d/e.py"), ["a/b/c", "a/b/c/d"]);
        assert_eq!(missing_folders(dir.path(), "a/b/e.py"), Vec::<String>::new());
        assert_eq!(missing_folders(dir.path(), "e.py"), Vec::<String>::new());
        remove_empty(dir.path(), "a");
        assert!(dir.path().join("a/b").exists());
        remove_empty(dir.path(), "a/b");
        assert!(!dir.path().join("a/b").exists() && dir.path().join("a").exists());
    }

    #[test]
    fn two_files_change_names_and_a_file_that_is_written_over_keeps_all_of_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a", "b"] {
            fs::write(at(name), name).unwrap();
        }
        fs::hard_link(at("a"), at("twin")).unwrap();
        let mut folders = Folders::new(dir.path()).unwrap();
        let (a, b) = (folders.place("a", false).unwrap(), folders.place("b", false).unwrap());
        assert_eq!((a.read().unwrap().names, b.read().unwrap().names), (2, 1));
        let stamp = a.stamp();
        assert!(a.overwrite(b"other", b"new").is_err() && a.stamp() == stamp);
        a.overwrite(b"a", b"newer").unwrap();
        assert!(fs::read(at("twin")).unwrap() == b"newer" && a.stamp() != stamp);
        if a.exchange_with(&b).is_ok() {
            assert_eq!((fs::read(at("a")).unwrap(), fs::read(at("b")).unwrap()), (b"b".to_vec(), b"newer".to_vec()));
        }
        fs::remove_file(at("b")).unwrap();
        let gone = a.exchange_with(&b).unwrap_err();
        assert!(gone.kind() == io::ErrorKind::NotFound || is_unsupported(&gone));
    }

    #[test]
    fn a_folder_that_is_swapped_for_a_link_after_it_was_opened_is_still_the_one_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("root/src")).unwrap();
        fs::create_dir(at("other")).unwrap();
        let mut folders = Folders::new(&at("root")).unwrap();
        let place = folders.place("src/new", false).unwrap();
        fs::rename(at("root/src"), at("root/moved")).unwrap();
        symlink(at("other"), at("root/src")).unwrap();
        place.create(b"x", None).unwrap();
        assert!(at("root/moved/new").exists() && fs::read_dir(at("other")).unwrap().next().is_none());
        assert!(Folders::new(&at("root")).unwrap().place("src/new", true).is_err());
    }
}
