//! Files and folders of our own: never reached through a link, private to this user, opened with bounded waits.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::deadline::Deadline;

/// The time between two tries for a lock that somebody else holds.
const AGAIN: Duration = Duration::from_millis(10);
/// The least number of times that a file is made again after its holder removed it.
const TRIES: u32 = 8;

/// Makes a folder that only this user can enter, or checks that the existing one is such a folder.
///
/// # Errors
/// If a link, a file, or a folder of somebody else stands in its place.
pub fn folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    look_folder(path)?;
    if path.symlink_metadata()?.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Checks that a folder belongs to this user alone, without making or changing it.
///
/// # Errors
/// As [`folder`], and if there is no folder.
pub fn look_folder(path: &Path) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    if !found.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    of_this_user(&found)
}

/// Opens a file of ours for reading and writing, and makes it if `make` is set; its content stays as it is.
///
/// # Errors
/// If a link, a pipe, a folder, or a file of somebody else stands in its place.
pub fn open(path: &Path, make: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Without the flags, the open would wait for a pipe in its place.
    options.read(true).write(true).custom_flags(flags()).mode(0o600);
    checked(options.create(make).open(path)?)
}

/// Makes a file that must not exist yet.
pub fn make(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).custom_flags(flags()).mode(0o600).open(path)
}

/// Writes a text into a file of ours. Readers always find it whole, old or new, even if this process ends in between.
/// The text goes through a file of the same name behind a dot, which is gone afterwards.
///
/// # Errors
/// As [`open`], and if the text cannot be written.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(text))
}

/// [`replace`] with a function that writes the text.
pub fn replace_by(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    match look(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let making = path.with_file_name(format!(".{}", name.display()));
    // A leftover of a process that ended in between.
    match fs::remove_file(&making) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = make(&making).and_then(|mut file| write(&mut file)).and_then(|()| fs::rename(&making, path));
    if written.is_err() {
        let _ = fs::remove_file(&making);
    }
    written
}

/// Takes the lock of a file, or gives up at the deadline with [`io::ErrorKind::WouldBlock`]. Blocks.
pub fn lock(file: &File, deadline: Deadline) -> io::Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if deadline.left().is_zero() => {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(AGAIN.min(deadline.left())),
        }
    }
}

/// Takes the lock of a file that its holder removes at the end, and makes the file if it is missing. Blocks.
///
/// # Errors
/// As [`open`] and [`lock`].
pub fn lock_removed(path: &Path, deadline: Deadline) -> io::Result<File> {
    let mut tries = 0;
    loop {
        let file = open(path, true)?;
        lock(&file, deadline)?;
        // The last holder may have removed the file: a lock on that keeps nobody out.
        let held = file.metadata()?;
        if path.symlink_metadata().is_ok_and(|now| (now.dev(), now.ino()) == (held.dev(), held.ino())) {
            return Ok(file);
        }
        tries += 1;
        if tries >= TRIES && deadline.passed() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
    }
}

fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed()
}

/// Checks that a file is one of ours, without opening it.
///
/// # Errors
/// As [`open`].
pub fn look(path: &Path) -> io::Result<()> {
    regular(&path.symlink_metadata()?)
}

fn checked(file: File) -> io::Result<File> {
    regular(&file.metadata()?)?;
    Ok(file)
}

fn regular(found: &fs::Metadata) -> io::Result<()> {
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if found.nlink() > 1 {
        return Err(io::Error::other("it has another name elsewhere"));
    }
    of_this_user(found)
}

fn of_this_user(found: &fs::Metadata) -> io::Result<()> {
    if found.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_folder_is_ours_alone_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        folder(&at("new")).unwrap();
        fs::create_dir(at("wide")).unwrap();
        fs::set_permissions(at("wide"), Permissions::from_mode(0o755)).unwrap();
        folder(&at("wide")).unwrap();
        for name in ["new", "wide"] {
            assert_eq!(fs::metadata(at(name)).unwrap().mode() & 0o777, 0o700, "{name}");
        }
        symlink(at("new"), at("link")).unwrap();
        fs::write(at("file"), "").unwrap();
        for name in ["link", "file", "no/such"] {
            assert!(folder(&at(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_no_file_of_ours_is_neither_opened_nor_changed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("target"), "text").unwrap();
        symlink(at("target"), at("link")).unwrap();
        symlink(at("nothing"), at("loose")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        fs::write(at("one"), "text").unwrap();
        fs::hard_link(at("one"), at("two")).unwrap();
        let start = Instant::now();
        for name in ["link", "loose", "folder", "pipe", "one", "two"] {
            assert!(open(&at(name), true).is_err() && make(&at(name)).is_err() && look(&at(name)).is_err(), "{name}");
        }
        assert!(start.elapsed() < Duration::from_secs(1), "nothing is waited for");
        assert!(!at("nothing").exists());
        open(&at("target"), true).unwrap();
        assert_eq!(fs::read_to_string(at("target")).unwrap(), "text");
        assert_eq!(open(&at("none"), false).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(open(&at("none"), true).unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_replaced_file_is_whole_at_every_moment() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("note");
        fs::write(dir.path().join(".note"), "left by a process that ended").unwrap();
        replace(&path, &[b'a'; 5000]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let writer = std::thread::spawn({
            let path = path.clone();
            move || (0..2000).for_each(|n| replace(&path, &[if n % 2 == 0 { b'b' } else { b'a' }; 5000]).unwrap())
        });
        while !writer.is_finished() {
            let found = fs::read(&path).unwrap();
            assert!(found.len() == 5000 && found.iter().all(|byte| *byte == found[0]), "{} bytes", found.len());
        }
        writer.join().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        symlink(&path, dir.path().join("link")).unwrap();
        assert!(replace(&dir.path().join("link"), b"c").is_err(), "a foreign file stays");
    }

    #[test]
    fn a_lock_on_a_file_that_was_removed_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let now = || Deadline::after(Duration::ZERO);
        let held = lock_removed(&path, now()).unwrap();
        assert_eq!(lock_removed(&path, now()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        // Its end, while another thread waits for it.
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || lock_removed(&path, Deadline::after(Duration::from_secs(60))).unwrap()
        });
        fs::remove_file(&path).unwrap();
        drop(held);
        let next = waiting.join().unwrap();
        assert_eq!(
            next.metadata().unwrap().ino(),
            fs::metadata(&path).unwrap().ino(),
            "others see the one that it has"
        );
        assert_eq!(lock_removed(&path, now()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        symlink(&path, dir.path().join("link")).unwrap();
        assert!(lock_removed(&dir.path().join("link"), now()).is_err());
    }

    #[test]
    fn a_lock_that_is_held_is_given_up_at_the_deadline() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let (one, two) = (open(&path, true).unwrap(), open(&path, true).unwrap());
        lock(&one, Deadline::after(Duration::from_secs(1))).unwrap();
        let refused = lock(&two, Deadline::after(Duration::from_millis(30))).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        drop(one);
        lock(&two, Deadline::after(Duration::from_secs(1))).unwrap();
    }
}
