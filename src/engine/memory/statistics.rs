//! The figures of past runs for a reader: by mode.

use crate::memory;
use crate::state::memory_handle::Remember;
use crate::state::task_store::TaskStore;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::HintCode;
use sextant_store::memory::memory_error::MemoryError;
use sextant_store::memory::metrics::{ModeStats, Stats};
use sextant_store::memory::store::Memory;
use sextant_store::workspace::record_folder::Record;

/// The figures of a workspace, of all runs in its memory; `None` without any stored run. Blocks.
pub fn of_record(record: &Record) -> Result<Option<Stats>, Failure> {
    if !record.exists() {
        return Ok(None);
    }
    let made = record.make().map_err(|(path, source)| MemoryError::Io { path, source });
    let stats = made.and_then(|record| Memory::open(&record.file())).and_then(|memory| memory.stats());
    stats.map(Some).map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), HintCode::Memory))
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.0} %", value * 100.0))
}

fn time(ms: Option<f64>) -> String {
    match ms {
        None => "–".to_owned(),
        Some(ms) if ms < 1000.0 => format!("{ms:.1} ms"),
        Some(ms) => format!("{:.1} s", ms / 1000.0),
    }
}

type StatisticsRow = (&'static str, fn(&ModeStats) -> String);

/// Shown where a provider has read anything from its cache.
const CACHED: &str = "of them cached";

const ROWS: &[StatisticsRow] = &[
    ("runs", |mode| mode.runs.to_string()),
    ("stopped by the user", |mode| mode.cancelled.to_string()),
    ("success", |mode| share(mode.success_rate)),
    ("mean time", |mode| time(mode.mean_ms)),
    ("replanned", |mode| share(mode.replanned)),
    ("escalated", |mode| share(mode.escalated)),
    ("steps", |mode| mode.spent.steps.to_string()),
    ("memory hits", |mode| share(mode.lookups.hit_rate)),
    ("time of a lookup", |mode| time(mode.lookups.mean_retrieval_ms)),
    ("tokens in", |mode| mode.spent.tokens_in.to_string()),
    (CACHED, |mode| mode.spent.tokens_cached.to_string()),
    ("tokens out", |mode| mode.spent.tokens_out.to_string()),
    ("model calls", |mode| mode.spent.calls.to_string()),
    ("calls saved", |mode| mode.spent.calls_saved.to_string()),
    ("cost", |mode| format!("{:.4}", mode.spent.cost_micros as f64 / 1e6)),
];

/// A table by mode, and the compression: Markdown, in columns that also read well as plain text.
pub fn report(stats: &Stats) -> String {
    let line = |name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>10}")).collect();
        format!("| {name:<20} | {} |", cells.join(" | "))
    };
    let mut out = vec!["# Sextant: statistics of this workspace".to_owned(), String::new()];
    out.push(line("", stats.modes.iter().map(|mode| mode.mode.name().to_owned()).collect()));
    out.push(format!("|{}|{}", "-".repeat(22), format!("{}:|", "-".repeat(11)).repeat(stats.modes.len())));
    let cached = stats.modes.iter().any(|mode| mode.spent.tokens_cached > 0);
    for (name, value) in ROWS.iter().filter(|(name, _)| cached || *name != CACHED) {
        out.push(line(name, stats.modes.iter().map(value).collect()));
    }
    let compression = stats.compression.map_or_else(|| "–".to_owned(), |factor| format!("{factor:.1} : 1"));
    out.push(format!("\nMemory, found : sent to the model: {compression}"));
    out.join("\n")
}

/// The figures of this workspace, as Markdown.
pub(crate) async fn statistics(store: &TaskStore) -> Result<String, Failure> {
    let Some(remember) = memory::remember(store).await else {
        let hint = "turn it on (memory.enabled); it needs a folder that can be written";
        return Err(Failure::user("without memory nothing is counted", hint));
    };
    figures(&remember).await
}

async fn figures(remember: &Remember) -> Result<String, Failure> {
    let stats = remember.run(|memory| memory.stats()).await;
    let stats = stats.map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "try again"))?;
    Ok(report(&stats))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::record_in;

    #[test]
    fn the_figures_are_a_table_without_judgement() {
        let dir = tempfile::tempdir().unwrap();
        let record = record_in(dir.path());
        assert!(of_record(&record).unwrap().is_none());
        assert!(!dir.path().join("state").exists(), "asking makes nothing");
        let remember = Remember::open(&record, "main").unwrap();
        let empty = report(&remember.memory.stats().unwrap());
        drop(remember);
        let mut stats = of_record(&record).unwrap().unwrap();
        stats.modes[0].goals[0].measured = Some(0.5);
        assert!(!empty.contains(CACHED), "{empty}");
        stats.modes[1].spent.tokens_cached = 900;
        let text = report(&stats);
        assert!(!text.contains("met"), "the goals of the product are nothing to a user: {text}");
        assert!(text.lines().any(|line| line.contains(CACHED) && line.contains(" 900 ")), "{text}");
        let widths: std::collections::BTreeSet<usize> =
            text.lines().filter(|line| line.starts_with("| ")).map(|line| line.chars().count()).collect();
        assert_eq!(widths.len(), 1, "{text}");
    }
}
