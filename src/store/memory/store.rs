//! The handle on the one file: the writer, the readers, and the replacement of a damaged file under way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use crate::memory::connection_guard::{Held, READ, Watch};
use crate::memory::damage::{self, Trust};
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::variables::Variables;
use crate::memory::writer::MemoryWriter;
use sextant_base::lock::{lock, read, write};

/// The longest wait of a call for another process before it is [`MemoryError::Busy`].
pub const BUSY: Duration = Duration::from_millis(1500);

/// The most rows and bytes of one answer. No record of a workspace has more.
const ROWS: usize = 100_000;
const BYTES: usize = 128 << 20;

const READERS: usize = 2;

/// A change of the file that the user should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreNotice {
    /// A damaged or foreign file was moved away, and memory begins empty.
    SetAside { to: PathBuf, why: String },
    /// The full-text index was damaged and made again; no entry was lost.
    Reindexed { why: String },
    /// An older file was brought up to date; the copy holds it as it was.
    Migrated { backup: PathBuf },
}

/// Memory, in one file. Clones share it; every call blocks for as long as the file takes (about 0.1 ms a write).
///
/// An acknowledged write survives the end of the process, `kill -9` included. A power cut may take the last moments
/// with it, never the file (`synchronous = NORMAL`).
#[derive(Clone)]
pub struct Memory {
    shared: Arc<StoreShared>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

struct StoreShared {
    path: PathBuf,
    /// Empty only after a damaged file could not be replaced.
    file: RwLock<Option<StoreFile>>,
    notices: Mutex<Vec<StoreNotice>>,
    variables: Mutex<HashMap<String, Variables>>,
}

struct StoreFile {
    // Closed in this order: only a connection that may write can tidy up the log, so it goes last.
    readers: [Mutex<(Connection, Watch)>; READERS],
    writer: MemoryWriter,
    held: Held,
    turn: AtomicUsize,
}

impl StoreFile {
    fn open(path: &Path, trust: Trust) -> Result<(Self, Vec<StoreNotice>)> {
        let held = Held::default();
        let ((conn, watch), notices) = damage::open(path, trust)?;
        let writer = MemoryWriter::start(conn, watch, held.clone())?;
        let readers = [Mutex::new(damage::reader(path)?), Mutex::new(damage::reader(path)?)];
        Ok((Self { readers, writer, held, turn: AtomicUsize::new(0) }, notices))
    }

    fn read<T>(&self, work: &impl Fn(&Connection) -> Result<T>) -> Result<T> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % READERS;
        let reader = match free {
            Some(reader) => reader,
            None => lock(&self.readers[turn]),
        };
        let (conn, watch) = &*reader;
        watch.begin(READ);
        conn.busy_timeout(self.held.patience(BUSY))?;
        // One snapshot for every read of the work.
        let done = conn.unchecked_transaction().map_err(MemoryError::from).and_then(|tx| work(&tx));
        self.held.learn(&done);
        done
    }
}

impl Memory {
    /// Opens the file, or makes it; its folder must exist.
    ///
    /// A file of another program, a damaged file, or one from a newer version is set aside under `<name>.damaged-N`. A
    /// new one is begun: see [`Memory::notices`].
    pub fn open(path: &Path) -> Result<Self> {
        let (file, notices) = StoreFile::open(path, Trust::Usual)?;
        let shared = StoreShared {
            path: path.to_owned(),
            file: RwLock::new(Some(file)),
            notices: Mutex::new(notices),
            variables: Mutex::new(HashMap::new()),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Bytes of the file, free pages that may be used again included.
    pub fn bytes(&self) -> Result<u64> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        self.read(|conn| Ok(conn.query_row(sql, [], |row| row.get::<_, i64>(0))?.unsigned_abs()))
    }

    /// The notices for the user; each is handed out once.
    pub fn notices(&self) -> Vec<StoreNotice> {
        std::mem::take(&mut *lock(&self.shared.notices))
    }

    pub(in crate::memory) fn variables(&self) -> std::sync::MutexGuard<'_, HashMap<String, Variables>> {
        lock(&self.shared.variables)
    }

    pub(in crate::memory) fn read<T>(&self, work: impl Fn(&Connection) -> Result<T>) -> Result<T> {
        self.with_repair(|file| file.read(&work))
    }

    /// Runs in one transaction and returns once it is committed. The work may run twice, if the file has
    /// to be replaced in between.
    pub(in crate::memory) fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let work = Arc::new(work);
        self.with_repair(|file| {
            let work = Arc::clone(&work);
            file.writer.write(move |conn| work(conn))
        })
    }

    /// As [`Memory::write`], outside a transaction.
    pub(in crate::memory) fn bare<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Connection) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let work = Arc::new(work);
        self.with_repair(|file| {
            let work = Arc::clone(&work);
            file.writer.bare(move |conn| work(conn))
        })
    }

    /// Does the work; if the file proves damaged, replaces it and does the work once more.
    fn with_repair<T>(&self, work: impl Fn(&StoreFile) -> Result<T>) -> Result<T> {
        let first = self.with_file(&work);
        match first {
            Err(MemoryError::Foreign(why)) => {
                self.replace(Trust::Refused(why))?;
                self.with_file(&work)
            }
            Err(error) if error.is_damage() => {
                self.replace(Trust::None)?;
                self.with_file(&work)
            }
            other => other,
        }
    }

    fn with_file<T>(&self, work: impl Fn(&StoreFile) -> Result<T>) -> Result<T> {
        let file = read(&self.shared.file);
        work(file.as_ref().ok_or(MemoryError::Closed)?)
    }

    fn replace(&self, trust: Trust) -> Result<()> {
        let mut file = write(&self.shared.file);
        // Closed before the file is moved: a connection that closes later would tidy up by path, and so remove the
        // files that belong to the new file.
        file.take();
        let (new, notices) = StoreFile::open(&self.shared.path, trust)?;
        *file = Some(new);
        lock(&self.shared.notices).extend(notices);
        Ok(())
    }
}

/// Reads every row of a query.
///
/// # Errors
/// If there are more rows than a record of ours can have ([`MemoryError::Foreign`]), or more bytes than are read at
/// once.
pub(in crate::memory) fn all<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut question = conn.prepare_cached(sql)?;
    let columns = question.column_count();
    let mut rows = question.query(params)?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            bytes += match row.get_ref(column)? {
                ValueRef::Text(value) | ValueRef::Blob(value) => value.len(),
                _ => 8,
            };
        }
        if found.len() == ROWS {
            return Err(MemoryError::Foreign(format!("it holds more than {ROWS} rows of one kind")));
        }
        if bytes > BYTES {
            return Err(MemoryError::invalid("memory", format!("more than {} MB would have to be read", BYTES >> 20)));
        }
        found.push(read(row)?);
    }
    Ok(found)
}

/// A count; the file holds signed numbers only.
pub(in crate::memory) fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0))
}
