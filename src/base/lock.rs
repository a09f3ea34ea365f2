//! Taking a lock whose last holder may have panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. A panic of another holder leaves the data as it was, so only for data that is whole after every statement.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
