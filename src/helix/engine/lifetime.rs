//! Decides how long the engine process of a workspace runs: until a moment after the last proxy has gone.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// The time that the engine stays without a proxy: an editor that restarts finds it.
const LINGER: Duration = Duration::from_secs(2);

/// The same time before the first proxy came.
const FIRST: Duration = Duration::from_secs(20);

/// Returns when no proxy is left and no other program is worked for. The proxies are counted.
pub(super) async fn wait_for_the_last(mut count: watch::Receiver<usize>, works_for_others: impl Fn() -> bool) {
    if timeout(FIRST, count.wait_for(|count| *count > 0)).await.is_err() {
        return;
    }
    loop {
        if count.wait_for(|count| *count == 0).await.is_err() {
            return;
        }
        let another = timeout(LINGER, count.wait_for(|count| *count > 0)).await;
        if another.is_err() && !works_for_others() {
            return;
        }
    }
}
