//! The end of a stopped task: at once, except in the middle of an edit, which gets a moment to be whole.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::state::in_flight::Making;
use sextant_base::failure::Failure;

/// The time that a stopped task may still take to sum itself up, at each of its two last looks.
const GRACE: Duration = Duration::from_millis(25);

/// The time that a running edit may still take, so that the outcome names it. A longer one is left to itself
/// ([`crate::edit::edit_transaction::make`]). Together with the two last looks a stop takes 80 ms of the 100 ms that it
/// may.
const EDIT: Duration = Duration::from_millis(30);

/// Does the work, and gives it up [`GRACE`] after a stop.
pub(crate) async fn soon<T>(cancel: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
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

/// Does the work, unless the task is stopped before it is done. Then the work is dropped where it stands, or once the
/// edit that it waits for is whole. That is [`EDIT`] after the stop at the latest.
pub(crate) async fn unless_stopped<T>(
    making: &Making,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    let mut late = pin!(async {
        cancel.cancelled().await;
        tokio::time::sleep(EDIT).await;
    });
    let mut is_late = false;
    poll_fn(|context| {
        is_late = is_late || late.as_mut().poll(context).is_ready();
        let stops = || cancel.is_cancelled() && (is_late || !making.busy());
        if stops() {
            return Poll::Ready(Err(Failure::cancelled()));
        }
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        if stops() { Poll::Ready(Err(Failure::cancelled())) } else { Poll::Pending }
    })
    .await
}
