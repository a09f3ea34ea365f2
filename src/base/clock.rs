//! The time of day, for records that are read on another day.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 (UTC).
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a name that no other task has, in this process or another: milliseconds since 1970, the process, a counter,
/// all in hexadecimal. Later tasks sort behind earlier ones.
pub fn new_id() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:011x}-{:x}-{number:x}", now_ms(), std::process::id())
}
