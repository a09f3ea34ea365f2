//! How much a comparison looks at, in pairs of diagnostics: what a test holds to a bound. Debug builds count.

#[cfg(debug_assertions)]
thread_local! {
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes that this many pairs are held against each other. Costs nothing in a release build.
#[cfg(debug_assertions)]
pub(crate) fn looked_at(pairs: usize) {
    LOOKED.set(LOOKED.get() + pairs);
}

#[cfg(not(debug_assertions))]
pub(crate) const fn looked_at(_: usize) {}

/// Does the work, and says how many pairs it looked at on this thread.
#[cfg(debug_assertions)]
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LOOKED.get();
    let done = work();
    (done, LOOKED.get() - before)
}
