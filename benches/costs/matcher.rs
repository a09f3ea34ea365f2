//! Measures the matcher: time a case of the benchmark, and growth with the length of the file.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sextant::base::positions::{Position, Range};
use sextant::diagnostics::benchmark_case;
use sextant::diagnostics::delta::{SnapshotChange, SnapshotFile, delta};
use sextant::diagnostics::model::{Confidence, Diagnostic, Location, Severity};

use crate::median;
use crate::percentile;

fn cases() -> Vec<String> {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/matchbench/dev.jsonl.xz");
    let program = "import lzma,sys;sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())";
    let unpacked = Command::new("python3").arg("-c").arg(program).arg(&packed).output();
    let unpacked = unpacked.expect("python3 is needed to unpack the benchmark's sample");
    assert!(unpacked.status.success(), "python3 with lzma: {}", String::from_utf8_lossy(&unpacked.stderr));
    String::from_utf8(unpacked.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// A file of about this many lines with a diagnostic every 20, before and after an edit. The edit changes every
/// hundredth function, moves one function to the end, and inserts lines at the top.
fn grown(lines: usize) -> (String, String, Vec<Diagnostic>, Vec<Diagnostic>) {
    let count = lines / 10;
    let function = |i: usize, edited: bool| {
        let body = if edited {
            "    total = first * second\n    total += missing_new\n"
        } else {
            "    total = first + second\n"
        };
        let bad =
            if i.is_multiple_of(2) { format!("    total += missing_{i}\n") } else { format!("    total += {i}\n") };
        format!(
            "def work_{i}(first: int, second: int) -> int:\n{body}{bad}    for step in range(first):\n        total += step\n    \
             if total > {i}:\n        return total\n    return second\n\n\n"
        )
    };
    let before: String = (0..count).map(|i| function(i, false)).collect();
    let mut after = "import os\n\n\n".to_owned();
    let moved = count / 3;
    after.extend((0..count).filter(|i| *i != moved).map(|i| function(i, i % 100 == 7)));
    after.push_str(&function(moved, false));
    let found = |text: &str| text.lines().enumerate().filter_map(|(row, line)| issue(row, line)).collect();
    let (old, new) = (found(&before), found(&after));
    (before, after, old, new)
}

fn issue(row: usize, line: &str) -> Option<Diagnostic> {
    let at = line.find("missing_")?;
    let place = |character: usize| Position { line: row as u32, character: character as u32 };
    Some(Diagnostic {
        source: "lsp:bench".to_owned(),
        severity: Severity::Error,
        code: Some("undefined".to_owned()),
        message: format!("\"{}\" is not defined", &line[at..]),
        location: Location::Range {
            file: "a.py".to_owned(),
            range: Range { start: place(at), end: place(line.len()) },
        },
        confidence: Confidence::High,
        suggested_action: None,
        evidence: None,
    })
}

fn ms(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1000.0
}

pub fn run() {
    println!("matcher, one thread");
    let cases = cases();
    let parse = |line: &String| ms(|| drop(black_box(serde_json::from_str::<serde_json::Value>(line))));
    let times: Vec<f64> = cases.iter().map(|line| ms(|| drop(black_box(benchmark_case::answer(line))))).collect();
    let reading: f64 = cases.iter().map(parse).sum();
    let total: f64 = times.iter().sum();
    println!(
        "  {} cases of the benchmark: {:.2} ms each in the mean, median {:.2}, p95 {:.2}, longest {:.1} (reading the JSON is {:.0} % of it)",
        cases.len(),
        total / cases.len() as f64,
        median(&times),
        percentile(&times, 0.95),
        percentile(&times, 1.0),
        reading / total * 100.0
    );
    println!("  {:>8}{:>14}{:>10}{:>22}", "lines", "diagnostics", "ms", "us / (n ln n), ratio");
    let mut first = None;
    for lines in [1_000, 5_000, 25_000, 50_000] {
        let (before, after, old, new) = grown(lines);
        let change = || SnapshotChange {
            files: vec![SnapshotFile { path: "a.py", before: Some(&before), after: Some(&after) }],
            renames: Vec::new(),
        };
        let result = delta(&change(), &old, &new);
        // The count is known by construction: each edited function has one new name, everything else is as it was.
        let edited = (0..lines / 10).filter(|i| i % 100 == 7 && *i != lines / 10 / 3).count();
        assert_eq!((result.new.len(), result.fixed.len()), (edited, 0), "{lines} lines");
        let runs = if lines > 10_000 { 3 } else { 7 };
        let times: Vec<f64> = (0..runs).map(|_| ms(|| drop(black_box(delta(&change(), &old, &new))))).collect();
        let unit = median(&times) * 1000.0 / (lines as f64 * (lines as f64).ln());
        let base = *first.get_or_insert(unit);
        println!("  {lines:>8}{:>14}{:>10.1}{unit:>14.3}{:>8.2}", old.len(), median(&times), unit / base);
    }
}
