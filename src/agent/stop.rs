//! When a stopped task ends: at once, except in the middle of an edit, which is finished first.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::session::Session;
use crate::base::failure::Failure;

/// Counts the edits that are being written and not yet in the journal.
#[derive(Debug, Default)]
pub(crate) struct Whole(AtomicU32);

impl Whole {
    /// From here to the end of the guard the work must not be broken off.
    pub(crate) fn begin(&self) -> WholeGuard<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        WholeGuard(&self.0)
    }

    fn busy(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

pub(crate) struct WholeGuard<'a>(&'a AtomicU32);

impl Drop for WholeGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a stopped task may still take to sum itself up, at each of its two last looks.
const GRACE: Duration = Duration::from_millis(40);

impl Session {
    /// Does the work, and gives it up [`GRACE`] after a stop.
    pub(crate) async fn soon<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
        let late = async {
            cancel.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = late => None,
        }
    }

    /// Does the work, unless the task is stopped before it is done: then the work is dropped where it stands,
    /// or as soon as the edit that it is in is whole.
    pub(crate) async fn unless_stopped<T>(
        &self,
        cancel: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        let mut work = pin!(work);
        let mut stopped = pin!(cancel.cancelled());
        poll_fn(|context| {
            if cancel.is_cancelled() && !self.whole.busy() {
                return Poll::Ready(Err(Failure::cancelled()));
            }
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            if (cancel.is_cancelled() || stopped.as_mut().poll(context).is_ready()) && !self.whole.busy() {
                return Poll::Ready(Err(Failure::cancelled()));
            }
            Poll::Pending
        })
        .await
    }
}
