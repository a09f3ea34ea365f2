//! An allocator that counts, since memory of a process wobbles with its machine and its requests do not.
#![allow(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The variable that names the file for the counts of a process.
pub const VARIABLE: &str = "SEXTANT_BENCH_COUNTS";

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static TIMES: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
    TIMES.fetch_add(1, Relaxed);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may be there for a moment.
        more(size);
        let there = unsafe { System.realloc(block, layout, size) };
        LIVE.fetch_sub(layout.size(), Relaxed);
        there
    }
}

/// The requests of a process: the most bytes at once, bytes in all, and their number.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub peak: usize,
    pub bytes: usize,
    pub times: usize,
}

/// Writes the counts of this process to the file that the variable names.
pub fn write() {
    if let Some(path) = std::env::var_os(VARIABLE) {
        let counts = [&PEAK, &BYTES, &TIMES].map(|count| count.load(Relaxed).to_string());
        let _ = std::fs::write(path, counts.join(" "));
    }
}

/// The counts that a process has written.
pub fn read(path: &std::path::Path) -> std::io::Result<Counts> {
    let text = std::fs::read_to_string(path)?;
    let mut numbers = text.split(' ').filter_map(|number| number.parse().ok());
    let mut next = || numbers.next().ok_or_else(|| std::io::Error::other("no counts"));
    Ok(Counts { peak: next()?, bytes: next()?, times: next()? })
}
