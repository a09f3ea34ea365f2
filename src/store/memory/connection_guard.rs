//! Limits a connection's work and its time: a file is data that somebody may have made, never instructions.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::memory::memory_error::{MemoryError, Result};

/// The most time that a piece of work may take, once it has the file.
pub(in crate::memory) const READ: Duration = Duration::from_secs(5);
pub(in crate::memory) const WRITE: Duration = Duration::from_secs(20);
/// The most time for a look at a file before it is used.
pub(in crate::memory) const LOOK: Duration = Duration::from_secs(4);
/// The most time for work outside a transaction: migrating, copying.
pub(in crate::memory) const BARE: Duration = Duration::from_secs(60);

/// The wait for a file that another process held just before.
const HELD: Duration = Duration::from_millis(50);

/// Steps of SQLite's machine between two looks at the clock: about 0.1 ms.
const STEPS: i32 = 10_000;

const LIMITS: &[(Limit, i32)] = &[
    // Bytes of one value.
    (Limit::SQLITE_LIMIT_LENGTH, 128 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 16),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20),
    // SQLite copies a file into another one by attaching it.
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
];

/// Opens an existing file of ours: no link, no functions in its schema that could do harm, no views, no shadow tables
/// written by hand.
pub(in crate::memory) fn connect(path: &Path, write: bool) -> Result<(Connection, Watch)> {
    let access = if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut conn = Connection::open_with_flags(path, flags)?;
    for (limit, most) in LIMITS {
        conn.set_limit(*limit, *most)?;
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    let watch = Watch::over(&mut conn)?;
    watch.begin(LOOK);
    Ok((conn, watch))
}

/// Ends the work of a connection when its time is over ([`MemoryError::Slow`]).
#[derive(Clone, Debug)]
pub(in crate::memory) struct Watch {
    start: Instant,
    /// Milliseconds since the start.
    end: Arc<AtomicU64>,
}

impl Watch {
    pub(in crate::memory) fn over(conn: &mut Connection) -> Result<Self> {
        let watch = Self { start: Instant::now(), end: Arc::new(AtomicU64::new(u64::MAX)) };
        let clock = watch.clone();
        conn.progress_handler(STEPS, Some(move || clock.now() > clock.end.load(Ordering::Relaxed)))?;
        Ok(watch)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Starts the time of the next piece of work.
    pub(in crate::memory) fn begin(&self, budget: Duration) {
        let budget = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
        self.end.store(self.now().saturating_add(budget), Ordering::Relaxed);
    }
}

/// True if another process was found to hold the file: the first caller to find out has waited, the next do not wait.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct Held(Arc<AtomicBool>);

impl Held {
    /// The present limit of a wait.
    pub(in crate::memory) fn patience(&self, usual: Duration) -> Duration {
        if self.0.load(Ordering::Relaxed) { HELD } else { usual }
    }

    pub(in crate::memory) fn learn<T>(&self, result: &Result<T>) {
        self.0.store(matches!(result, Err(MemoryError::Busy)), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_an_end_is_ended_and_the_connection_goes_on() {
        let mut conn = Connection::open_in_memory().unwrap();
        let watch = Watch::over(&mut conn).unwrap();
        watch.begin(Duration::from_millis(20));
        let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let ended = conn.query_row(endless, [], |_| Ok(())).map_err(MemoryError::from);
        assert!(matches!(ended, Err(MemoryError::Slow)), "{ended:?}");
        watch.begin(READ);
        conn.query_row("SELECT 1", [], |_| Ok(())).unwrap();
    }

    #[test]
    fn who_found_the_file_held_does_not_wait_as_long_again() {
        let (held, usual) = (Held::default(), Duration::from_secs(2));
        held.learn::<()>(&Err(MemoryError::Busy));
        assert!(held.clone().patience(usual) < Duration::from_millis(100));
        held.learn(&Ok(()));
        assert_eq!(held.patience(usual), usual);
    }
}
