//! Signals that answers came after their deadline: providers raise it, and one reader collects what has come.

use tokio::sync::watch;

/// The signal of all providers of one editor. A clone is the same signal.
#[derive(Clone, Debug, Default)]
pub struct LateSignal(watch::Sender<u64>);

impl LateSignal {
    /// Reports a late answer that waits to be collected.
    pub fn raise(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// Changes with every late answer.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
