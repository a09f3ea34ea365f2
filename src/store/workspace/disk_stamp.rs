//! Identifies the state of a file on disk without its content.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// The longest step of a file system's clock: within it two changes may carry the same time.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// A file's time of change, its bytes, and what a copy with the old time and size does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiskStamp {
    modified: Option<SystemTime>,
    bytes: u64,
    /// The number of the file and the time of the last change to it or its attributes, where the platform has them. A
    /// program can set the time of change, and no program can set this one.
    own: Option<(u64, i64, i64)>,
}

impl DiskStamp {
    pub(crate) fn of(about: &Metadata) -> Self {
        Self { modified: about.modified().ok(), bytes: about.len(), own: own(about) }
    }

    /// The time of the last change, also of one that has set the time of change.
    pub(crate) fn changed(&self) -> Option<SystemTime> {
        let own = self.own.and_then(|(_, seconds, nanoseconds)| {
            let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
            SystemTime::UNIX_EPOCH.checked_add(since)
        });
        self.modified.max(own)
    }

    /// True if a change after this time shows in the stamp.
    pub(crate) fn is_settled(&self, at: SystemTime) -> bool {
        let since = self.modified.and_then(|modified| at.duration_since(modified).ok());
        since.is_some_and(|since| since > CLOCK_STEP)
    }
}

#[cfg(unix)]
fn own(about: &Metadata) -> Option<(u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((about.ino(), about.ctime(), about.ctime_nsec()))
}

#[cfg(not(unix))]
fn own(_: &Metadata) -> Option<(u64, i64, i64)> {
    None
}
