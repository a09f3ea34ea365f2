//! One thread owns the connection that writes; the caller of a write gets its answer after the commit.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::memory::connection_guard::{BARE, Held, WRITE, Watch};
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::BUSY;

type WriterJob = Box<dyn FnOnce(&mut Connection) + Send>;

pub(in crate::memory) struct MemoryWriter {
    held: Held,
    watch: Watch,
    jobs: Option<mpsc::Sender<WriterJob>>,
    thread: Option<JoinHandle<()>>,
}

impl MemoryWriter {
    pub(in crate::memory) fn start(mut conn: Connection, watch: Watch, held: Held) -> Result<Self> {
        let (jobs, inbox) = mpsc::channel::<WriterJob>();
        let work = move || {
            for job in inbox {
                job(&mut conn);
            }
        };
        let thread = thread::Builder::new().name("memory".to_owned()).spawn(work);
        let thread = thread.map_err(|error| MemoryError::Storage(error.to_string()))?;
        Ok(Self { held, watch, jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs in one transaction of its own: all of it is kept, or nothing.
    pub(in crate::memory) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.within(WRITE, move |conn| {
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        })
    }

    /// Runs outside a transaction, for work that cannot be part of one.
    pub(in crate::memory) fn bare<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.within(BARE, work)
    }

    fn within<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        let (held, watch) = (self.held.clone(), self.watch.clone());
        let job: WriterJob = Box::new(move |conn| {
            watch.begin(budget);
            let ready = conn.busy_timeout(held.patience(BUSY)).map_err(MemoryError::from);
            let done = ready.and_then(|()| work(conn));
            held.learn(&done);
            // The caller may be gone; the work is done all the same.
            let _ = answer.send(done);
        });
        self.jobs.as_ref().ok_or(MemoryError::Closed)?.send(job).map_err(|_| MemoryError::Closed)?;
        answered.recv().map_err(|_| MemoryError::Closed)?
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.jobs.take();
        if let Some(thread) = self.thread.take() {
            // Earlier messages are still written: the channel is read to its end.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(mut conn: Connection) -> MemoryWriter {
        let watch = Watch::over(&mut conn).unwrap();
        MemoryWriter::start(conn, watch, Held::default()).unwrap()
    }

    #[test]
    fn a_failing_piece_of_work_leaves_nothing_and_the_writer_goes_on() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (a INTEGER) STRICT").unwrap();
        let writer = start(conn);
        let failed: Result<()> = writer.write(|conn| {
            conn.execute("INSERT INTO t VALUES (1)", [])?;
            Err(MemoryError::Closed)
        });
        assert!(failed.is_err());
        let count = |conn: &Connection| Ok(conn.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))?);
        assert_eq!(writer.write(count).unwrap(), 0);
        writer.write(|conn| Ok(conn.execute("INSERT INTO t VALUES (2)", [])?)).unwrap();
        assert_eq!(writer.write(count).unwrap(), 1);
    }

    #[test]
    fn a_writer_that_panicked_is_an_error_and_no_panic_of_the_caller() {
        let writer = start(Connection::open_in_memory().unwrap());
        let died: Result<()> = writer.write(|_| panic!("a bug"));
        assert!(matches!(died, Err(MemoryError::Closed)));
        assert!(matches!(writer.write(|_| Ok(())), Err(MemoryError::Closed)));
    }
}
