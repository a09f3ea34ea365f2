//! Counts the pairs of diagnostics that a comparison looks at, so that a test can bound them. Debug builds count.

#[cfg(debug_assertions)]
thread_local! {
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes that this many pairs are compared. Costs nothing in a release build.
#[cfg(debug_assertions)]
pub(crate) fn looked_at(pairs: usize) {
    LOOKED.set(LOOKED.get() + pairs);
}

#[cfg(not(debug_assertions))]
pub(crate) const fn looked_at(_: usize) {}

/// Does the work, and returns the number of pairs it looked at on this thread.
#[cfg(debug_assertions)]
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LOOKED.get();
    let done = work();
    (done, LOOKED.get() - before)
}
