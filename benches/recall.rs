//! Measures memory's answers over a million entries: by mode and by text, median and 99th percentile, and the size.
//!
//! `cargo bench --bench recall [-- ENTRIES]`. The goal is a p99 of 5 ms for every line.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use sextant::memory::entry::{Kind, Mode, NewEntry};
use sextant::memory::store::Memory;

const QUERIES: usize = 1000;
const GOAL: Duration = Duration::from_millis(5);
const WORDS: usize = 20;
const SESSIONS: u64 = 500;
/// Every tenth entry is of this session, which makes it the longest by far.
const LONG: u64 = 0;
const NOW: i64 = 1_800_000_000_000;
/// The number of days that the entries are spread over.
const DAYS: i64 = 30;

/// Numbers that look random and are the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

fn session(numbers: &mut Numbers) -> String {
    let number = if numbers.below(10) == 0 { LONG } else { numbers.below(SESSIONS) };
    format!("session-{number}")
}

/// Three stop words, and words in a third, a sixth and a tenth of the entries. Two words never meet; rarer ones go down
/// to a handful of entries in a million.
fn content(numbers: &mut Numbers) -> String {
    let mut words: Vec<String> = vec!["the".into(), "of".into(), "and".into()];
    for (word, one_in) in [("symbol", 3), ("error", 6), ("import", 10)] {
        if numbers.below(one_in) == 0 {
            words.push(word.into());
        }
    }
    words.push(if numbers.below(2) == 0 { "left" } else { "right" }.into());
    if numbers.below(3000) == 0 {
        words.push(format!("rare{}", numbers.below(2)));
    }
    if numbers.below(100) == 0 {
        words.push("uncommon".into());
    }
    while words.len() < WORDS {
        // Squared, so that low numbers come more often, as words do.
        let part = numbers.below(1000);
        words.push(format!("word{}", part * part / 50));
    }
    words.join(" ")
}

/// Entries that are written at once.
const BATCH: usize = 10_000;

fn fill(memory: &Memory, entries: usize) {
    let mut numbers = Numbers(1);
    let span = DAYS * 24 * 60 * 60 * 1000;
    let make = |at: usize| {
        let kind = Kind::ALL[numbers.below(Kind::ALL.len() as u64) as usize];
        let mode = Mode::ALL[numbers.below(3) as usize];
        let timestamp = NOW - span + (at as i64) * span / entries as i64;
        let mut entry = NewEntry::new(session(&mut numbers), mode, kind, content(&mut numbers), timestamp);
        entry.relevance = numbers.below(1000) as f64 / 100.0;
        entry
    };
    let made: Vec<NewEntry> = (0..entries).map(make).collect();
    // A transaction is ended after 20 s.
    for batch in made.chunks(BATCH) {
        memory.append_all(batch.to_vec()).unwrap();
    }
}

/// A name, and the text of each query.
type Question<'a> = (&'a str, &'a dyn Fn(usize) -> String);

struct Table {
    walls_missed: usize,
    busy_missed: usize,
}

impl Table {
    fn line(&mut self, name: &str, mut query: impl FnMut(usize) -> usize) {
        let mut walls = Vec::with_capacity(QUERIES);
        let mut busy = Vec::with_capacity(QUERIES);
        let mut found = 0;
        for at in 0..QUERIES {
            let (wall, cpu) = (Instant::now(), processor());
            found += query(at);
            busy.push(processor() - cpu);
            walls.push(wall.elapsed());
        }
        walls.sort();
        busy.sort();
        let (median, p99) = (QUERIES / 2, QUERIES * 99 / 100);
        self.walls_missed += usize::from(walls[p99] > GOAL);
        self.busy_missed += usize::from(busy[p99] > GOAL);
        let figures = [walls[median], walls[p99], busy[median], busy[p99]].map(|time| time.as_secs_f64() * 1000.0);
        let figures = figures.map(|ms| format!("{ms:>9.3}")).join(" ");
        say(&format!("{name:<45} {figures} {:>7.1}", found as f64 / QUERIES as f64));
    }
}

/// Processor time of this thread, which a busy machine does not falsify. Every query runs on its caller's thread.
fn processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn size(path: &Path) -> f64 {
    let files = std::fs::read_dir(path).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>() as f64 / 1e6
}

fn main() {
    let entries = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("memory.db")).unwrap();
    let start = Instant::now();
    fill(&memory, entries);
    say(&format!("{entries} entries of {WORDS} words kept in {:.1} s", start.elapsed().as_secs_f64()));
    drop(memory);
    say(&format!("size {:.0} MB", size(dir.path())));
    let memory = Memory::open(&dir.path().join("memory.db")).unwrap();

    let heads = ["median", "p99", "cpu med", "cpu p99"].map(|head| format!("{head:>9}")).join(" ");
    say(&format!("\n{:<45} {heads} {:>7}", format!("ms over {QUERIES} queries"), "found"));
    let mut table = Table { walls_missed: 0, busy_missed: 0 };
    for mode in Mode::ALL {
        let name = format!("recall, {}", mode.name());
        table.line(&name, |at| {
            let session = format!("session-{}", at as u64 % SESSIONS);
            memory.recall(*mode, &session, NOW, usize::MAX).unwrap().entries.len()
        });
        let name = format!("recall, {}, the longest session", mode.name());
        table.line(&name, |_| memory.recall(*mode, "session-0", NOW, usize::MAX).unwrap().entries.len());
    }
    // At its end, ten days later: all entries of the session are too old, and must not be read to find that out.
    table.line("recall, planner, longest session, all too old", |_| {
        let later = NOW + 10 * 24 * 60 * 60 * 1000;
        memory.recall(Mode::Planner, "session-0", later, usize::MAX).unwrap().entries.len()
    });
    let texts: &[Question<'_>] = &[
        ("search, rare word", &|at| format!("rare{}", at % 2)),
        ("search, any word", &|at| format!("word{}", at * at / 50)),
        ("search, 1 % word", &|_| "uncommon".into()),
        ("search, common word", &|at| ["symbol", "error", "import"][at % 3].into()),
        ("search, stop words only", &|_| "the of and".into()),
        ("search, stop and common words", &|_| "where is the symbol of the error".into()),
        ("search, three common words", &|_| "symbol error import".into()),
        ("search, two common words that never meet", &|_| "left right".into()),
        ("search, rare and common words", &|at| format!("rare{} symbol error", at % 2)),
        ("search, 1 % and common words", &|_| "uncommon symbol error import".into()),
        ("search, eight words", &|at| format!("word{} left symbol error import right word8 uncommon", at % 50)),
    ];
    for (name, text) in texts {
        table.line(name, |at| memory.search(&text(at), 10).unwrap().len());
    }
    let Table { walls_missed, busy_missed } = table;
    say(&format!(
        "\np99 over {} ms: {walls_missed} lines by the clock, {busy_missed} by processor time",
        GOAL.as_millis()
    ));
}
