//! How much a comparison looks at, in pairs of diagnostics: what a test holds to a bound.

#[cfg(test)]
thread_local! {
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes that this many pairs are held against each other. Costs nothing outside of tests.
#[cfg(test)]
pub(crate) fn looked_at(pairs: usize) {
    LOOKED.set(LOOKED.get() + pairs);
}

#[cfg(not(test))]
pub(crate) const fn looked_at(_: usize) {}

/// Does the work, and says how many pairs it looked at on this thread.
#[cfg(test)]
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LOOKED.get();
    let done = work();
    (done, LOOKED.get() - before)
}
