//! Writes the log: to a file, never to standard output, which carries a protocol.
//!
//! It does not use `tracing-appender`, which begins a new file by the clock and not by size. `tracing-appender` also
//! names the file itself, while the user has named it.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tracing_subscriber::EnvFilter;

/// The size in bytes above which the log is set aside as `….old` at the next start.
const LARGE: u64 = 5 * 1024 * 1024;

/// Starts logging to a file. `SEXTANT_LOG` sets the level (`debug`, `sextant::llm=trace`); `info` without it.
/// A log that cannot be written is no reason not to work.
pub(super) fn start(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() > LARGE) {
        let _ = fs::rename(path, path.with_extension("log.old"));
    }
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let Ok(file) = OpenOptions::new().create(true).append(true).mode(0o600).open(path) else { return };
    // An earlier log may be open to other users; a pipe or a device keeps its mode.
    if file.metadata().is_ok_and(|found| found.is_file()) {
        let _ = file.set_permissions(Permissions::from_mode(0o600));
    }
    let filter = EnvFilter::try_from_env("SEXTANT_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(file).try_init();
}
